#!/usr/bin/env python3
"""Tests the program on a terminal: colours of its messages, and the progress line of a long run.
Usage: terminal_test.py BOXCAR"""
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

from terminals import there_are_terminals

BOXCAR = sys.argv.pop(1)
if not there_are_terminals():
    print("skipped: the machine has no pseudo-terminals")
    sys.exit(77)
ERASE = "\r\x1b[K"
SEQUENCE = re.compile(r"\x1b\[[0-9;]*m")
RED, MAGENTA, CYAN, BOLD, GREEN, PLAIN = (
    "\x1b[1;31m", "\x1b[1;35m", "\x1b[1;36m", "\x1b[1m", "\x1b[1;32m", "\x1b[0m")


def environment(**changes):
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CLICOLOR_FORCE")}
    return {**clean, "TERM": "xterm", **changes}


class Result:
    def __init__(self, status, terminal, output, errors):
        self.status, self.terminal, self.output, self.errors = status, terminal, output, errors


def run(*args, out="pipe", err="pipe", env=None, columns=80, interrupt_at=None):
    """Runs the program with each stream either on one shared pseudo-terminal or on a separate pipe."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    attributes = termios.tcgetattr(follower)
    attributes[1] &= ~termios.OPOST  # so that lines end as they are written
    termios.tcsetattr(follower, termios.TCSANOW, attributes)

    def take_terminal():
        os.setsid()
        fcntl.ioctl(follower, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(
        [BOXCAR, *args], stdin=subprocess.DEVNULL, env=env or environment(), preexec_fn=take_terminal,
        stdout=follower if out == "terminal" else subprocess.PIPE,
        stderr=follower if err == "terminal" else subprocess.PIPE, pass_fds=[follower])
    os.close(follower)
    texts = {leader: b""}
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            texts[stream.fileno()] = b""
    waiting = set(texts)
    while waiting:
        for number in select.select(list(waiting), [], [])[0]:
            try:
                part = os.read(number, 65536)
            except OSError:  # no process has the terminal open any more
                part = b""
            texts[number] += part
            if not part:
                waiting.discard(number)
            if interrupt_at is not None and interrupt_at in texts[leader]:
                process.send_signal(signal.SIGINT)
                interrupt_at = None
    status = process.wait()

    def text(stream):
        return None if stream is None else texts[stream.fileno()].decode()

    result = Result(status, texts[leader].decode(), text(process.stdout), text(process.stderr))
    os.close(leader)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    return result


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def write(self, name, text):
        pathlib.Path(name).write_text(text)


class Colours(Case):
    def setUp(self):
        super().setUp()
        self.write("wrong.ops", "x = nothing\n")
        self.write("fails.ops", "fn f(int n) -> int { return 1 // n }\nprint(f(0))\n")

    def test_an_error_of_a_script_is_coloured_on_a_terminal(self):
        for command in ("run", "check", "dis", "profile"):
            result = run(command, "wrong.ops", err="terminal")
            self.assertEqual(result.status, 1)
            self.assertEqual(
                result.terminal,
                f"{BOLD}wrong.ops:1:5:{PLAIN} {RED}error:{PLAIN} there is no variable or constant called `nothing`\n"
                f"x = nothing\n    {GREEN}^~~~~~~{PLAIN}\n", command)

    def test_a_trace_of_calls_is_coloured(self):
        result = run("run", "fails.ops", err="terminal")
        self.assertEqual(
            result.terminal,
            f"{RED}error:{PLAIN} integer division or modulo by zero\n"
            f"  {BOLD}fails.ops:2:7{PLAIN}\n    print(f(0))\n          {GREEN}^~~~{PLAIN}\n"
            f"  {BOLD}fails.ops:1:29{PLAIN} in fn f\n    fn f(int n) -> int {{ return 1 // n }}\n"
            f"                                {GREEN}^~~~~~{PLAIN}\n")

    def test_other_failures_are_coloured(self):
        self.write("bad.schemas", "f(Tensor) -> Tensor\n")
        self.write("bad.asm", "nothing\n")
        for status, args, begin in ((1, ["run", "absent.ops"], f"{RED}boxcar:{PLAIN} absent.ops: cannot be opened"),
                                    (2, ["run", "--fast"], f"{RED}boxcar run:{PLAIN} "),
                                    (2, ["chek"], f"{RED}boxcar:{PLAIN} there is no command 'chek'"),
                                    (1, ["ops", "rellu"], f"{RED}boxcar:{PLAIN} no operator matches 'rellu'"),
                                    (2, ["diff", "a", "b"], f"{RED}boxcar:{PLAIN} "),
                                    (1, ["replay", "a"], f"{RED}boxcar:{PLAIN} "),
                                    (1, ["explain", "a::b"], f"{RED}boxcar:{PLAIN} "),
                                    (1, ["asm", "bad.asm"], f"{BOLD}bad.asm:1:1:{PLAIN} {RED}error:{PLAIN} "),
                                    (1, ["schema", "bad.schemas"], f"{BOLD}bad.schemas:1:9:{PLAIN} {RED}error:{PLAIN} ")):
            result = run(*args, err="terminal")
            self.assertEqual(result.status, status, args)
            self.assertTrue(result.terminal.startswith(begin), (args, result.terminal))

    def test_what_each_choice_and_each_variable_does(self):
        plain = run("check", "wrong.ops").errors
        self.assertNotIn("\x1b", plain)
        on, off = True, False
        for expected, stream, options, variables in (
                (on, "terminal", [], {}),
                (off, "pipe", [], {}),
                (off, "terminal", [], {"NO_COLOR": "1"}),
                (on, "terminal", [], {"NO_COLOR": ""}),
                (off, "terminal", [], {"TERM": "dumb"}),
                (off, "terminal", [], {"TERM": ""}),
                (on, "pipe", [], {"CLICOLOR_FORCE": "1"}),
                (off, "pipe", [], {"CLICOLOR_FORCE": "0"}),
                (off, "pipe", [], {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}),
                (on, "pipe", ["--color=always"], {}),
                (on, "pipe", ["--color", "always"], {"NO_COLOR": "1", "TERM": "dumb"}),
                (off, "terminal", ["--color=never"], {}),
                (off, "terminal", ["--color=never"], {"CLICOLOR_FORCE": "1"}),
                (on, "terminal", ["--color=auto"], {}),
                (off, "pipe", ["--color=auto"], {})):
            for args in (["check", "wrong.ops", *options], [*options, "check", "wrong.ops"]):
                result = run(*args, err=stream, env=environment(**variables))
                text = result.terminal if stream == "terminal" else result.errors
                self.assertEqual("\x1b[" in text, expected, (stream, args, variables))
                self.assertEqual(SEQUENCE.sub("", text), plain)

    def test_the_colours_depend_on_the_stream_that_messages_go_to(self):
        result = run("check", "wrong.ops", out="terminal")
        self.assertNotIn("\x1b", result.errors)
        self.assertEqual(result.terminal, "")

    def test_what_is_no_message_stays_plain(self):
        for args in (["ops", "relu"], ["explain", "aten::relu"], ["dis", "fails.ops"], ["--help"], ["run", "--help"]):
            result = run(*args, out="terminal", err="terminal")
            self.assertEqual(result.status, 0)
            self.assertNotIn("\x1b", result.terminal)


def lines(command, count="", *, erase=re.escape(ERASE)):
    """Returns a pattern that matches the progress line, shown once or several times."""
    return rf"({erase}boxcar {command}: \d+ s{count})+"


class ProgressLine(Case):
    def setUp(self):
        super().setUp()
        self.write("long.ops", "start = clock()\nwhile clock() - start < 2.6 { y = ones(2) }\nprint('done')\n")

    def test_a_long_run_shows_a_line_which_goes_before_its_output(self):
        result = run("run", "long.ops", out="terminal", err="terminal")
        self.assertEqual(result.status, 0)
        self.assertRegex(result.terminal, "^" + lines("run") + re.escape(ERASE) + "done\n$")

    def test_no_line_lands_in_a_pipe(self):
        result = run("run", "long.ops", err="terminal")
        self.assertEqual(result.output, "done\n")
        self.assertRegex(result.terminal, "^" + lines("run") + re.escape(ERASE) + "$")
        result = run("run", "long.ops", out="terminal")
        self.assertEqual((result.terminal, result.errors), ("done\n", ""))

    def test_there_is_none_where_it_is_not_wanted(self):
        for args, variables in ((["--no-progress", "run"], {}), (["run", "--no-progress"], {}),
                                (["run"], {"TERM": "dumb"})):
            with self.subTest(args=args, variables=variables):
                result = run(*args, "long.ops", out="terminal", err="terminal", env=environment(**variables))
                self.assertEqual(result.terminal, "done\n")

    def test_short_runs_show_nothing(self):
        self.write("short.ops", "print('done')\n")
        result = run("run", "short.ops", out="terminal", err="terminal")
        self.assertEqual(result.terminal, "done\n")

    def test_a_profile_tells_how_many_calls_were_made(self):
        result = run("profile", "long.ops", "--limit", "1", out="terminal", err="terminal")
        self.assertRegex(result.terminal, "^" + lines("profile", r", [1-9]\d* calls") + re.escape(ERASE) + "done\n")

    def test_a_replay_tells_how_many_of_the_calls_it_has_made(self):
        # A call that takes long and records little data.
        self.write("calls.ops", "x = rand(3000000)\nstart = clock()\nwhile clock() - start < 3.5 { y = x.median() }\n")
        recorded = run("record", "calls.ops", "-o", "calls.rec", "--threads=1", out="terminal", err="terminal")
        self.assertEqual(recorded.status, 0)
        self.assertRegex(recorded.terminal, "^" + lines("record") + re.escape(ERASE) + r"\d+ calls are recorded")
        result = run("replay", "calls.rec", "--threads=1", out="terminal", err="terminal")
        self.assertRegex(result.terminal, "^" + lines("replay", r", \d+ of \d+ calls") + re.escape(ERASE) + "calls.rec")

    def test_what_is_printed_stands_on_lines_of_its_own(self):
        # A line is unfinished at the time when the progress line would be shown.
        self.write("prints.ops", "start = clock()\nwhile clock() - start < 2.5 { y = ones(2) }\n"
                                 "print('first')\naten::_print('open')\n"
                                 "while clock() - start < 4.5 { y = ones(2) }\n"
                                 "aten::_print(' end\\n')\nassert False, 'over'\n")
        result = run("run", "prints.ops", out="terminal", err="terminal", env=environment(NO_COLOR="1"))
        # What was printed is on the terminal at once, and the progress line does not touch an unfinished line.
        erase = re.escape(ERASE)
        self.assertRegex(result.terminal, f"^{lines('run')}{erase}first\nopen end\nerror: assertion failed: over\n")
        # The same holds for stderr.
        self.write("traced.ops", "start = clock()\nx = ones(2)\nwhile clock() - start < 2.5 { }\ny = x.relu()\n")
        result = run("run", "--dispatch-trace", "traced.ops", out="terminal", err="terminal")
        self.assertRegex(result.terminal, rf"\]\n{lines('run')}{erase}\[callBoxed\] op=\[aten::relu\], key=\[CPU\]\n")

    def test_an_unfinished_line_is_shown_at_once(self):
        self.write("part.ops", "print('half', end='')\nwhile True { y = ones(2) }\n")
        for options in ([], ["--no-progress"]):
            result = run("run", *options, "part.ops", out="terminal", err="terminal", interrupt_at=b"half")
            self.assertEqual(result.status, 130)

    def test_the_line_is_no_longer_than_the_terminal_is_wide(self):
        result = run("run", "long.ops", out="terminal", err="terminal", columns=10)
        erase = re.escape(ERASE)
        self.assertRegex(result.terminal, f"^({erase}boxcar ru)+{erase}done\n$")

    def test_ctrl_c_ends_the_run_and_takes_the_line_away(self):
        self.write("endless.ops", "while True { y = ones(2) }\n")
        result = run("run", "endless.ops", out="terminal", err="terminal", env=environment(NO_COLOR="1"),
                     interrupt_at=b"boxcar run: ")
        self.assertEqual(result.status, 130)
        self.assertRegex(result.terminal, "^" + lines("run") + re.escape(ERASE) + "error: ")


unittest.main(verbosity=2)
