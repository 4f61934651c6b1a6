"""Exceptions of kernels and handlers in Python, and registrations that go or collide."""

import subprocess
import sys
import threading
import traceback
import unittest

import boxcar
from boxcar import redispatch

aten = boxcar.ops.aten


def raising(error):
    def kernel(x):
        raise error
    return kernel


def caught_from(call):
    """The exception with its traceback, which assertRaises drops."""
    try:
        call()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def line_here():
    return sys._getframe(1).f_lineno


class Exceptions(unittest.TestCase):
    def plain(self):
        """The thread's modes are as at the start: no handler of a test is on."""
        seen = boxcar.explain("aten::relu", boxcar.ones(1))
        self.assertNotIn("PreDispatch", str(seen))
        self.assertNotIn("Python", str(seen))
        self.assertEqual(boxcar.relu(boxcar.tensor([-1.0])).tolist(), [0.0])

    def test_a_kernel_in_a_script_is_the_cause_of_its_error(self):
        error = KeyError("mine")
        with boxcar.op("exceptions::a(Tensor x) -> Tensor")(raising(error)):
            script = boxcar.compile("fn f(Tensor x) -> Tensor {\n  return exceptions::a(x)\n}")
            with self.assertRaisesRegex(boxcar.ScriptError, "KeyError: 'mine'") as caught:
                script.f(boxcar.ones(1))
        self.assertIs(caught.exception.__cause__, error)
        self.plain()

    def test_a_kernel_keeps_its_exception_and_traceback(self):
        error = KeyError("mine")
        with boxcar.op("exceptions::b(Tensor x) -> Tensor")(raising(error)) as op:
            x = boxcar.ones(1)
            caught = caught_from(lambda: op(x))
        self.assertIs(caught, error)
        self.assertIn("raise error", "".join(traceback.format_exception(caught)))

    def test_a_handler_that_raises(self):
        error = KeyError("mine")

        def handler(op, args):
            raise error

        for key in ("PreDispatch", "Python"):
            def call():
                with boxcar.handler(handler, key=key), boxcar.handler(lambda op, args: redispatch(op, args), key=key):
                    boxcar.ones(1)

            caught = caught_from(call)
            self.assertIs(caught, error)
            self.assertIn("raise error", "".join(traceback.format_exception(caught)))
            self.plain()

    def test_a_handler_sees_the_exception_of_what_lies_below(self):
        error, seen = KeyError("mine"), []

        def handler(op, args):
            try:
                return redispatch(op, args)
            except KeyError as caught:
                seen.append(caught)
                return args[0]

        with boxcar.op("exceptions::c(Tensor x) -> Tensor")(raising(error)) as op, boxcar.handler(handler):
            x = boxcar.ones(1)
            seen.clear()
            self.assertIs(op(x), x)
        self.assertEqual(len(seen), 1)
        self.assertIs(seen[0], error)
        self.plain()

    def test_a_kernel_that_backward_calls(self):
        error = KeyError("mine")
        with boxcar.op("exceptions::below(Tensor x) -> Tensor")(raising(error)) as below, \
                boxcar.op("exceptions::d(Tensor x) -> Tensor", key="CPU")(lambda x: x * 2) as op:
            op.register_autograd(lambda grad, x: below(grad))
            x = boxcar.tensor([1.0], requires_grad=True)
            y = op(x)
            with self.assertRaises(KeyError) as caught:
                y.backward()
        self.assertIs(caught.exception, error)
        self.plain()

    def test_keyboard_interrupts_arrive_as_themselves(self):
        with boxcar.op("exceptions::e(Tensor x) -> Tensor")(raising(KeyboardInterrupt())) as op:
            script = boxcar.compile("fn f(Tensor x) -> Tensor { return exceptions::e(x) }")
            for call in (op, script.f):
                with self.assertRaises(KeyboardInterrupt):
                    call(boxcar.ones(1))
        self.plain()

    def test_system_exit_and_generator_exit_arrive_as_themselves(self):
        with boxcar.op("exceptions::exits(Tensor x) -> Tensor")(raising(SystemExit(3))):
            with self.assertRaises(SystemExit) as caught:
                boxcar.compile("fn f(Tensor x) -> Tensor { return exceptions::exits(x) }").f(boxcar.ones(1))
        self.assertEqual(caught.exception.code, 3)

    def test_an_interrupt_of_the_keyboard_in_a_handler(self):
        def handler(op, args):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            with boxcar.handler(handler):
                boxcar.ones(1)
        self.plain()

    def test_a_kernel_that_calls_its_own_operator_forever(self):
        @boxcar.op("exceptions::f(Tensor x) -> Tensor")
        def op(x):
            return op(x)

        with op, self.assertRaises(RecursionError):
            op(boxcar.ones(1))
        self.plain()

    def test_a_handler_that_never_ends(self):
        def handler(op, args):
            with boxcar.handler(handler):
                return op(*args)

        x = boxcar.ones(1)
        with self.assertRaises(RecursionError):
            with boxcar.handler(handler):
                boxcar.relu(x)
        self.plain()


