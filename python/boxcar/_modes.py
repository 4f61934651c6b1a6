"""What `with` switches on for a block, on this thread: scopes such as no_grad(), and handlers such as trace()."""

import functools

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

    def __init__(self, name):
        self._name = name
        self._open = []

    def __enter__(self):
        scope = _core._scope(self._name)
        scope.__enter__()
        self._open.append(scope)
        return self

    def __exit__(self, *error):
        self._open.pop().__exit__(*error)

    def __call__(self, function):
        @functools.wraps(function)
        def called(*args, **kwargs):
            with _GradScope(self._name):
                return function(*args, **kwargs)
        return called


def _decorating(name):
    make = globals()[name]

    def scope(function=None):
        made = _GradScope(name)
        return made if function is None else made(function)

    scope.__name__ = scope.__qualname__ = name
    scope.__module__ = "boxcar"
    scope.__doc__ = make.__doc__ + "\n\nAlso a decorator of functions."
    return scope


for _name in ("no_grad", "enable_grad", "inference_mode"):
    if _name in __all__:
        globals()[_name] = _decorating(_name)


def _scope_html(self):
    from boxcar import _html
    return _html.report(self.report or "") or _html.code(repr(self))


_core.Scope._repr_html_ = _scope_html
