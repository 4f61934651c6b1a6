"""Tests boxcar's prompt, with keys typed on a pseudo-terminal and with piped input: repl_test.py BOXCAR"""

import os
import pty
import re
import select
import stat
import subprocess
import sys
import tempfile
import time

from terminals import there_are_terminals

BOXCAR = os.path.abspath(sys.argv[1])
PATIENCE = 60  # seconds; enough for slow machines, so only a hang fails


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


class Terminal:
    def __init__(self, arguments, home, kind="vt100"):
        environment = {"HOME": home, "PATH": os.environ["PATH"], "TERM": kind, "LC_ALL": "C.UTF-8"}
        for name in ("LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                environment[name] = os.environ[name]
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.chdir(home)
            os.execve(BOXCAR, [BOXCAR, *arguments], environment)
        self.seen = ""
        self.sent = ""  # all output so far

    def type(self, keys):
        """Types keys in pieces that fit into a terminal's buffer, as when someone pastes them."""
        data = keys.encode()
        while data:
            data = data[os.write(self.terminal, data[:1000]):]
            if data:
                self.read()

    def read(self):
        ready, _, _ = select.select([self.terminal], [], [], 0.2)
        if not ready:
            return True
        try:
            data = os.read(self.terminal, 4096)
        except OSError:
            return False
        self.seen += data.decode(errors="replace")
        self.sent += data.decode(errors="replace")
        return bool(data)

    def expect(self, text):
        """Waits for [text] after what was expected before; returns the output up to its end."""
        deadline = time.monotonic() + PATIENCE
        while True:
            plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]", "", self.seen)
            at = plain.find(text)
            if at >= 0:
                self.seen = plain[at + len(text):]
                return plain[: at + len(text)]
            check(time.monotonic() < deadline, f"waited for {text!r}, saw {self.seen!r}")
            check(self.read() or text in self.seen, f"ended before {text!r}, saw {self.seen!r}")

    def wait_raw(self, text):
        """Waits for [text] and returns the output so far, with escape sequences; all of it can still be expected."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.seen:
            check(time.monotonic() < deadline and self.read(), f"waited for {text!r}, saw {self.seen!r}")
        return self.seen

    def ask(self, line, answer):
        """Types a line, and waits for its answer on a separate line, and for the next prompt."""
        self.type(line + "\n")
        self.expect("\r\n" + answer)
        return self.expect("> ")

    def end(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            self.read()
            done, status = os.waitpid(self.child, os.WNOHANG)
            if done:
                os.close(self.terminal)
                return os.waitstatus_to_exitcode(status)
        sys.exit(f"FAILED: it does not end, saw {self.seen!r}")


def begin(home, *arguments, kind="vt100"):
    terminal = Terminal(arguments, home, kind)
    terminal.expect(":help lists the commands")
    terminal.expect("> ")
    return terminal


def pipe(text, *arguments):
    run = subprocess.run([BOXCAR, "repl", *arguments], input=text, capture_output=True, text=True, timeout=PATIENCE)
    return run.returncode, run.stdout, run.stderr


def test_pipe():
    check(pipe("1+2\n") == (0, "3\n", ""), "a pipe gets results without prompts")
    check(pipe("x = 'a'\nx") == (0, "'a'\n", ""), "the last line needs no end")
    check(pipe("if False {\n1\n}\nelse { print(2) }\n") == (0, "2\n", ""), "else may begin the next line of a pipe")
    status, out, err = pipe("1\n1 // 0\n2\n")
    check((status, out) == (1, "1\n"), "a pipe ends at the first error")
    check("<input 2>:1:1" in err, "errors name the input")
    status, out, err = pipe("x = reluu(1)\n")
    check(status == 1 and "reluu(1)\n    ^~~~~" in err, f"carets stand under what is wrong: {err}")
    check(pipe("fn f() -> int {\n")[0] == 1, "what is not finished is wrong")
    check("ends before `{` is closed" in pipe("fn f() -> int {\n")[2], "and says so")
    status, out, err = pipe(":hlp\n")
    check(status == 1 and "Did you mean 'help'?" in err, "an unknown command gets the nearest")
    for word in ("exit", "exit()", "quit", "quit ( )"):
        status, out, err = pipe(word + "\n")
        check(status == 1 and err.endswith("\nnote: `:quit` ends the prompt\n"), f"{word} gets the command that is meant: {err}")
    for word in ("help", "help()", "help(relu)"):
        check("note: `:help` lists the commands of the prompt\n" in pipe(word + "\n")[2], f"{word} gets the command that is meant")
    check(":quit" not in pipe("exit = 3\nexit()\n")[2], "a variable of that name is meant itself")
    check(":help" not in pipe("fn help(int x) -> () { }\nhelp()\n")[2], "and so is a function")
    check("\x1b" not in "".join(map(str, pipe(":help\nones(2)\n"))), "no escape codes land in a pipe")
    check(pipe("argv\n", "a", "--", "--b")[1] == "['a', '--b']\n", "ARGS are argv")
    check("instructions" in pipe("while True { }\n", "--max-instructions", "1000")[2], "limits hold")
    run = subprocess.run([BOXCAR], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    check(run.returncode == 2 or "Usage" in run.stdout + run.stderr, "alone without a terminal it tells how it is called")


def test_manual():
    """The session on the manual's page runs as it is printed there."""
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../interpreter/prompt.md")
    with open(page, encoding="utf-8") as file:
        lines = file.read().split("```text\n$ boxcar\n")[1].split("```")[0].splitlines()
    typed = [line[2:] for line in lines if line[:2] in ("> ", ". ")]
    shown = [line for line in lines if line[:2] not in ("> ", ". ")]
    check(len(typed) > 3 and len(shown) > 3, f"the page has a conversation, but {lines}")
    done = subprocess.run([BOXCAR, "repl"], input="\n".join(typed) + "\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=PATIENCE)
    check(done.stdout.splitlines() == shown, f"the page shows {shown}, but it is {done.stdout}")


def test_large_values_are_summarised():
    def shown(text):
        status, out, err = pipe(text)
        check(status == 0 and err == "", f"a summary is no fault, but {err}")
        return out
    numbers = shown("[i for i in range(2000)]\n")
    check(numbers.startswith("[0, 1, 2,") and numbers.endswith("19, …(+1980 more)]\n"), f"twenty of many numbers, not {numbers}")
    weights = shown('({"w": ones(50, 50), "s": "é" * 2000, "t": (ones(40, 40),), "n": [[1] for i in range(9)], "one": ones(1)})\n')
    lines = weights.splitlines()
    check(lines[0] == "{'w': tensor of [50, 50] float32,", f"a tensor by its size, not {lines[0]}")
    check(lines[1].startswith(" 's': 'éé") and lines[1].endswith("é'…,") and len(lines[1]) < 60, f"the begin of a str, not {lines[1]}")
    check(lines[2] == " 't': (tensor of [40, 40] float32,),", f"a tuple of one, not {lines[2]}")
    check(lines[3] == " 'n': [list of 1, list of 1, list of 1, list of 1, list of 1, list of 1, …(+3 more)],", f"inner lists by length, not {lines[3]}")
    check(lines[4] == " 'one': tensor([1.])}", f"a small tensor as it is, not {lines[4]}")
    check(shown("({1: 2})\n") == "{1: 2}\n", "a small dict is shown whole")


def test_answers_come_at_once():
    with subprocess.Popen([BOXCAR, "repl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        for text, answer in ((b"1 + 2\n", b"3\n"), (b"[2,\n1]\n", b"[2, 1]\n"), (b"for i in [7] { print(i) }\n", b"7\n")):
            run.stdin.write(text)
            run.stdin.flush()
            check(select.select([run.stdout], [], [], PATIENCE)[0], f"whoever writes {text} need not write more")
            check(os.read(run.stdout.fileno(), 100) == answer, f"the answer to {text}")
        run.stdin.write(b"if True { print(1) }\n\n")  # an `else` may follow here
        run.stdin.flush()
        check(select.select([run.stdout], [], [], PATIENCE)[0], "a blank line ends an `if`")
        run.stdin.close()


def test_commands():
    check("aten::relu(Tensor self) -> Tensor\n" in pipe(":schema relu\n")[1], ":schema of an operator")
    check("\n    Each element, or 0 if it is negative.\n" in pipe(":schema relu\n")[1], ":schema has the docstring")
    check("\n    Each element, or 0 if it is negative.\n" in pipe(":schema ones(2).relu()\n")[1], "also of what an expression calls")
    check(pipe("fn f(int x) -> int { return x }\n:schema f\n")[1] == "f(int x) -> int\n", ":schema of a function")
    check(pipe(":schema ones(2) + 1\n")[1].count("aten::add") == 1, ":schema of what an expression calls")
    check("dispatched to: CPU" in pipe(":explain relu\n")[1], ":explain of an operator")
    check("dispatched to: Meta" in pipe("x = ones(2, device='meta')\n:explain relu(x)\n")[1], ":explain of a call")
    check("registered for" in pipe(":table aten::relu\n")[1], ":table")
    check("ReturnInt" in pipe("fn f() -> int { return 1 }\n:dis f\n")[1], ":dis of a function")
    check("aten::relu" in pipe(":dis relu(ones(2))\n")[1], ":dis of an input")
    check(re.match(r"[0-9.]+ [mun]?s median of [0-9]+ run", pipe(":time 1 + 1\n")[1]), ":time")
    check("an expression can be timed" in pipe(":time x = 1\n")[2], ":time takes an expression")
    status, out, err = pipe("x = 1\ny = 'a'\n:vars\n:reset\n:vars\n")
    check("x     int" in out and out.count("argv") == 2 and out.count("int") == 1, f":vars and :reset: {out}")
    status, out, err = pipe(":mode check_nan\n:mode\ntensor([-1.0]).sqrt()\n")
    check("on, the innermost last: check_nan" in out and status == 1 and "NaN" in err, f":mode switches on: {out} {err}")
    status, out, err = pipe(":mode check_nan\n:mode off\ntensor([-1.0]).sqrt()\n")
    for name in ("vars", "reset", "quit"):
        check(f"`:{name}` takes no argument; 'x' is too much" in pipe(f":{name} x\n")[2], f":{name} takes nothing")
    check(status == 0 and "nan" in out, f":mode off switches off: {out} {err}")
    status, out, err = pipe(":mode profile\nones(2)\n:mode off\n1 + 1\n")
    check(status == 0 and "aten::ones" in err and out.endswith("\n2\n"), f":mode profile alone prints its table: {out} {err}")
    check("`path` is missing: record(str path" in pipe(":mode record\n")[2], "what needs a file says so")
    check("Did you mean 'profile'?" in pipe(":mode profil\n")[2], "an unknown handler gets the nearest")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "lib.ops")
        with open(path, "w") as file:
            file.write("# What comes\n# behind two.\nfn three() -> int { return 3 }\nshown = three()\n"
                       "# Half of it.\nop loaded::half(Tensor x) -> Tensor { return x / 2 }\n")
        check(pipe(f":load {path}\nthree() + shown\n")[1] == "6\n", ":load")
        for way in (f":load {path}", f'import "{path}"'):
            check(pipe(f"{way}\n:schema three\n:schema loaded::half\n")[1] ==
                  "three() -> int\n    What comes\n    behind two.\nloaded::half(Tensor x) -> Tensor\n    Half of it.\n",
                  f":schema has the comment above a declaration, by {way}")
        check(pipe(f'import "{path}"\nimport "{path}"\nthree()\n')[1] == "3\n", "a file is imported once")
        check("cannot" in pipe(f"io::read_text('{path}')\n", "--sandbox")[2], "the sandbox holds")
        status, out, err = pipe(f":load {path}\n", "--sandbox")
        check((status, out) == (1, "") and "the sandbox" in err, f":load is in the sandbox, too: {err}")
        check(pipe(f":load {path}\nshown\n", "--sandbox", f"--allow-read={folder}")[1] == "3\n", ":load where it may")
        trace = os.path.join(folder, "s.json")
        check(pipe("ones(2)\n", "--sandbox", f"--profile={trace}")[0] == 0 and os.path.exists(trace), "options are not")
        check(pipe(f":mode profile {trace}\n", "--sandbox")[0] == 1, "but :mode is")
        trace = os.path.join(folder, "p.json")
        check(pipe(f":mode profile {trace}\nones(2)\n")[0] == 0 and os.path.exists(trace), "the end ends what is on")
    lines = pipe(":help\n")[1].splitlines()
    check(len(lines) <= 23 and max(map(len, lines)) <= 110, "the help fits a screen")


def test_summaries():
    """The prompt abbreviates large values; print and str do not."""
    net = 'd = {"layer0": ones(64, 3)}\nfor i in range(1, 122) { d[f"layer{i}"] = ones(64, 3, dtype=float64) }\n'
    shown = pipe(net + "d\n")[1].splitlines()
    check(len(shown) == 21 and shown[:2] == ["{'layer0': tensor of [64, 3] float32,", " 'layer1': tensor of [64, 3] float64,"]
          and shown[-1] == " …(+102 more)}", f"a dict of many tensors: {shown}")
    check(len(pipe(net + "print(d)\n")[1].splitlines()) > 5000, "print shows all")
    check(pipe(net + "x = str(d)\nlen(x) > 100000\n")[1] == "True\n", "so does str")
    check("d  Dict(str, Tensor)  {'layer0': tensor of [64, 3] float32, ..." in pipe(net + ":vars\n")[1].replace("   ", ""),
          ":vars shows a beginning")
    for text, answer in (("range(5000)", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, …(+4980 more)]"),
                         ("[ones(2000), tensor(1.5)]", "[tensor of [2000] float32,\n tensor(1.5000)]"),
                         ("(ones(30, 40, device='meta'),)", "(tensor of [30, 40] float32 on meta,)"),
                         ("{'a': range(2000), 'b': 'x' * 100}",
                          "{'a': [0, 1, 2, 3, 4, 5, …(+1994 more)],\n 'b': '" + "x" * 60 + "'…}"),
                         ("[[[0] * 1000] * 2]", "[[list of 1000, list of 1000]]"),
                         ("[ones(2), tensor([1])]", "[tensor([1., 1.]), tensor([1])]"),
                         ("'x' * 10000", repr("x" * 10000))):
        check(pipe(f"x = {text}\nx\n")[1] == answer + "\n", f"{text} shows {pipe(f'x = {text}' + chr(10) + 'x')}")
    check(pipe("range(1000)\n")[1] == str(list(range(1000))) + "\n", "what is not large is shown whole")


def test_terminal(home):
    terminal = begin(home)
    terminal.type("x = 20\n")
    terminal.expect("> ")
    terminal.ask("x + 22", "42")
    terminal.type("fn f(int n) -> int {\n")
    terminal.expect(". ")
    terminal.type("return n * 2\n")
    terminal.expect(". ")
    terminal.type("}\n")
    terminal.expect("> ")
    terminal.ask("f(x)", "40")
    # Ctrl-C at the prompt discards the input; during a run it ends the run.
    terminal.type("y = [1,\n")
    terminal.expect(". ")
    terminal.type("\x03")
    terminal.expect("> ")
    terminal.type("i = 0; while True { i = i + 1 }\n")
    time.sleep(0.5)
    terminal.type("\x03")
    terminal.expect("interrupted")
    terminal.expect("> ")
    terminal.ask("i > 0", "True")
    return terminal


def test_editing(home):
    terminal = begin(home)
    terminal.type(":help\n")
    if "Arrow keys" not in terminal.expect("\n> "):
        terminal.type("\x04")
        terminal.end()
        print("skipped: there is no libedit to edit lines with")
        return
    terminal.type("12\x1b[D+30")  # left, so that + stands before the 2
    terminal.type("\n")
    terminal.expect("\r\n303")
    terminal.expect("> ")
    terminal.type("\x1b[A")  # up: the previous line
    terminal.expect("1+302")
    terminal.type("\n")
    terminal.expect("\r\n303")
    terminal.expect("> ")
    terminal.type("\x04")
    check(terminal.end() == 0, "Ctrl-D ends")
    history = os.path.join(home, ".local", "state", "boxcar", "history")
    check(stat.S_IMODE(os.stat(history).st_mode) == 0o600, "the history is its user's")
    terminal = begin(home)
    terminal.type("\x1b[A")
    terminal.expect("1+302")
    terminal.type("\n")
    terminal.expect("\r\n303")
    terminal.expect("> ")
    complete(terminal)
    complete_paths_and_keys(terminal, home)
    paste(terminal)
    # Non-ASCII text is kept, and a word after it is completed.
    terminal.ask('"é" + "日本"', "'é日本'")
    terminal.ask('"é" + str(weig\t.sum())', "'étensor(6.)'")
    # A line may be longer than an editor's buffer.
    for length in (1100, 3000):
        terminal.ask(f'len("{"a" * length}")', str(length))
    terminal.type(":quit\n")
    check(terminal.end() == 0, ":quit ends")
    # Two prompts at a time keep the lines of both.
    first, second = begin(home), begin(home)
    for terminal, line in ((first, "1001"), (second, "1002"), (first, "1003")):
        terminal.ask(line, line)
    for terminal in (first, second):
        terminal.type("\x04")
        terminal.end()
    with open(history) as file:
        check(file.read().splitlines()[-3:] == ["1001", "1002", "1003"], "no prompt drops another's lines")
    # An input of many lines is one entry of the history, also in the next session.
    terminal = begin(home)
    for line, prompt in (("for i in [1, 2] {", ". "), ("\tprint(i + 40)", ". "), ("}", "\r\n42\r\n")):
        terminal.type(line + "\n")
        terminal.expect(prompt)
    terminal.expect("> ")
    terminal.type("\x04")
    terminal.end()
    terminal = begin(home)
    terminal.type("\x1b[A")
    terminal.expect("}")
    terminal.type("\n")
    terminal.expect("\r\n41\r\n42\r\n")
    terminal.expect("> ")
    terminal.type("\x1b[A\x1b[D\x1b[D\x1b[D0\n")  # and is edited as one text: before the `)` of the line above
    terminal.expect("\r\n401\r\n402\r\n")
    terminal.expect("> ")
    terminal.type("\x04")
    terminal.end()
    # A history that was kept line by line can still be read.
    with open(history, "w") as file:
        file.write("_HiStOrY_V2_\nx\\040=\\04020\nx\\040+\\04022\n")
    terminal = begin(home)
    terminal.type("\x1b[A\x1b[A")
    terminal.expect("x = 20")
    terminal.type("\n")
    terminal.expect("> ")
    terminal.type("\x1b[A\x1b[A")
    terminal.expect("x + 22")
    terminal.type("\n")
    terminal.expect("\r\n42\r\n")
    terminal.expect("> ")
    terminal.type("\x04")
    check(terminal.end() == 0, "an old history is read")
    # Marked pastes are not requested if the terminal would not understand this, or if Escape is a separate key.
    for kind, settings in (("dumb", ""), ("vt100", "bind -v\n")):
        with open(os.path.join(home, ".editrc"), "w") as file:
            file.write(settings)
        terminal = begin(home, kind=kind)
        terminal.ask("20 + 22", "42")
        check("\x1b[?2004" not in terminal.sent, f"pastes are not asked for: {kind} {settings}")
        terminal.type("\x04")
        check(terminal.end() == 0, "Ctrl-D ends")
    os.remove(os.path.join(home, ".editrc"))


def paste(terminal):
    """Text that the terminal marks as pasted is plain text, and one input."""
    begin_paste, end_paste = "\x1b[200~", "\x1b[201~"
    check("\x1b[?2004h" in terminal.sent and "\x1b[?2004l" in terminal.sent, "pastes are asked for, and only at the prompt")
    code = "fn pasted(int n) -> int {\r\tm = n + 1\r\tif m > 2 {\r\t\treturn m * 10\r\t}\r\telse { return m }\r}\r"
    terminal.type(begin_paste + code + end_paste)
    terminal.expect("else { return m }")
    terminal.type("\n")
    terminal.expect("> ")
    terminal.ask("[pasted(1), pasted(2)]", "[2, 30]")
    # The value of the last line is shown; a command of the prompt ends the input before it.
    terminal.type(begin_paste + "k = 20\nk + 1\n:time k\nk + 22\n" + end_paste)
    terminal.expect("k + 22")
    terminal.type("\n")
    terminal.expect("\r\n21\r\n")
    terminal.expect("median of")
    terminal.expect("\r\n42\r\n")
    terminal.expect("> ")
    # Pasted characters are not keys: they neither complete nor run anything. Control characters are left out.
    terminal.type("[" + begin_paste + "\t1,\r\n2\x01\x04" + end_paste + "]\n")
    terminal.expect("\r\n[1, 2]\r\n")
    terminal.expect("> ")
    # Lines that arrive as keys: Tab indents, with or without blanks before it.
    for line, prompt in (("if k == 20 {", ". "), ("\tif True {", ". "), ("\t\tprint('in' + 'side')", ". "), ("\t}", ". ")):
        terminal.type(line + "\n")
        terminal.expect(prompt)
    terminal.type("}\n")
    terminal.expect("\r\ninside\r\n")
    terminal.expect("> ")


def complete_paths_and_keys(terminal, home):
    for name in ("first.ops", "first.txt", "second.ops"):
        with open(os.path.join(home, name), "w") as file:
            file.write("from_file = 7\n")
    os.mkdir(os.path.join(home, "folder"))
    with open(os.path.join(home, "folder", "inner.ops"), "w") as file:
        file.write("from_folder = 8\n")
    terminal.ask('d = {"layer1.weight": 1, "layer2.bias": 2}', "")
    terminal.ask('d["layer2\t"]', "2")
    terminal.ask(":load fi\t", "")
    terminal.ask("from_file", "7")
    terminal.ask(":load fo\tin\t", "")
    terminal.ask("from_folder", "8")
    terminal.ask('io::read_text("first.t\t")', r"'from_file = 7\n'")
    terminal.ask('io::save({"a": ones(1)}, "net.safetensors")', "")
    terminal.ask('io::load("ne\t")["a"]', "tensor([1.])")
    terminal.type("ones(2, dtype=f\tl")
    terminal.expect("dtype=f\r\nfloat16 ")  # before other words that begin the same
    terminal.type("\x15\x0b")


def complete(terminal):
    """Tab completes variables, methods, functions, operators and commands, also from earlier inputs and lines."""
    terminal.ask("weights = ones(2, 3)", "")
    terminal.ask("fn halved(Tensor x) -> Tensor { return x / 2 }", "")
    terminal.ask("weig\t.sha\t", "[2, 3]")
    terminal.ask("halv\t(weights).sum().ite\t()", "3.0")
    terminal.ask(":sche\t aten::softp\t", "aten::softplus(Tensor self")
    terminal.type("for number in [1.5] {\n")
    terminal.expect(". ")
    terminal.type("print(numbe\t * 2)\n")
    terminal.expect(". ")
    terminal.ask("}", "3.0")
    terminal.ask("print(\"é√\", weig\t.sha\t)", "é√ [2, 3]")
    terminal.ask("len(\"é√\")", "2")
    terminal.type(":nonsense\n")  # coloured, like all errors
    check("\x1b[1;31merror:\x1b[0m there is no command" in terminal.wait_raw("there is no command"), "errors are coloured")
    terminal.expect("> ")
    terminal.type("weights.argm\t\t")
    terminal.expect("argmax  argmin")
    terminal.type("\x15")
    # A command's arguments are completed: handlers, modes and commands.
    terminal.ask(":mode check_na\t", "")
    terminal.ask(":mode", "on, the innermost last: check_nan")
    terminal.ask(":mode of\t", "")
    terminal.ask(":help sch\t", ":schema NAME")


with tempfile.TemporaryDirectory() as home:
    test_pipe()
    test_manual()
    test_large_values_are_summarised()
    test_answers_come_at_once()
    test_commands()
    if not there_are_terminals():
        print("skipped: the machine has no pseudo-terminals; only pipes were tested")
        sys.exit(77)
    terminal = test_terminal(home)
    terminal.type("\x04")
    check(terminal.end() == 0, "Ctrl-D ends")
    test_editing(home)
    os.chmod(os.path.join(home, ".local"), 0o500)
    terminal = begin(os.path.join(home), "repl")
    terminal.ask("1 + 1", "2")
    terminal.type("\x04")
    check(terminal.end() == 0, "a history that cannot be written is no failure")
    os.chmod(os.path.join(home, ".local"), 0o700)
