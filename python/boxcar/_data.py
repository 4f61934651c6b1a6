"""Data that boxcar.tensor() takes beside numbers, lists of them and arrays."""

from collections.abc import Sequence

import boxcar
from boxcar import _core

_DTYPES = {bool: _core.bool, int: _core.int64, complex: _core.complex64}


def plain(data):
    """Returns what tensor() takes in place of `data`, with its dtype or None; None where `data` must do.

    Tensors and arrays in lists become numbers and lists, ranges and other sequences become lists, and tensors of other
    libraries become tensors over their memory.
    """
    if hasattr(data, "__dlpack__") and not _is_buffer(data):
        return _shared(data), None
    if not _is_sequence(data):
        return None
    found = _Found()
    made = found.listed(data)
    return (made, found.dtype if found.has_arrays else None) if found.is_other else None


def _is_buffer(data):
    try:
        memoryview(data)
        return True
    except (TypeError, BufferError):
        return False


def _is_sequence(data):
    return isinstance(data, Sequence) and not isinstance(data, (str, bytes, bytearray))


def _shared(data):
    return _core.from_dlpack(data.detach() if hasattr(data, "detach") else data)


class _Found:
    """What is in a list: the dtype of all of it together, and whether it is more than lists of numbers."""

    def __init__(self):
        self.dtype, self.has_arrays, self.is_other = None, False, False

    def listed(self, data):
        if isinstance(data, _core.Tensor) or hasattr(data, "__dlpack__") or _is_buffer(data):
            return self._elements(data)
        if _is_sequence(data):
            self.is_other = self.is_other or not isinstance(data, (list, tuple))
            return [self.listed(each) for each in data]
        self._add(_DTYPES.get(type(data), _core.float32))
        return data

    def _elements(self, data):
        self.has_arrays = self.is_other = True
        is_buffer = not isinstance(data, _core.Tensor) and _is_buffer(data)
        tensor = data if isinstance(data, _core.Tensor) else _core.tensor(data) if is_buffer else _shared(data)
        self._add(tensor.dtype)
        if is_buffer:
            return tensor.tolist()
        if tensor.numel() != 1:
            raise ValueError("tensor(): a tensor in a list must have one element, and this one has "
                             f"{tensor.numel()}; use boxcar.stack() or boxcar.cat()")
        return tensor.item()

    def _add(self, dtype):
        self.dtype = dtype if self.dtype is None else boxcar.promote_types(self.dtype, dtype)
