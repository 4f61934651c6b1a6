"""What `with` switches on for a block, on this thread: scopes such as no_grad(), and handlers such as trace()."""

import functools
import inspect
import threading
import types

from boxcar import _core

__all__ = []


def _function(schema, text, is_handler):
    name = schema.split("(")[0]
    same_name = _core._operators("aten::" + name)

    def make(*args, **kwargs):
        if same_name is not None and (isinstance(args[0] if args else kwargs.get("input"), _core.Tensor)):
            return same_name(*args, **kwargs)  # trace() of a matrix
        return _core._scope(name, *args, **kwargs)

    make.__name__ = make.__qualname__ = name
    make.__module__ = "boxcar"
    make.__doc__ = f"{schema.removesuffix(' -> ()')}\n\n{text[:1].upper()}{text[1:]}"
    if is_handler:
        make.__doc__ += "\n\nAfter the block, `report` of the scope has what the handler says."
    if same_name is not None:
        make.__doc__ += f"\n\nOf a tensor: {same_name.__doc__}"
    return make


for _each in _core._scopes():
    _name = _each[0].split("(")[0]
    if _name != "device":  # boxcar.device is the class of devices
        globals()[_name] = _function(*_each)
        __all__.append(_name)


class _GradScope:
    """A scope that is a decorator, too, as PyTorch's are."""

    def __init__(self, name, *arguments):
        self._name, self._arguments = name, arguments
        self._open = []  # (thread, scope): an object may serve several blocks at once

    def __repr__(self):
        return f"{self._name}({', '.join(map(repr, self._arguments))})"

    def __enter__(self):
        scope = _core._scope(self._name, *self._arguments)
        scope.__enter__()
        self._open.append((threading.get_ident(), scope))
        return self

    def __exit__(self, *error):
        own = threading.get_ident()
        at = next((i for i in reversed(range(len(self._open))) if self._open[i][0] == own), -1)
        if not self._open:
            raise RuntimeError("this scope is not on")
        self._open[at][1].__exit__(*error)  # of another thread's block: an error
        del self._open[at]

    def _again(self):
        """The same scope for a call of what it decorates."""
        return _GradScope(self._name, *self._arguments)

    def __call__(self, function):
        if not callable(function):
            raise TypeError(f"{self} decorates a function, not an object of class '{type(function).__name__}'")
        if inspect.isasyncgenfunction(function):
            raise TypeError(f"{self} cannot decorate the asynchronous generator {function.__qualname__}(): write `with "
                            f"{self}:` in it, around what lies between its awaits and yields")
        if inspect.isgeneratorfunction(function):
            @functools.wraps(function)
            def called(*args, **kwargs):
                return (yield from _steps(self._again, function(*args, **kwargs)))
        elif inspect.iscoroutinefunction(function):
            @functools.wraps(function)
            async def called(*args, **kwargs):
                return await _awaited(_steps(self._again, function(*args, **kwargs).__await__()))
        else:
            @functools.wraps(function)
            def called(*args, **kwargs):
                with self._again():
                    return function(*args, **kwargs)
        return called


def _steps(scope, steps):
    """Runs each step of a generator in the scope, and what is between the steps outside of it."""
    try:
        with scope():
            given = next(steps)
        while True:
            try:
                sent = yield given
            except GeneratorExit:
                with scope():
                    steps.close()
                raise
            except BaseException as error:
                with scope():
                    given = steps.throw(error)
            else:
                with scope():
                    given = next(steps) if sent is None else steps.send(sent)
    except StopIteration as end:
        return end.value


@types.coroutine
def _awaited(steps):
    return (yield from steps)


class _GradSetting(_GradScope):
    """set_grad_enabled(): holds from the call on; after a `with` block, and around a function, what was before is back."""

    def __init__(self, mode):
        super().__init__("set_grad_enabled", mode)
        self._mode, self._before = mode, _core.is_grad_enabled()
        _core._set_grad_enabled(mode)

    def __enter__(self):
        _core._set_grad_enabled(self._mode)
        return self

    def __exit__(self, *error):
        _core._set_grad_enabled(self._before)

    def __call__(self, function):
        _core._set_grad_enabled(self._before)
        return super().__call__(function)


def _decorating(name):
    make = globals()[name]

    def scope(function=None):
        if function is not None and not callable(function):
            raise TypeError(f"{name}() takes no arguments but the function that it decorates, not an object of class "
                            f"'{type(function).__name__}'")
        made = _GradScope(name)
        return made if function is None else made(function)
    return _like(scope, make)


def _like(scope, make):
    scope.__name__ = scope.__qualname__ = make.__name__
    scope.__module__ = "boxcar"
    scope.__doc__ = make.__doc__ + "\n\nAlso a decorator of functions, generators and coroutines."
    return scope


def _inference_mode():
    def scope(mode=True):
        if callable(mode):
            return _GradScope("inference_mode", True)(mode)
        if not isinstance(mode, bool):
            raise TypeError("inference_mode() takes a bool, or the function that it decorates, not an object of class "
                            f"'{type(mode).__name__}'")
        return _GradScope("inference_mode", mode)
    return _like(scope, inference_mode)  # noqa: F821


def _set_grad_enabled():
    def scope(mode):
        if not isinstance(mode, bool):
            raise TypeError(f"set_grad_enabled() takes a bool, not an object of class '{type(mode).__name__}'")
        return _GradSetting(mode)
    made = _like(scope, set_grad_enabled)  # noqa: F821
    made.__doc__ += " It holds from the call on, also without `with`; a block restores what was before."
    return made


no_grad, enable_grad = _decorating("no_grad"), _decorating("enable_grad")
inference_mode, set_grad_enabled = _inference_mode(), _set_grad_enabled()


def _scope_html(self):
    from boxcar import _html
    return _html.report(self.report or "") or _html.code(repr(self))


_core.Scope._repr_html_ = _scope_html
