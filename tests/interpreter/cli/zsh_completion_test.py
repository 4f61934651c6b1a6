#!/usr/bin/env python3
"""Tests the completions that zsh offers for the program's command lines, with a zsh on a pseudo-terminal.
Usage: zsh_completion_test.py BOXCAR; exits with 77 if there is no zsh."""
import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import unittest

from terminals import there_are_terminals

BOXCAR = os.path.abspath(sys.argv.pop(1))
if shutil.which("zsh") is None:
    print("skipped: zsh is not installed")
    sys.exit(77)
if not there_are_terminals():
    print("skipped: the machine has no pseudo-terminals")
    sys.exit(77)

# Writes the offered completions to a file, one word per line. Internal queries of compadd are left alone.
SETUP = """
fpath=($PWD/functions $fpath)
path=(${BOXCAR:h} $path)
autoload -Uz compinit && compinit -u -d $PWD/dump
compadd() {
  if [[ ${@[(I)-(O|A|D)*]} -eq 0 ]]; then
    local -a offered
    builtin compadd -O offered "$@"
    print -rl -- $offered >> words.txt
  fi
  builtin compadd "$@"
}
tell() { print -r -- END >> words.txt; BUFFER= }
zle -N tell
bindkey '^X' tell
setopt no_beep no_list_ambiguous
print READY
"""


class Zsh(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "functions").mkdir()
        for name in ("one.ops", "other.txt", "plug.so"):
            (self.folder / name).write_text("")
        script = subprocess.run([BOXCAR, "completion", "zsh"], capture_output=True, text=True, check=True).stdout
        (self.folder / "functions" / "_boxcar").write_text(script)
        (self.folder / "setup.zsh").write_text(SETUP)
        self.leader, follower = pty.openpty()
        self.zsh = subprocess.Popen(["zsh", "-f", "-i"], stdin=follower, stdout=follower, stderr=follower, cwd=folder.name,
                                    start_new_session=True, env={**os.environ, "TERM": "dumb", "BOXCAR": BOXCAR})
        os.close(follower)
        self.addCleanup(self.close)
        self.seen = b""
        self.send("source ./setup.zsh\n")
        self.wait(lambda: b"\nREADY" in self.seen)

    def close(self):
        self.zsh.kill()
        self.zsh.wait()
        os.close(self.leader)

    def send(self, text):
        os.write(self.leader, text.encode())

    def wait(self, condition):
        for _ in range(600):
            if condition():
                return
            if select.select([self.leader], [], [], 0.1)[0]:
                self.seen += os.read(self.leader, 65536)
        self.fail(self.seen.decode(errors="replace"))

    def offered(self, line):
        words = self.folder / "words.txt"
        words.write_text("")
        self.send(line + "\t\x18")
        self.wait(lambda: "END\n" in words.read_text())
        return {word for word in words.read_text().split("\n")[:-2] if word}

    def test_offers(self):
        self.assertLessEqual({"run", "trace", "completion"}, self.offered("boxcar "))
        self.assertNotIn("manual-page", self.offered("boxcar "))
        for line, offer in (("boxcar re", {"record", "repl", "replay"}),
                            ("boxcar --color=never re", {"record", "repl", "replay"}),
                            ("boxcar run o", {"one.ops"}),
                            ("boxcar run one.ops o", {"one.ops", "other.txt"}),
                            ("boxcar asm o", {"one.ops", "other.txt"}),
                            ("boxcar --plugin p", {"plug.so"}),
                            ("boxcar run --color n", {"never"}),
                            ("boxcar --color=a", {"always", "auto"}),
                            ("boxcar profile one.ops --sort m", {"memory"}),
                            ("boxcar profile one.ops --sort=m", {"memory"}),
                            ("boxcar completion ", {"bash", "zsh"}),
                            ("boxcar ops --script o", {"one.ops"}),
                            ("boxcar explain aten::celu", {"aten::celu", "aten::celu_"}),
                            ("boxcar run --deny aten::celu", {"aten::celu", "aten::celu_"}),
                            ("boxcar ops --key AutogradC", {"AutogradCPU", "AutogradCUDA"}),
                            ("boxcar run --max", {"--max-depth", "--max-instructions", "--max-memory", "--max-seconds"})):
            with self.subTest(line=line):
                self.assertEqual({word.rstrip("=") for word in self.offered(line)}, offer)


unittest.main(verbosity=2)