class Results(unittest.TestCase):
    def fails(self, schema, result, text):
        with boxcar.op(f"results::f{schema}")(lambda x: result) as op:
            with self.assertRaisesRegex(TypeError, text):
                op(boxcar.ones(1))

    def test_results_of_wrong_types_name_the_schema(self):
        must = "but it must return what its schema says: results::f"
        self.fails("(Tensor x) -> Tensor", "text", f"a kernel returned a value that does not fit .*{must}")
        self.fails("(Tensor x) -> Tensor", None, must)
        self.fails("(Tensor x) -> Tensor", boxcar.float32, must)
        self.fails("(Tensor x) -> Tensor[]", [1, 2], must)
        self.fails("(Tensor x) -> int", 1.5, must)
        self.fails("(Tensor x) -> ()", 1, f"a value of class 'int', {must}")
        self.fails("(Tensor x) -> (Tensor, int)", 1, f"a value of class 'int' and no tuple of 2, {must}")
        self.fails("(Tensor x) -> (Tensor, int)", (1, 2, 3), f"3 values, {must}")
        self.fails("(Tensor x) -> Tensor", object(), "boxcar has no value for an object of class 'object'")

    def test_a_handler_is_named_as_such(self):
        with self.assertRaisesRegex(TypeError, "a handler returned a value that does not fit"):
            with boxcar.handler(lambda op, args: "text"):
                boxcar.ones(1)

    def test_a_class_is_named_as_such(self):
        class Wrong(boxcar.Tensor):
            def __boxcar_dispatch__(cls, op, args):
                return "text"

        with self.assertRaisesRegex(TypeError, "__boxcar_dispatch__ returned a value that does not fit"):
            Wrong([1.0]).relu()


class Registrations(unittest.TestCase):
    def test_a_second_definition_names_both_places(self):
        with boxcar.op("twice::f(Tensor x) -> Tensor")(lambda x: x):
            first = line_here() - 1
            with self.assertRaises(RuntimeError) as caught:
                boxcar.op("twice::f(Tensor x) -> Tensor")(lambda x: x)
            second = line_here() - 1
        for line in (first, second):
            self.assertIn(f"exceptions_test.py:{line}", str(caught.exception))

    def test_a_second_kernel_serves_until_it_is_removed(self):
        with boxcar.Library("twice") as library, boxcar.Library("twice") as other:
            f = library.define("g(Tensor x) -> Tensor")
            library.impl("g", "CPU")(lambda x: x + 1)
            line = line_here() - 1
            other.impl("g", "CPU")(lambda x: x + 2)
            x = boxcar.zeros(1)
            self.assertEqual(f(x).item(), 2)
            other.close()
            self.assertEqual(f(x).item(), 1)
            self.assertIn(f"exceptions_test.py:{line}", str(boxcar.explain(f, x)))

    def test_a_second_fallback_names_both_places(self):
        with boxcar.fallback("PrivateUse3", lambda op, args: None):
            first = line_here() - 1
            with self.assertRaises(RuntimeError) as caught:
                boxcar.fallback("PrivateUse3", lambda op, args: None)
            for line in (first, line_here() - 1):
                self.assertIn(f"exceptions_test.py:{line}", str(caught.exception))

    def test_a_removed_operator_says_so(self):
        op = boxcar.op("gone::f(Tensor x) -> Tensor")(lambda x: x)
        op.remove()
        with self.assertRaisesRegex(RuntimeError, "gone::f is not defined any more"):
            op(boxcar.ones(1))

    def test_removal_while_calls_run(self):
        stop, started, wrong = threading.Event(), threading.Event(), []

        def call():
            x = boxcar.ones(2)
            while not stop.is_set():
                try:
                    boxcar.ops.running.f(x)
                    started.set()
                except AttributeError:
                    pass  # it is not defined yet
                except RuntimeError as error:
                    if "not defined any more" not in str(error) and "is being defined or removed" not in str(error) \
                            and "no kernel" not in str(error) and "is not defined" not in str(error):
                        wrong.append(error)

        threads = [threading.Thread(target=call) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(100):
            op = boxcar.op("running::f(Tensor x) -> Tensor")(lambda x: x)
            started.clear()
            started.wait(1)
            op.remove()
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_an_operator_that_removes_itself_while_it_runs(self):
        @boxcar.op("gone::itself(Tensor x) -> Tensor")
        def op(x):
            op.remove()
            return x + 1

        self.assertEqual(op(boxcar.ones(1)).tolist(), [2.0])
        with self.assertRaisesRegex(RuntimeError, "is not defined any more"):
            op(boxcar.ones(1))


class Interpreters(unittest.TestCase):
    def test_a_second_interpreter_is_refused_by_name(self):
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            try:
                import _interpreters as interpreters
            except ImportError:
                self.skipTest("this Python has no interpreters in a process")
        code = ("import boxcar, sys\ntry:\n    import {0} as interpreters\nexcept ImportError:\n"
                "    import _interpreters as interpreters\n"
                "second = interpreters.create()\n"
                "found = interpreters.run_string(second, 'import boxcar')\n"
                "if found is not None: raise RuntimeError(str(found.formatted))\n").format("_xxsubinterpreters")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("into a second interpreter of a process", done.stderr)


if __name__ == "__main__":
    unittest.main()
