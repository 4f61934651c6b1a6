"""What tensors have beside what the class in C++ has: copies and pickles, and the state of factories."""

import types

from boxcar import _core

_default_device = []


def _method(name):
    def method(self, *args, **kwargs):
        from boxcar import _functions
        return getattr(_functions, name)(self, *args, **kwargs)
    method.__name__ = method.__qualname__ = name
    return method


# These are operators of other results and arguments, or none.
for _name in ("stft", "unique", "unique_consecutive"):
    setattr(_core.Tensor, _name, _method(_name))


def _where(self, condition, other):
    """The elements of the tensor where `condition` holds, and those of `other` elsewhere."""
    return _core._operators("aten::where")(condition, self, other)


def _polygamma(self, n):
    """The derivative of order n of the digamma function."""
    return _core._operators("aten::polygamma")(n, self)


_core.Tensor.where, _core.Tensor.polygamma = _where, _polygamma


def _reduce(self, protocol):
    """Pickles the elements; the device and whether the tensor requires grad are kept."""
    requires_grad = self.requires_grad
    plain = self.detach().cpu().contiguous()
    is_half = plain.dtype == _core.bfloat16
    data = bytes(memoryview(plain.view(_core.int16) if is_half else plain).cast("B")) if plain.numel() else b""
    return _restored, (type(self), data, plain.dtype, tuple(plain.shape), str(self.device), requires_grad,
                       dict(vars(self)))


def _restored(cls, data, dtype, shape, device, requires_grad, attributes):
    empty = _core._operators("aten::empty")
    made = empty(list(shape), dtype=dtype)
    if data:
        target = made.view(_core.int16) if dtype == _core.bfloat16 else made
        memoryview(target).cast("B")[:] = data
    if device != "cpu":
        made = made.to(device)
    made = made if cls is _core.Tensor else cls(made)
    vars(made).update(attributes)
    if requires_grad:
        made.requires_grad = True
    return made


def _deepcopy(self, memo):
    if not self.is_leaf:
        raise RuntimeError("only leaves of the graph of gradients can be copied by copy.deepcopy(); use detach().clone()")
    copy = self.detach().clone()
    copy = copy if type(self) is _core.Tensor else type(self)(copy)
    vars(copy).update(vars(self))
    if self.requires_grad:
        copy.requires_grad = True
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
    while _default_device:
        _default_device.pop().__exit__(None, None, None)
    if device is not None:
        scope = _core._scope("device", str(device))
        scope.__enter__()
        _default_device.append(scope)


def _init_subclass(cls, **keywords):
    """`__boxcar_dispatch__` of a subclass is a class method, also without the decorator."""
    super(_core.Tensor, cls).__init_subclass__(**keywords)
    method = vars(cls).get("__boxcar_dispatch__")
    if isinstance(method, types.FunctionType):
        cls.__boxcar_dispatch__ = classmethod(method)


def _repr_html(self):
    from boxcar import _html
    return _html.tensor(self)


_core.Tensor.__init_subclass__ = classmethod(_init_subclass)
_core.Tensor._repr_html_ = _repr_html
_core.Tensor.__reduce_ex__ = _reduce
_core.Tensor.__deepcopy__ = _deepcopy
_core.Tensor.__format__ = _format
