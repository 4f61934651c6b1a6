"""Scripts and models that Python loads and calls."""

import functools
import os
import pathlib
import signal
import tempfile
import threading
import time
import unittest

import boxcar

ROOT = pathlib.Path(os.environ["BOXCAR_ROOT"])


class Scripts(unittest.TestCase):
    def test_functions_are_called_by_position_and_by_name(self):
        program = boxcar.compile("fn scale(Tensor x, float by=2.0) -> Tensor { return x * by }")
        x = boxcar.ones(2)
        self.assertEqual(program.scale(x).tolist(), [2, 2])
        self.assertEqual(program.scale(x, 3).tolist(), [3, 3])
        self.assertEqual(program.scale(by=4.0, x=x).tolist(), [4, 4])
        self.assertEqual(program.functions, ["scale"])
        self.assertIs(program.scale, program.scale)
        self.assertEqual(program.scale.schemas, ["scale(Tensor x, float by=2.0) -> Tensor"])
        self.assertIn("scale", dir(program))

    def test_values_of_all_kinds_pass_through(self):
        program = boxcar.compile("fn same(Any x) -> Any { return x }\nfn two() -> (int, str) { return 1, 'a' }")
        for value in (None, True, 3, 2.5, 1j, "text \u00e9", [1, 2], [1.5], [True], ["a", None], (1, "b"), {"k": [1]}, {}, []):
            self.assertEqual(program.same(value), value)
            self.assertIs(type(program.same(value)), type(value))
        self.assertEqual(program.two(), (1, "a"))
        self.assertEqual(program.same(boxcar.device("cpu")), boxcar.device("cpu"))

    def test_every_callable_of_python_is_a_function(self):
        program = boxcar.compile("fn f(Tensor x, Function g) -> Tensor { return g(x) }\n"
                                 "fn two(Tensor x, Function g) -> Tensor { return g(x, 3) }\n"
                                 "fn named(Tensor x, Function g) -> Tensor { return g(x, by=3) }\n"
                                 "fn twice(Tensor x) -> Tensor { return x * 2 }")

        class Scale:
            def scaled(self, x, by=2):
                return x * by

            def __call__(self, *args):
                return self.scaled(*args)
        x = boxcar.tensor([-1.0])
        callables = {"operator": boxcar.relu, "overload": boxcar.ops.aten.relu.default, "functional": boxcar.nn.functional.relu,
                     "method": Scale().scaled, "object": Scale(), "script": program.twice,
                     "partial": functools.partial(boxcar.mul, other=4), "lambda": lambda x, by=5: x * by,
                     "method of a tensor": boxcar.tensor([7.0]).mul, "class": lambda *args: boxcar.Tensor(*args)}
        expected = [0, 0, 0, -2, -2, -2, -4, -5, -7, -1]
        self.assertEqual([program.f(x, each).item() for each in callables.values()], expected)
        self.assertEqual([program.two(x, each).item() for each in (boxcar.mul, Scale(), Scale().scaled)], [-3, -3, -3])
        with self.assertRaisesRegex(boxcar.ScriptError, r"takes its arguments by position, not by name \(`by`\)"):
            program.named(x, Scale())
        with self.assertRaisesRegex(boxcar.ScriptError, "TypeError: .*relu"):
            program.two(x, boxcar.relu)

    def test_files_are_loaded_and_run(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "tool.ops"
            path.write_text("const kBy = 3\nfn f(Tensor x) -> Tensor { return x * kBy }\n")
            self.assertEqual(boxcar.load(path).f(boxcar.ones(1)).item(), 3)
            unrun = boxcar.load(str(path), run=False)
            with self.assertRaisesRegex(boxcar.ScriptError, "kBy"):
                unrun.f(boxcar.ones(1))
            unrun.run()
            self.assertEqual(unrun.f(boxcar.ones(1)).item(), 3)

    def test_files_that_cannot_be_read_are_the_errors_of_python(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("none.ops", "none.pt2", "none.pt"):
                with self.assertRaisesRegex(FileNotFoundError, "No such file or directory: '.*" + name) as caught:
                    boxcar.load(f"{folder}/{name}")
                self.assertEqual(caught.exception.filename, f"{folder}/{name}")
            with self.assertRaises(IsADirectoryError) as caught:
                boxcar.load(folder)
            self.assertEqual(caught.exception.filename, folder)
        with self.assertRaisesRegex(FileNotFoundError, "No such file or directory: ''"):
            boxcar.load("")

    def test_files_that_are_no_programs_say_what_they_are(self):
        with tempfile.TemporaryDirectory() as folder:
            weights = f"{folder}/x.safetensors"
            boxcar.io.save({"x": boxcar.ones(2)}, weights)
            with self.assertRaisesRegex(ValueError, r"x.safetensors' holds no program, but binary data; boxcar\.io\.load"):
                boxcar.load(weights)
            self.assertEqual(boxcar.io.load(weights)["x"].tolist(), [1, 1])
            path = pathlib.Path(folder) / "x.py"
            path.write_text("import torch\n")
            with self.assertRaisesRegex(ValueError, r"x.py' is a program of Python's.*scripts \(\.ops\)"):
                boxcar.load(path)

    def test_the_text_of_a_program_names_its_functions(self):
        self.assertEqual(repr(boxcar.compile("x = 1")), "<boxcar.Program without functions>")
        self.assertEqual(repr(boxcar.compile("fn f() -> () { }\nfn g() -> () { }")), "<boxcar.Program with the functions f, g>")

    def test_a_wrong_argument_is_a_type_error_with_the_schema(self):
        program = boxcar.compile("fn f(Tensor x, int n) -> Tensor { return x }")
        with self.assertRaisesRegex(TypeError, r"f\(\): argument 'n' must be int, not str\n.*f\(Tensor x, int n\)"):
            program.f(boxcar.ones(1), "a")
        with self.assertRaisesRegex(TypeError, "'n' is missing"):
            program.f(boxcar.ones(1))
        with self.assertRaisesRegex(AttributeError, "has no function called `g`"):
            program.g

    def test_errors_say_where_in_the_script(self):
        with self.assertRaises(boxcar.CompileError) as caught:
            boxcar.compile("x = 1\ny = reluu(x)\n", "wrong.ops")
        self.assertEqual((caught.exception.filename, caught.exception.lineno), ("wrong.ops", 2))
        self.assertIn("Did you mean 'relu'", str(caught.exception))
        program = boxcar.compile("fn f(Tensor x) -> Tensor {\n    return mm(x, x)\n}", "mul.ops")
        with self.assertRaises(boxcar.ScriptError) as caught:
            program.f(boxcar.ones(2, 3))
        self.assertIn("mul.ops:2:12", str(caught.exception))
        self.assertIn("cannot be multiplied", caught.exception.reason)
        with self.assertRaises(FileNotFoundError):
            boxcar.load("/no/such/script.ops")
        with self.assertRaisesRegex(FileNotFoundError, "weights.npy"):
            boxcar.ops.io.load_npy("/no/such/weights.npy")

    def test_prepared_programs_give_the_same(self):
        text = "fn f(Tensor x) -> Tensor { return (x * 2 + 1).relu() * 0.5 }"
        x = boxcar.randn(100)
        plain = boxcar.compile(text).f(x)
        prepared = boxcar.compile(text)
        prepared.prepare()
        self.assertEqual(prepared.f(x).tolist(), plain.tolist())

    def test_functions_of_python_and_of_scripts_call_each_other(self):
        program = boxcar.compile("fn twice(Function f, Tensor x) -> Any { return f(f(x)) }\n"
                                 "fn double(Tensor x) -> Tensor { return 2 * x }\n"
                                 "fn giver() -> Function { return double }")
        self.assertEqual(program.twice(lambda x: x + 1, boxcar.zeros(1)).item(), 2)
        self.assertEqual(program.giver()(boxcar.ones(1)).item(), 2)
        self.assertEqual(program.twice(program.giver(), boxcar.ones(1)).item(), 4)

    def test_an_exception_of_python_in_a_script_is_the_cause(self):
        program = boxcar.compile("fn call(Function f) -> Any { return f(1) }")

        def fails(x):
            raise KeyError("from Python")

        with self.assertRaises(boxcar.ScriptError) as caught:
            program.call(fails)
        self.assertIsInstance(caught.exception.__cause__, KeyError)

    def test_the_library_of_scripts_is_there(self):
        program = boxcar.compile('import "nn.ops" as nn\nfn f(int[] size) -> int { return nn.fan_in(size) }')
        self.assertEqual(program.f([4, 3]), 3)


class Threads(unittest.TestCase):
    LOOP = "fn count(int n) -> int {\n    i = 0\n    while i < n { i = i + 1 }\n    return i\n}"

    def test_scripts_run_while_other_threads_of_python_do(self):
        program = boxcar.compile(self.LOOP)
        done = threading.Event()

        def run():
            program.count(200_000_000)
            done.set()

        thread = threading.Thread(target=run)
        thread.start()
        turns = 0
        while not done.is_set() and turns < 5:
            time.sleep(0.001)
            turns += 1
        boxcar_is_running = not done.is_set()
        thread.join()
        self.assertTrue(boxcar_is_running)

    def test_many_threads_call_operators_and_scripts(self):
        program = boxcar.compile("fn f(Tensor x) -> Tensor { return (x + 1).sum() }")
        wrong = []

        def work(n):
            for _ in range(200):
                x = boxcar.full([50], float(n))
                if program.f(x).item() != 50 * (n + 1) or (x * 2).sum().item() != 100 * n:
                    wrong.append(n)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_ctrl_c_ends_a_run(self):
        program = boxcar.compile("fn forever() -> int {\n    i = 0\n    while True { i = i + 1 }\n    return i\n}")
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        begin = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            program.forever()
        self.assertLess(time.monotonic() - begin, 60)
        timer.join()
        self.assertEqual(boxcar.compile("fn f() -> int { return 1 }").f(), 1)

    def test_ctrl_c_ends_a_run_after_python_took_its_handler_back(self):
        program = boxcar.compile("fn forever() -> int {\n    i = 0\n    while True { i = i + 1 }\n    return i\n}")
        before = signal.signal(signal.SIGINT, lambda number, frame: (_ for _ in ()).throw(InterruptedError("mine")))
        try:
            timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaisesRegex(InterruptedError, "mine"):
                program.forever()
            timer.join()
        finally:
            signal.signal(signal.SIGINT, before)


if __name__ == "__main__":
    unittest.main()
