"""Scopes: which there are, on which thread they end, and that those of gradients behave as PyTorch's."""

import asyncio
import gc
import os
import pathlib
import re
import sys
import threading
import unittest
import warnings

import boxcar

ROOT = pathlib.Path(os.environ["BOXCAR_ROOT"])


def on_a_thread(call):
    """Runs it on another thread; returns what it raised, or None."""
    raised = []

    def run():
        try:
            call()
        except BaseException as error:
            raised.append(error)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return raised[0] if raised else None


def makers():
    return {"profile": boxcar.profile, "check_nan": boxcar.check_nan, "no_grad": boxcar.no_grad,
            "inference_mode": boxcar.inference_mode,
            "handler": lambda: boxcar.handler(lambda op, args: boxcar.redispatch(op, args))}


class Names(unittest.TestCase):
    def test_there_is_a_function_for_each_scope_that_the_page_names(self):
        page = (ROOT / "python/README.md").read_text()
        names = set(re.findall(r"boxcar\.(profile|check_nan|inference_mode|progress)\(", page))
        self.assertEqual(names, {"profile", "check_nan", "inference_mode", "progress"})
        of_scripts = (ROOT / "interpreter/README.md").read_text().split("## Scopes: `with`")[1].split("\n\n")[1]
        names |= set(re.findall(r"`(\w+)\(", of_scripts)) - {"include", "exclude"}
        self.assertLessEqual({"no_grad", "set_grad_enabled", "autocast", "device", "trace"}, names)
        for name in names:
            self.assertTrue(callable(getattr(boxcar, name)), name)
            self.assertIn(name, dir(boxcar))

    def test_inference_mode_differentiates_nothing(self):
        x = boxcar.ones(2, requires_grad=True)
        with boxcar.inference_mode(), boxcar.enable_grad():
            self.assertFalse((x * 2).requires_grad)
            self.assertTrue(boxcar.is_inference_mode_enabled())
            with boxcar.inference_mode(False):
                self.assertFalse(boxcar.is_inference_mode_enabled())
        self.assertTrue((x * 2).requires_grad)

        @boxcar.inference_mode()
        def twice(x):
            return x * 2

        @boxcar.inference_mode
        def thrice(x):
            return x * 3
        self.assertFalse(twice(x).requires_grad or thrice(x).requires_grad)

    def test_scopes_refuse_arguments_that_they_do_not_have(self):
        for call in (lambda: boxcar.no_grad(1), lambda: boxcar.enable_grad(True), lambda: boxcar.inference_mode(1),
                     lambda: boxcar.set_grad_enabled(0), lambda: boxcar.no_grad()(1)):
            with self.assertRaisesRegex(TypeError, "not an object of class"):
                call()


class Threads(unittest.TestCase):
    def test_a_scope_that_another_thread_ends_is_an_error_and_stays_usable(self):
        for name, make in makers().items():
            with self.subTest(name):
                scope = make()
                scope.__enter__()
                error = on_a_thread(lambda: scope.__exit__(None, None, None))
                self.assertIs(type(error), RuntimeError)
                self.assertRegex(str(error), "entered on another thread.*leave the `with` block on the thread that entered")
                (boxcar.ones(2) + 1).sum()
                scope.__exit__(None, None, None)
                if name == "profile":
                    self.assertIn("aten::sum", scope.report)

    def test_a_scope_that_another_thread_drops_is_a_warning(self):
        def drop_elsewhere(make):
            for make_held in (self.entered, self.in_a_generator):
                held = [make_held(make)]
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    on_a_thread(lambda: (held.clear(), gc.collect()))
                self.assertEqual([each.category for each in caught], [RuntimeWarning])
                self.assertIn("dropped on a thread other than the one that entered it", str(caught[0].message))
            (boxcar.ones(2) + 1).sum()

        unraisable = []
        before, sys.unraisablehook = sys.unraisablehook, lambda each: unraisable.append(each.exc_type)
        try:
            for name, make in makers().items():
                with self.subTest(name):  # on a thread of its own, since the scopes stay on there
                    error = on_a_thread(lambda: drop_elsewhere(make))
                    self.assertIsNone(error)
        finally:
            sys.unraisablehook = before
        self.assertEqual(set(unraisable), {RuntimeError})  # of the generators

    @staticmethod
    def entered(make):
        scope = make()
        scope.__enter__()
        return scope

    @staticmethod
    def in_a_generator(make):
        def steps():
            with make():
                yield 1
        made = steps()
        next(made)
        return made

    def test_a_scope_of_gradients_serves_two_threads_at_once(self):
        scope, x = boxcar.no_grad(), boxcar.ones(1, requires_grad=True)
        with scope:
            self.assertIsNone(on_a_thread(lambda: self.check_block(scope, x)))
            self.assertFalse((x * 2).requires_grad)
        self.assertTrue((x * 2).requires_grad)

    def check_block(self, scope, x):
        with scope:
            self.assertFalse((x * 2).requires_grad)
        self.assertTrue((x * 2).requires_grad)


