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
