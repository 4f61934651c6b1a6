"""Nothing is left of calls: references, memory, and objects in cycles through what is registered."""

import gc
import os
import sys
import unittest
import weakref

import boxcar
from boxcar import redispatch

aten = boxcar.ops.aten
PAGE = os.sysconf("SC_PAGE_SIZE")
MOST_GROWTH = 256 << 10  # bytes of a process over all calls of a test; a leak of one small object a call is megabytes


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE


class Calls(unittest.TestCase):
    def holds(self, call, *objects, times=1_000_000):
        """After many calls, the objects have as many references as before, and the process as much memory."""
        for _ in range(2000):  # tables and pools have their size
            call()
        gc.collect()
        references = [sys.getrefcount(each) for each in objects]
        grown = []
        for _ in range(2):  # a table of the interpreter may still grow once; a leak grows each time
            before, blocks = resident(), sys.getallocatedblocks()
            for _ in range(times):
                call()
            gc.collect()
            grown.append((sys.getallocatedblocks() - blocks, resident() - before))
            if grown[-1][0] < 200 and grown[-1][1] < MOST_GROWTH:
                break
        for each, count in zip(objects, references):  # others refer to None, too
            self.assertLess(abs(sys.getrefcount(each) - count), 10)
        self.assertLess(min(blocks for blocks, _ in grown), 200, grown)
        self.assertLess(min(memory for _, memory in grown), MOST_GROWTH, grown)

    def test_add(self):
        x, y, add = boxcar.ones(2), boxcar.ones(2), boxcar.add
        self.holds(lambda: add(x, y), x, y, add, boxcar.Tensor)

    def test_keywords_and_numbers(self):
        x, add, alpha = boxcar.ones(2), boxcar.add, 1000
        self.holds(lambda: add(x, x, alpha=alpha), x, alpha, times=300_000)

    def test_results_in_tuples_and_lists(self):
        x = boxcar.ones(2, 2)
        self.holds(lambda: (x.max(dim=1), x.split(1)), x, boxcar.Tensor, times=100_000)

    def test_indexing(self):
        x, mask = boxcar.ones(4), boxcar.tensor([True, False, True, False])
        self.holds(lambda: (x[1], x[1:3], x[None], x[..., 0]), x, None, Ellipsis, times=100_000)
        self.holds(lambda: x[mask], x, mask, times=30_000)

        def write():
            x[1] = 2.0
        self.holds(write, x, times=100_000)

    def test_a_custom_operator(self):
        with boxcar.op("leaks::f(Tensor x, float by=2.0, *, int[] sizes=[]) -> Tensor")(lambda x, by, sizes: x) as op:
            x, sizes = boxcar.ones(2), [1, 2]
            self.holds(lambda: op(x), x, times=300_000)
            self.holds(lambda: op(x, 3.0, sizes=sizes), x, sizes, times=100_000)

    def test_a_handler(self):
        x = boxcar.ones(2)
        with boxcar.handler(lambda op, args: redispatch(op, args)):
            self.holds(lambda: boxcar.relu(x), x, boxcar.relu, times=200_000)

    def test_scopes(self):
        x = boxcar.ones(2)

        def handler(op, args):
            return redispatch(op, args)

        def block():
            with boxcar.handler(handler), boxcar.no_grad():
                boxcar.relu(x)
        self.holds(block, x, handler, times=50_000)

    def test_a_failing_call(self):
        x, y = boxcar.ones(2), boxcar.ones(3)

        def fail():
            try:
                boxcar.add(x, y)
            except RuntimeError:
                pass
        self.holds(fail, x, y, RuntimeError, times=50_000)

    def test_a_call_that_fits_no_schema(self):
        x, what = boxcar.ones(2), object()

        def fail():
            try:
                boxcar.relu(x, x, x)
            except TypeError:
                pass
            try:
                boxcar.relu(what)
            except TypeError:
                pass
        self.holds(fail, x, what, times=20_000)

    def test_a_kernel_that_raises(self):
        def kernel(x):
            raise KeyError("mine")

        with boxcar.op("leaks::raises(Tensor x) -> Tensor")(kernel) as op:
            x = boxcar.ones(2)

            def fail():
                try:
                    op(x)
                except KeyError:
                    pass
            self.holds(fail, x, kernel, KeyError, times=100_000)

    def test_results_that_do_not_fit(self):
        with boxcar.op("leaks::wrong(Tensor x) -> Tensor")(lambda x: "text") as op:
            x = boxcar.ones(2)

            def fail():
                try:
                    op(x)
                except TypeError:
                    pass
            self.holds(fail, x, times=50_000)

    def test_from_dlpack(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        array = numpy.ones(4, numpy.float32)
        self.holds(lambda: boxcar.from_dlpack(array), array, times=300_000)
        x = boxcar.ones(4)
        self.holds(lambda: x.numpy(), x, times=100_000)

    def test_a_class_of_tensors(self):
        class Wrapped(boxcar.Tensor):
            def __boxcar_dispatch__(cls, op, args):
                return cls(redispatch(op, args))

        x = Wrapped([1.0])
        x.note = note = object()
        self.holds(lambda: boxcar.relu(x), x, note, Wrapped, times=100_000)

    def test_a_python_dispatcher(self):
        kernels = boxcar.PythonDispatcher()
        kernels.impl("aten::relu", "CPU")(lambda x: redispatch(aten.relu, [x]))
        x = boxcar.ones(2)

        def block():
            with kernels:
                boxcar.relu(x)
        self.holds(block, x, kernels._kernels, times=50_000)

    def test_backward(self):
        x = boxcar.tensor([1.0, 1.0], requires_grad=True)

        def step():
            (x * x).sum().backward()
            x.grad = None
        self.holds(step, x, times=20_000)


class Cycles(unittest.TestCase):
    class Marked:
        pass

    def gone_after(self, make):
        mark = self.Marked()
        gone = weakref.ref(mark)
        make(mark)
        del mark
        gc.collect()
        self.assertIsNone(gone())

    def test_a_kernel_whose_closure_holds_its_operator(self):
        def make(mark):
            @boxcar.op("cycles::f(Tensor x) -> Tensor")
            def op(x):
                return mark and op and x
            op(boxcar.ones(1))
            op.remove()
        self.gone_after(make)

    def test_a_handler_whose_closure_holds_its_scope(self):
        def make(mark):
            scope = boxcar.handler(lambda op, args: (mark, scope) and redispatch(op, args))
            with scope:
                boxcar.ones(1)
        self.gone_after(make)

    def test_a_handler_that_was_never_switched_on(self):
        def make(mark):
            scope = boxcar.handler(lambda op, args: (mark, scope))
        self.gone_after(make)

    def test_a_fallback_whose_closure_holds_its_registration(self):
        def make(mark):
            registration = boxcar.fallback("PrivateUse3", lambda op, args: (mark, registration))
            registration.remove()
        self.gone_after(make)

    def test_a_python_dispatcher_whose_kernel_holds_it(self):
        def make(mark):
            kernels = boxcar.PythonDispatcher()
            kernels.impl("aten::relu", "CPU")(lambda x: (mark, kernels) and x)
            with kernels:
                boxcar.relu(boxcar.ones(1))
        self.gone_after(make)

    def test_a_class_of_tensors_with_its_tensors(self):
        def make(mark):
            class Local(boxcar.Tensor):
                def __boxcar_dispatch__(cls, op, args):
                    return cls(redispatch(op, args))
            Local.mark = mark
            Local.one = Local([1.0])
            boxcar.relu(Local.one)
        self.gone_after(make)

    def test_an_exception_that_a_kernel_raised(self):
        def make(mark):
            def kernel(x):
                kept = mark  # the traceback's frame holds it
                raise KeyError(str(kept))
            with boxcar.op("cycles::raises(Tensor x) -> Tensor")(kernel) as op:
                try:
                    op(boxcar.ones(1))
                except KeyError:
                    pass
        self.gone_after(make)


if __name__ == "__main__":
    unittest.main()