class DefaultDevice(unittest.TestCase):
    def test_each_thread_has_its_default_device(self):
        def on_another():
            boxcar.set_default_device("meta")
            self.assertTrue(boxcar.ones(1).is_meta)
            boxcar.set_default_device("cpu")
            self.assertFalse(boxcar.ones(1).is_meta)
            boxcar.set_default_device("meta")
        boxcar.set_default_device("meta")
        try:
            self.assertIsNone(on_a_thread(on_another))
            self.assertTrue(boxcar.ones(1).is_meta)
        finally:
            boxcar.set_default_device(None)
        self.assertFalse(boxcar.ones(1).is_meta)


class Gradients(unittest.TestCase):
    def setUp(self):
        self.x = boxcar.ones(2, requires_grad=True)

    def recorded(self):
        return (self.x * 2).requires_grad

    def test_set_grad_enabled_holds_from_the_call_on(self):
        try:
            boxcar.set_grad_enabled(False)
            self.assertFalse(self.recorded() or boxcar.is_grad_enabled())
            with boxcar.set_grad_enabled(True):
                self.assertTrue(self.recorded())
            self.assertFalse(self.recorded())
        finally:
            boxcar.set_grad_enabled(True)
        self.assertTrue(self.recorded())
        with boxcar.set_grad_enabled(mode=False):
            self.assertFalse(self.recorded())
        self.assertTrue(self.recorded())

    def test_set_grad_enabled_decorates(self):
        made = boxcar.set_grad_enabled(False)(self.recorded)
        self.assertTrue(self.recorded())
        self.assertFalse(made())
        self.assertTrue(self.recorded())

    def test_each_step_of_a_decorated_generator_is_in_the_scope(self):
        seen = []

        @boxcar.no_grad()
        def steps():
            try:
                sent = yield self.recorded()
                while True:
                    try:
                        sent = yield sent, self.recorded()
                    except ValueError:
                        sent = "caught"
                        seen.append(self.recorded())
                    if sent == "end":
                        return self.recorded()
            finally:
                seen.append(self.recorded())
        made = steps()
        self.assertFalse(next(made))
        self.assertTrue(self.recorded())
        self.assertEqual(made.send(3), (3, False))
        self.assertTrue(self.recorded())
        self.assertEqual(made.throw(ValueError()), ("caught", False))
        with self.assertRaises(StopIteration) as end:
            made.send("end")
        self.assertIs(end.exception.value, False)
        made = steps()
        next(made)
        made.close()
        self.assertEqual(seen, [False] * 3)
        self.assertTrue(self.recorded())

    def test_each_step_of_a_decorated_coroutine_is_in_the_scope(self):
        @boxcar.no_grad
        async def work():
            first = self.recorded()
            await asyncio.sleep(0.01)
            return first, self.recorded()

        async def watch():
            await asyncio.sleep(0)
            return self.recorded()

        async def both():
            return await asyncio.gather(work(), watch())
        self.assertEqual(asyncio.run(both()), [(False, False), True])
        self.assertTrue(asyncio.iscoroutinefunction(work))

    def test_an_asynchronous_generator_is_refused_by_name(self):
        async def several():
            yield 1
        with self.assertRaisesRegex(TypeError, r"no_grad\(\) cannot decorate the asynchronous generator .*several\(\)"):
            boxcar.no_grad()(several)


if __name__ == "__main__":
    unittest.main()
