"""What tensors have beside what the class in C++ has: copies and pickles, and the state of factories."""

import threading
import types

from boxcar import _core

_default_device = threading.local()


def _method(name):
    def method(self, *args, **kwargs):
        from boxcar import _functions
        return getattr(_functions, name)(self, *args, **kwargs)
    method.__name__ = method.__qualname__ = name
    return method


# These are operators of other results and arguments, or none.
for _name in ("stft", "unique", "unique_consecutive", "is_contiguous", "new_tensor", "type"):
    setattr(_core.Tensor, _name, _method(_name))


class _AboutNames:
    """An attribute that PyTorch's tensors had for named dimensions: asking for it is an error that says so."""

    def __init__(self, name):
        self.name = name

    def __get__(self, tensor, owner=None):
        raise AttributeError(f"'boxcar.Tensor' object has no attribute '{self.name}': {_core._no_names}")


for _name in _core._about_names:
    setattr(_core.Tensor, _name, _AboutNames(_name))


def _where(self, condition, other):
    """The elements of the tensor where `condition` holds, and those of `other` elsewhere."""
    return _core._operators("aten::where")(condition, self, other)


def _polygamma(self, n):
    """The derivative of order n of the digamma function."""
    return _core._operators("aten::polygamma")(n, self)


_core.Tensor.where, _core.Tensor.polygamma = _where, _polygamma


class RemovableHandle:
    """A hook that is registered, until remove() or the end of a `with` block."""

    def __init__(self, remove):
        self._remove = remove

    def remove(self):
        """Removes the hook; nothing if it is removed."""
        self._remove()

    __call__ = remove

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


def _register_hook(self, hook):
    """Lets `hook` see the gradient of the tensor when a backward pass has it; what it returns replaces the gradient.
    Returns a handle, whose remove() undoes it."""
    return RemovableHandle(_core._operators("aten::register_hook")(self, hook))


def _reversed(self):
    """The tensor with the elements of its first dimension in reverse."""
    return self.flip(0) if self.dim() else self


def _complex(self):
    return complex(self.item())


_core.Tensor.register_hook, _core.Tensor.__reversed__, _core.Tensor.__complex__ = _register_hook, _reversed, _complex


def _reduce(self, protocol):
    """Pickles the elements; the device and whether the tensor requires grad are kept."""
    requires_grad = self.requires_grad
    if self.is_meta:  # there are no elements
        return _restored, (type(self), None, self.dtype, tuple(self.shape), "meta", requires_grad, dict(vars(self)))
    is_zero = _core._operators("aten::_is_zerotensor")
    plain = self.detach().clone() if is_zero(self) else self.detach().resolve_conj().resolve_neg()
    plain = plain.cpu().contiguous()
    is_half = plain.dtype == _core.bfloat16
    data = bytes(memoryview(plain.view(_core.int16) if is_half else plain).cast("B")) if plain.numel() else b""
    return _restored, (type(self), data, plain.dtype, tuple(plain.shape), str(self.device), requires_grad,
                       dict(vars(self)))


def _restored(cls, data, dtype, shape, device, requires_grad, attributes):
    empty = _core._operators("aten::empty")
    made = empty(list(shape), dtype=dtype, device="meta" if data is None else "cpu")
    if data:
        target = made.view(_core.int16) if dtype == _core.bfloat16 else made
        memoryview(target).cast("B")[:] = data
    if data is not None and device != "cpu":
        made = made.to(device)
    made = made if cls is _core.Tensor else cls(made)
    vars(made).update(attributes)
    if requires_grad:
        made.requires_grad = True
    return made


def _like(self, tensor):
    """`tensor`, which has no history, with the class, the attributes and requires_grad of self."""
    made = tensor if type(self) is _core.Tensor else type(self)(tensor)
    vars(made).update(vars(self))
    if self.requires_grad:
        made.requires_grad = True
    return made


def _copy(self):
    return _like(self, self.detach())


def _deepcopy(self, memo):
    if not self.is_leaf:
        raise RuntimeError("only leaves of the graph of gradients can be copied by copy.deepcopy(); use detach().clone()")
    copy = _like(self, self.detach().clone())
    if self.grad is not None:
        copy.grad = _deepcopy(self.grad, memo)
    memo[id(self)] = copy
    return copy


def _format(self, spec):
    if not spec:
        return str(self)
    if self.dim() != 0:
        raise TypeError(f"a tensor of {self.dim()} dimensions has no format '{spec}'; only one number has")
    return format(self.item(), spec)


def manual_seed(seed):
    """Seeds the operators that draw random numbers, on all devices."""
    _core._builtin("manual_seed", int(seed))


def set_default_device(device):
    """Sets where this thread's factories (zeros, rand …) make tensors that name no device; None means the CPU."""
    scope = vars(_default_device).pop("scope", None)
    if scope is not None:
        scope.__exit__(None, None, None)
    if device is not None:
        scope = _core._scope("device", str(device))
        scope.__enter__()
        _default_device.scope = scope


def _init_subclass(cls, **keywords):
    """`__boxcar_dispatch__` of a subclass is a class method, also without the decorator."""
    super(_core.Tensor, cls).__init_subclass__(**keywords)
    method = vars(cls).get("__boxcar_dispatch__")
    if isinstance(method, types.FunctionType):
        cls.__boxcar_dispatch__ = classmethod(method)


def _repr_html(self):
    from boxcar import _html
    return _html.tensor(self)


# NumPy's arrays and scalars leave operators with a tensor to the tensor, as they do with PyTorch's.
_core.Tensor.__array_priority__ = 1000
_core.Tensor.__init_subclass__ = classmethod(_init_subclass)
_core.Tensor._repr_html_ = _repr_html
_core.Tensor.__reduce_ex__ = _reduce
_core.Tensor.__copy__ = _copy
_core.Tensor.__deepcopy__ = _deepcopy
_core.Tensor.__format__ = _format
