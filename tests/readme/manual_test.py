#!/usr/bin/env python3
"""Runs every example of a manual, such as interpreter/README.md: `manual_test.py README BOXCAR`.

A block marked `ops` is a script. `# prints TEXT` in it stands for a line that it prints. A line `<!-- NAME.ops -->` before
it names its file, which later blocks can use; other blocks are called example.ops. If a paragraph follows that begins
with "It fails with" or "It is refused with", the indented text after it is the whole error output, and the exit status
is 1. Otherwise the status is 0 and there is no error output. `check` must refuse what is refused, too.
A block marked `console` contains command lines after `$ `, each followed by what it prints on either output. There `…`
stands for text that differs between runs: alone on a line for any number of lines, otherwise for any text in its line.

tutorial_test.py runs a page whose blocks are files beside it. There a block after `<!-- NAME -->` is the file of that
name, whatever its language; `<!-- NAME.ops, run below -->` is not run by itself.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FENCE = re.compile(r"^```(\w*)$")
NAME = re.compile(r"^<!-- ([\w.]+\.\w+)(, run below)? -->$")


def blocks_of(lines):
    """Yields each block: its line number, its language, the match of NAME before it, its lines, and where the text
    continues."""
    at = 0
    while at < len(lines):
        opening = FENCE.match(lines[at])
        if opening is None:
            at += 1
            continue
        end = lines.index("```", at + 1)
        name = NAME.match(lines[at - 1])
        yield at + 1, opening[1], name, lines[at + 1 : end], end + 1
        at = end + 1


def expected_errors(lines, at):
    """Returns the word that says how the script ends, and its error output; None if it succeeds."""
    while at < len(lines) and lines[at] == "":
        at += 1
    found = re.match(r"^It (fails|is refused) with$", lines[at]) if at < len(lines) else None
    if found is None:
        return None, ""
    text = []
    for line in lines[at + 1 :]:
        if line != "" and not line.startswith("    "):
            break
        text.append(line[4:])
    return found[1], "\n".join(text).strip("\n") + "\n"


def matches(wanted, found):
    """Returns whether [found] matches the text [wanted], in which `…` stands for any text."""
    parts = re.split(r"(^…\n|…)", wanted, flags=re.MULTILINE)
    wild = {"…\n": r"(?:.*\n)*?", "…": r".*?"}
    return re.fullmatch("".join(wild.get(part, re.escape(part)) for part in parts), found) is not None


class Examples:
    def __init__(self, boxcar, folder):
        self.folder = folder
        self.failures = 0
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        (bin_folder / "boxcar").symlink_to(boxcar)
        self.environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}

    def run(self, command, **options):
        return subprocess.run(command, cwd=self.folder, env=self.environment, text=True, stdin=subprocess.DEVNULL,
                              timeout=180, **options)

    def compare(self, line, what, wanted, found):
        if matches(wanted, found):
            return
        self.failures += 1
        print(f"FAILED: the block at line {line}: {what}\n--- in the text\n{wanted}--- found\n{found}---")

    def script(self, line, name, code, ending, errors):
        prints = [match[1] for match in (re.search(r"# prints ?(.*)$", text) for text in code) if match]
        output = "".join(text + "\n" for text in prints)
        (self.folder / name).write_text("\n".join(code) + "\n")
        done = self.run(["boxcar", "run", name], capture_output=True)
        self.compare(line, "its output", output, done.stdout)
        self.compare(line, "its error output", errors, done.stderr)
        self.compare(line, "its exit status", f"{0 if ending is None else 1}\n", f"{done.returncode}\n")
        checked = self.run(["boxcar", "check", name], capture_output=True)
        self.compare(line, "what check says", errors if ending == "is refused" else "", checked.stderr)

    def console(self, line, text):
        commands = []
        for entry in text:
            if entry.startswith("$ "):
                commands.append((entry[2:], []))
            else:
                commands[-1][1].append(entry + "\n")
        for command, output in commands:
            done = self.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.compare(line, f"what `{command}` prints", "".join(output), done.stdout)

    def page(self, lines, beside=None):
        """Runs all blocks and counts them by language. With [beside], named blocks are the files in that folder."""
        counts = {"ops": 0, "console": 0, "files": 0}
        for line, language, name, text, behind in blocks_of(lines):
            if name and beside:
                self.compare(line, f"the file {name[1]}", "\n".join(text) + "\n", (beside / name[1]).read_text())
                counts["files"] += 1
            if language == "ops" and not (name and name[2]):
                self.script(line, name[1] if name else "example.ops", text, *expected_errors(lines, behind))
            elif language == "console":
                self.console(line, text)
            else:
                continue
            counts[language] += 1
        return counts


def main():
    readme, boxcar = Path(sys.argv[1]), Path(sys.argv[2]).resolve()
    lines = readme.read_text(encoding="utf-8").split("\n")
    with tempfile.TemporaryDirectory() as folder:
        examples = Examples(boxcar, Path(folder))
        counts = examples.page(lines)
    if 0 in (counts["ops"], counts["console"]):
        print(f"FAILED: {readme} has {counts['ops']} scripts and {counts['console']} blocks of commands")
        examples.failures += 1
    print(f"{counts['ops']} scripts, {counts['console']} blocks of commands, {examples.failures} failures")
    return 1 if examples.failures else 0


if __name__ == "__main__":
    sys.exit(main())
