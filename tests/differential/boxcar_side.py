"""Runs programs with boxcar, and reports how one differs from Python."""

import os
import re
import subprocess

import python_side
from tree import Lines

kTimeout = 60  # seconds per file
kMarker = "@@ "


class Outcome:
    """The outcome of a program's run: what it printed, and where and why it failed. [kind] is ok, rejected (before
    running), failed or crashed; [line] counts from 1."""

    def __init__(self, kind, output, line=0, message=""):
        self.kind, self.output, self.line, self.message = kind, output, line, message


def pythonOutcome(program):
    """Returns Python's outcome. Raises python_side.Discarded if the program cannot be compared."""
    lines = Lines()
    lines.program(program)
    output, line, failure = python_side.run(lines.python)
    return Outcome(
        "failed" if failure else "ok", output, line, f"{type(failure).__name__}: {failure}" if failure else ""
    )


def difference(wanted, found):
    """Returns the kind of difference between Python's outcome and boxcar's, or None if they agree."""
    # The generator may know that a loop runs and sets a variable, while the compiler must assume it may be None.
    if found.kind == "rejected" and re.search(r"does not work on .*\?", found.message):
        return None
    if found.kind in ("rejected", "crashed"):
        return found.kind + ": " + withoutNames(found.message)
    if found.kind == "failed" and wanted.kind == "ok":
        return "fails: " + withoutNames(found.message)
    if found.kind == "ok" and wanted.kind == "failed":
        return "does not fail: " + withoutNames(wanted.message)
    if found.output != wanted.output:
        return "prints something else"
    return f"fails at another line: {withoutNames(found.message)}" if found.line != wanted.line else None


def withoutNames(message):
    """Returns the message without names and numbers, so that a reduced program still shows the same difference."""
    return re.sub(r"`[^`]*`|'[^']*'|\"[^\"]*\"|-?\d+(\.\d+)?", "*", message)


class Boxcar:
    def __init__(self, path, folder):
        self.path, self.folder, self.runs = path, folder, 0

    def start(self, lines):
        """Runs a file of [lines] and returns (status, output, error output)."""
        self.runs += 1
        path = os.path.join(self.folder, "program.ops")
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write("\n".join(lines) + "\n")
        try:
            done = subprocess.run([self.path, "run", path], capture_output=True, timeout=kTimeout)
        except subprocess.TimeoutExpired:
            return None, "", f"no end after {kTimeout} s"
        # Output that is not UTF-8 must differ from everything that Python prints.
        return (
            done.returncode,
            done.stdout.decode("utf-8", "backslashreplace"),
            done.stderr.decode("utf-8", "backslashreplace"),
        )

    def run(self, program):
        lines = Lines()
        lines.program(program)
        return self.outcome(*self.start(lines.ops))

    def outcome(self, status, output, errors):
        if status == 0 and not errors:
            return Outcome("ok", output)
        rejections = re.findall(r"^\S*program\.ops:(\d+):\d+: error: (.*)$", errors, re.MULTILINE)
        if status == 1 and rejections:
            return Outcome("rejected", output, int(rejections[0][0]), rejections[0][1])
        places = re.findall(r"^  \S*program\.ops:(\d+):\d+", errors, re.MULTILINE)
        if status == 1 and errors.startswith("error: ") and places:
            return Outcome("failed", output, int(places[-1]), errors[7:].split("\n")[0])
        return Outcome("crashed", output, 0, f"status {status}, {errors[-500:]}")

    def runTogether(self, programs):
        """Runs programs that should not fail in one file. [programs]: (number, program). Returns {number: Outcome}."""
        outcomes = {}
        while programs:
            lines, starts = [], []
            for number, program in programs:
                own = Lines(f"_{number}")
                own.program(program)
                starts.append((len(lines) + 1, number))
                lines += [f'print("\\n{kMarker}{number}")', *own.ops]
            status, output, errors = self.start(lines)
            whole = self.outcome(status, output, errors)
            if whole.kind == "rejected":
                for line, message in re.findall(r"^\S*program\.ops:(\d+):\d+: error: (.*)$", errors, re.MULTILINE):
                    number = [n for start, n in starts if start <= int(line)][-1]
                    outcomes.setdefault(number, Outcome("rejected", "", int(line), message))
                programs = [(n, p) for n, p in programs if n not in outcomes]
                continue
            parts = re.split(f"\n{kMarker}(\\d+)\n", output)
            for number, text in zip(parts[1::2], parts[2::2]):
                outcomes[int(number)] = Outcome("ok", text)
            if whole.kind == "ok":
                break
            if len(parts) < 3:  # nothing ran
                for number, _ in programs:
                    outcomes[number] = whole
                break
            last = int(parts[-2])
            outcomes[last] = Outcome(whole.kind, parts[-1], whole.line, whole.message)
            programs = programs[[n for n, _ in programs].index(last) + 1 :]
        return outcomes
