"""The operators by namespace: boxcar.ops.aten.add, boxcar.ops.aten.add.Tensor, boxcar.ops.my.f."""

from boxcar import _core


class Namespace:
    """The operators of a namespace, as attributes."""

    def __init__(self, name):
        self.__name__ = name

    def __getattr__(self, name):
        full = f"{self.__name__}::{name}"
        found = _core._operators(full)
        if found is not None:
            self.__dict__[name] = found  # also one such as __and__
            return found
        if name.startswith("__"):
            raise AttributeError(name)
        near = _near(full)
        raise AttributeError(f"there is no operator {full}" + (f"; did you mean {near}?" if near else ""))

    def __dir__(self):
        prefix = self.__name__ + "::"
        return sorted(name.removeprefix(prefix) for name in _core._operator_names() if name.startswith(prefix))

    def __repr__(self):
        return f"<boxcar.ops.{self.__name__}>"


class Prefixed(Namespace):
    """PyTorch's namespaces in aten, such as linalg: linalg.det is aten::linalg_det."""

    def __init__(self, name):
        self.__dict__.update(__name__=name, _aten=f"aten::{name}_")

    def __getattr__(self, name):
        found = None if name.startswith("__") else _core._operators(self._aten + name)
        if found is None:
            raise AttributeError(f"there is no operator {self._aten}{name}")
        self.__dict__[name] = found
        return found

    def __dir__(self):
        return sorted(name.removeprefix(self._aten) for name in _core._operator_names() if name.startswith(self._aten))

    def __repr__(self):
        return f"<boxcar.{self.__name__}>"


def _near(name):
    import difflib
    return next(iter(difflib.get_close_matches(name, _core._operator_names(), 1)), None)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return globals().setdefault(name, Namespace(name))


def __dir__():
    return sorted({name.split("::")[0] for name in _core._operator_names()})
