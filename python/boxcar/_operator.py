"""What operators have beside calls: their names, kernels and tables. Scripts have the same attributes."""

from boxcar import _core


def _only(get):
    """A property of one overload: the only one, or the one without a name. Others raise ValueError, which names them."""
    return property(lambda self: get(self), doc=get.__doc__)


def _schema(self):
    """The schema as text."""
    return _core._table(self, False)[0]


def _overload(self):
    """The name of the overload, which may be empty."""
    return _schema(self).split("(")[0].partition(".")[2]


def _arg_names(self):
    """The names of the arguments."""
    return _core._arg_names(self)


def _tags(self):
    """The names of the tags of the definition."""
    return _core._tags(self)


def has_kernel(self, key):
    """Tells whether a kernel is registered for exactly this dispatch key, such as "CPU"."""
    return _core._has_kernel(self, key)


def call_at(self, key, args):
    """Calls the kernel of one dispatch key, whatever the keys of the arguments; `args` has all of them."""
    return _core._call_at(self, key, args)


def _repr_html_(self):
    from boxcar import _html
    return _html.operator(self)


def _add():
    for name, get in (("schema", _schema), ("overload", _overload), ("arg_names", _arg_names), ("tags", _tags)):
        setattr(_core.Operator, name, _only(get))
    _core.Operator.has_kernel = _core.Operator.has = has_kernel
    _core.Operator.call_at = call_at
    _core.Operator._repr_html_ = _repr_html_


_add()
