"""How a call finds its kernel."""

from boxcar import _core
from boxcar._library import CustomOperator, _operator


class Explanation:
    """What `boxcar explain` says of a call: str() has the text, and `operator` the overload that the call chooses."""

    def __init__(self, text, operator):
        self._text = text
        self.operator = operator

    def __str__(self):
        return self._text

    def __repr__(self):
        return self._text

    def _repr_html_(self):
        from boxcar import _html
        lines = self._text.splitlines()
        rows = [line.partition(": ")[::2] for line in lines[1:]]
        return _html.code(lines[0]) + _html.table(rows)


def explain(op, *args, **kwargs):
    """Explains how a call with these arguments would find its kernel on this thread now, and runs nothing.

    `op` is an operator, such as boxcar.ops.aten.add, or its name: "aten::add".
    """
    if isinstance(op, str):
        op = _operator(op)
    elif isinstance(op, CustomOperator):
        op = op.operator
    return Explanation(*_core._explain(op, args, kwargs))
