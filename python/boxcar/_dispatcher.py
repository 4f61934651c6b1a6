"""Kernels in Python that are used only while they are switched on."""

from boxcar import _core
from boxcar._library import CustomOperator, _operator


class PythonDispatcher:
    """Kernels in Python for pairs of an operator and a dispatch key, used in a `with` block, on its thread.

        kernels = boxcar.PythonDispatcher()

        @kernels.impl("aten::relu", "CPU")
        def relu(x):
            return boxcar.redispatch(boxcar.ops.aten.relu, [x]) + 1

        with kernels:
            boxcar.relu(x)

    A call asks at each key it meets, so that a kernel may stand in for any level: "CPU", "AutogradCPU", "Meta". Keys that
    an operator lets through are not met. redispatch() in a kernel goes on to the kernel of the same key that it stands in
    for. Blocks nest: the innermost one that has a kernel for the pair wins. Nothing is registered.
    """

    def __init__(self):
        self._kernels = {}

    def impl(self, op, key):
        """A decorator of the kernel of an operator, given by its name or as boxcar.ops has it, at a dispatch key."""
        if isinstance(op, str):
            op = _operator(op)
        elif isinstance(op, CustomOperator):
            op = op.operator
        pair = _core._pair(op, key)

        def add(function):
            if pair in self._kernels:
                raise ValueError(f"this PythonDispatcher has a kernel of {op.name} for {key} already")
            self._kernels[pair] = function
            return function
        return add

    def __enter__(self):
        _core._enter_dispatcher(self._kernels)
        return self

    def __exit__(self, *error):
        _core._leave_dispatcher(self._kernels)
