"""Functions that PyTorch writes in Python, over operators."""

from boxcar import _core


def _operator(name):
    return _core._operators("aten::" + name)


def _chosen(results, *wanted):
    """The first result, and those that are wanted: a tuple if there is one."""
    chosen = [results[0], *(each for each, is_wanted in zip(results[1:], wanted) if is_wanted)]
    return chosen[0] if len(chosen) == 1 else tuple(chosen)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements, or slices along `dim`; with them, where each element went, and how often each is there."""
    if dim is not None:
        results = _operator("unique_dim")(input, dim, sorted, return_inverse, return_counts)
    else:
        results = _operator("_unique2")(input, sorted, return_inverse, return_counts)
    return _chosen(results, return_inverse, return_counts)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The elements, or slices along `dim`, without repetitions next to each other."""
    results = _operator("unique_consecutive")(input, return_inverse, return_counts, dim)
    return _chosen(results, return_inverse, return_counts)


def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False,
         onesided=None, return_complex=None):
    """The Fourier transforms of overlapping windows. With `center`, the input is padded by half a window at both ends."""
    return _operator("stft").center(input, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided,
                                    return_complex)


def broadcast_shapes(*shapes):
    """The shape that tensors of these shapes have together."""
    meta = [_operator("empty")([each] if isinstance(each, int) else list(each), device="meta") for each in shapes]
    return tuple(_operator("broadcast_tensors")(meta)[0].shape) if meta else ()


def unravel_index(indices, shape):
    """The coordinates, one tensor for each dimension, of places in a contiguous tensor of this shape."""
    shape = [shape] if isinstance(shape, int) else list(shape)
    coordinates = []
    for size in reversed(shape):
        coordinates.append(indices % size)
        indices = _operator("floor_divide")(indices, size)
    return tuple(reversed(coordinates))


def is_tensor(obj):
    """Whether the object is a Tensor."""
    return isinstance(obj, _core.Tensor)


def _over_memory_of(data):
    """A tensor over the memory of an array or a tensor; None where there is none."""
    if isinstance(data, _core.Tensor):
        return data
    try:
        return _core.from_dlpack(data) if hasattr(data, "__dlpack__") else _core.from_numpy(data)
    except (TypeError, ValueError, BufferError):
        return None


def _as(tensor, dtype, device):
    tensor = tensor if device is None else tensor.to(device)
    return tensor if dtype is None else tensor.to(dtype)


def as_tensor(data, dtype=None, device=None):
    """A tensor over the memory of an array or a tensor, if dtype and device allow; otherwise a new one."""
    shared = _over_memory_of(data)
    return _core.tensor(data, dtype=dtype, device=device) if shared is None else _as(shared, dtype, device)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """as_tensor() with a choice: copy=True always copies, and copy=False never does."""
    shared = None if copy else _over_memory_of(obj)
    made = _core.tensor(obj, dtype=dtype, device=device) if shared is None else _as(shared, dtype, device)
    if copy is False and (shared is None or made.data_ptr() != shared.data_ptr()):
        raise ValueError("asarray(): a tensor of this dtype and device must be a copy of the object; leave out copy=False")
    if made.requires_grad and not requires_grad:
        made = made.detach()
    if requires_grad and not made.requires_grad:
        made.requires_grad = True
    return made


def promote_types(type1, type2):
    """The smallest dtype for the elements of both."""
    one, other = (_operator("empty")([1], dtype=each, device="meta") for each in (type1, type2))
    return _operator("result_type")(one, other)


# ---- Methods ----

def is_contiguous(self, memory_format=_core.contiguous_format):
    """Whether the elements lie in memory in the order of this format, without gaps."""
    return bool(_operator("sym_is_contiguous")(self, memory_format))


def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    """tensor(data) with the dtype and the device of this tensor."""
    return _core.tensor(data, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad)


def type(self, dtype):
    """The elements in another dtype."""
    return self.to(dtype)
