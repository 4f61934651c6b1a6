"""Operators that are written in Python."""

from boxcar import _core, ops


class Library:
    """Registers operators of a namespace, their kernels and derivatives.

    Registrations last for the process, unless close() or the end of a `with` block undoes them.
    """

    def __init__(self, namespace):
        self.namespace = namespace
        self._registrations = []

    def define(self, schema, *, tags=(), _depth=1):
        """Defines the operator of a schema, such as "f(Tensor x) -> Tensor"; returns it."""
        if "::" not in schema.split("(")[0]:
            schema = f"{self.namespace}::{schema}"
        elif schema.split("::")[0] != self.namespace:
            raise ValueError(f"the library of the namespace {self.namespace} cannot define '{schema}'")
        self._registrations.append(_core._define(schema, list(tags), _depth))
        return _operator(schema.split("(")[0])

    def impl(self, name, key=None, *, _depth=1):
        """A decorator that registers a function as the kernel of an operator, at a dispatch key or for all keys."""
        full = name if "::" in name else f"{self.namespace}::{name}"

        def register(function):
            self._registrations.append(_core._implement(full, key, function, _depth))
            return function
        return register

    def close(self):
        """Undoes the registrations, the last one first."""
        while self._registrations:
            self._registrations.pop().remove()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def _operator(name):
    name, _, overload = name.partition(".")
    found = getattr(getattr(ops, name.split("::")[0]), name.split("::")[1])
    return getattr(found, overload) if overload else found


class CustomOperator:
    """An operator that Python defined: call it, or register more of what it is made of."""

    def __init__(self, library, schema, name):
        self._library, self._schema, self._name = library, schema, name
        self._operator = _operator(name)

    def __call__(self, *args, **kwargs):
        return self._operator(*args, **kwargs)

    @property
    def operator(self):
        """The operator itself, as boxcar.ops has it; its calls are a little faster."""
        return self._operator

    @property
    def __doc__(self):
        return self._operator.__doc__

    def __repr__(self):
        return f"<boxcar.op {self._name}>"

    def register_kernel(self, key):
        """A decorator of the kernel at a dispatch key, such as "CPU" or "CUDA"."""
        return self._library.impl(self._name, key)

    def register_fake(self, function):
        """A decorator of the kernel for tensors without elements, which gives the shape of the result."""
        return self._library.impl(self._name, "Meta", _depth=2)(function)

    def register_autograd(self, backward):
        """A decorator of the derivative: a function that takes `grad`, and arguments and the result (`result`) by their
        names, as boxcar.ops.autograd.register_derivative describes it."""
        remove = ops.autograd.register_derivative(self._name, backward)
        self._library._registrations.append(_Undo(remove))
        return backward

    def remove(self):
        """Removes the operator with all that was registered for it."""
        self._library.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


class _Undo:
    def __init__(self, remove):
        self.remove = remove


def op(schema, *, key=None, tags=()):
    """Defines an operator by the function below; the decorated name is the operator.

        @boxcar.op("my::scale(Tensor x, float by=2.0) -> Tensor")
        def scale(x, by):
            return x * by

    Without `key`, the function serves all keys; with "CPU", only tensors there. The function gets all arguments,
    keyword-only ones by keyword.
    """
    if not isinstance(schema, str):
        name = getattr(schema, "__name__", "")
        raise TypeError("boxcar.op() takes the operator's schema, and then decorates its function: write "
                        f'@boxcar.op("my::{name if name.isidentifier() else "f"}(Tensor x) -> Tensor") above it')
    name = schema.split("(")[0].strip()
    if "::" not in name:
        raise ValueError(f"the schema '{schema}' has no namespace; write one of your own before the name, as in 'my::{name}'")

    def define(function):
        library = Library(name.split("::")[0])
        library.define(schema, tags=tags, _depth=2)
        try:
            library.impl(name, key, _depth=2)(function)
            return CustomOperator(library, schema, name)
        except BaseException:
            library.close()
            raise
    return define
