"""Operators that make, copy and convert tensors."""

import math

import torch

from generator import ALL, BOOL, COMPLEX, FLOATS, INTS, REALS, call, cases, error, layouts


@cases("aten::zeros aten::ones", [torch.float32])
def zeros(make):
    yield [2, 3],
    yield [],
    yield [0, 3],
    for dtype in ALL:
        yield call([2, 2], dtype=dtype)
    yield call([2], device=torch.device("cpu"))
    yield error([-1, 2])


@cases("aten::full", [torch.float32])
def full(make):
    for number in [2, 2.5, True, 1j]:
        yield [2, 3], number
        for dtype in ALL:
            if dtype != torch.bool or number != 1j:  # PyTorch uses its real part
                yield call([2], number, dtype=dtype)
    yield [], math.inf
    yield error([2, -3], 1)


@cases("aten::zeros_like aten::ones_like", ALL)
def like(make):
    yield from layouts(make)
    yield call(make(2, 3), dtype=torch.float64)
    yield call(make(3, 2).t(), memory_format=torch.contiguous_format)
    yield call(make(2, 3, 4, 5), memory_format=torch.channels_last)
    yield error(make(2, 3), memory_format=torch.channels_last)


@cases("aten::full_like", ALL)
def full_like(make):
    yield make(2, 3), 2
    yield make(3, 2).t(), 1.5
    yield call(make(0, 2), 3, dtype=torch.int64)


@cases("aten::scalar_tensor", [torch.float32])
def scalar_tensor(make):
    for number in [2, 2.5, True, 1 + 2j]:
        yield number,
        yield call(number, dtype=torch.complex64)


def _ranges(make):
    numbers = {"dtype": make.dtype}
    yield call(5, **numbers)
    yield call(0, **numbers)
    yield call(1, **numbers)
    yield call(3.5, **numbers)
    yield call(7) if make.dtype == torch.float32 else call(7, **numbers)
    yield error(-1, **numbers)


@cases("aten::arange", REALS)
def arange(make):
    yield from _ranges(make)


@cases("aten::arange.start", REALS)
def arange_start(make):
    yield call(2, 7, dtype=make.dtype)
    yield call(2, 2, dtype=make.dtype)
    yield call(1.5, 6, dtype=make.dtype)
    yield call(2, 7)
    yield error(3, 2, dtype=make.dtype)


@cases("aten::arange.start_step", REALS)
def arange_step(make):
    yield call(2, 17, 3, dtype=make.dtype)
    yield call(17, 2, -4, dtype=make.dtype)
    yield call(0, 1, 0.25, dtype=make.dtype)
    yield call(1, 2, 0.3)
    yield error(1, 2, -1)
    yield error(1, 2, 0)
    yield error(math.nan, 2, 1)
    yield error(0, math.inf, 1)


@cases("aten::arange.start_out", REALS)
def arange_out(make):
    yield call(1, 6, 2, out=torch.empty(0, dtype=make.dtype))
    yield call(1, 6, 2, out=torch.ones(3, dtype=make.dtype))
    yield call(1, 6, 2, out=torch.ones(6, dtype=make.dtype)[::2])


@cases("aten::copy_", ALL)
def copy(make):
    for dtype in ALL:
        yield make(2, 3), make(2, 3, dtype=dtype, low=0, high=5)
        yield make(3, 2).t(), make(3, dtype=dtype, low=0, high=5)
    yield make(4, 6)[:, ::2], make(3, 4).t()
    yield make(2, 3), make()
    yield make(0, 3), make(3)
    yield error(make(2, 3), make(4))
    yield error(make(3), make(2, 3))
    yield error(make(1, 3).expand(2, 3), make(2, 3))
    x = make(6)
    yield x, x
    yield error(x[1:], x[:5])


@cases("aten::to.dtype", ALL)
def to_dtype(make):
    for dtype in ALL:
        yield make(2, 3, low=0, high=5), dtype
    yield call(make(3, 2).t(), make.dtype, copy=True)
    yield call(make(4, 6)[:, ::2], torch.float32)
    yield call(make(2, 3, 4, 5), torch.float64, memory_format=torch.channels_last)


@cases("aten::_to_copy", ALL)
def to_copy(make):
    for dtype in ALL:
        yield call(make(2, 3, low=0, high=5), dtype=dtype)
    yield call(make(3, 2).t())
    yield call(make(4, 6)[:, ::2])
    yield call(make(2, 3, 4, 5), memory_format=torch.channels_last)


@cases("aten::to.device", ALL)
def to_device(make):
    yield make(2, 3), torch.device("cpu"), torch.float32
    yield call(make(3, 2).t(), torch.device("cpu"), make.dtype, copy=True)


@cases("aten::to.dtype_layout", ALL)
def to_dtype_layout(make):
    yield call(make(2, 3), dtype=torch.float64)
    yield call(make(3, 2).t())
    yield call(make(3, 2).t(), copy=True)


@cases("aten::to.other aten::type_as", ALL)
def to_other(make):
    yield make(2, 3), make(1, dtype=torch.float64)
    yield make(3, 2).t(), make(1)


@cases("aten::clone aten::detach aten::detach_copy aten::alias aten::alias_copy", ALL)
def clone(make):
    yield from layouts(make)


@cases("aten::clone aten::contiguous", ALL)
def clone_as(make):
    yield from layouts(make)
    yield call(make(3, 2).t(), memory_format=torch.contiguous_format)
    yield call(make(2, 3, 4, 5), memory_format=torch.channels_last)
    yield error(make(2, 3), memory_format=torch.channels_last)


@cases("aten::item aten::_local_scalar_dense", ALL)
def item(make):
    yield make()
    yield make(1, 1)
    yield make(6)[3]
    yield error(make(2), unchecked=True)  # PyTorch's _local_scalar_dense reads the first element
    yield error(make(0))


@cases("aten::is_floating_point", ALL)
def is_floating_point(make):
    yield make(2)


@cases("aten::is_same_size", ALL)
def is_same_size(make):
    yield make(2, 3), make(2, 3)
    yield make(2, 3), make(3, 2)
    yield make(2, 3), make(2, 3, 1)


@cases("aten::copy", ALL)
def functional_copy(make):
    for source in (make.dtype, torch.float32, torch.int64):
        yield make(3, 4), make(4, dtype=source)
        yield make(3, 4).t(), make(3, dtype=source)
        yield make(3, 8)[1:, ::2], make(1, 4, dtype=source)
        yield make(1, 4).expand(3, 4), make(dtype=source)
        yield make(), make(dtype=source), True
        yield make(0, 3), make(3, dtype=source)
    yield error(make(3, 4), make(3))
    yield error(make(4), make(1, 4))


@cases("aten::sym_size.int aten::sym_stride.int", [torch.float32, torch.int64])
def sym_size(make):
    for dim in (0, 1, -1, -2):
        yield make(2, 3), dim
        yield make(4, 3).t()[1:], dim
        yield make(1, 3).expand(2, 3), dim
        yield make(0, 3), dim
    yield error(make(2, 3), 2)
    yield error(make(2, 3), -3)
    yield error(make(), 0)


@cases("aten::sym_numel aten::sym_storage_offset", [torch.float32, torch.int64])
def sym_numel(make):
    for x in (make(2, 3), make(4, 5)[1:, ::2], make(), make(0, 3), make(1, 3).expand(5, 3)):
        yield x


@cases("aten::sym_is_contiguous", [torch.float32, torch.int64])
def sym_is_contiguous(make):
    x, y = make(2, 3, 4, 5), make(2, 3, 4, 5, 2)
    for format in (torch.contiguous_format, torch.channels_last, torch.channels_last_3d, torch.preserve_format):
        for tensor in (make(2, 3), make(2, 3).t(), make(), make(0, 3), x, x.contiguous(memory_format=torch.channels_last),
                       x.transpose(1, 2), x[:, :1], x[:0], y, y.contiguous(memory_format=torch.channels_last_3d)):
            yield tensor, format
    yield make(2, 3)


@cases("aten::size.int", [torch.float32])
def size(make):
    yield make(2, 3), 0
    yield make(2, 3), -1
    yield error(make(2, 3), 2)
    yield error(make(), 0)


@cases("aten::empty_strided", [torch.float32])
def empty_strided(make):
    # Only errors: an empty tensor has no values to compare.
    yield error([2, -3], [3, 1])
    yield error([2, 3], [1])
    yield error([2, 3], [-3, 1])


@cases("aten::empty.memory_format", [torch.float32])
def empty(make):
    yield error([2, -3])
    yield error([2, 3], memory_format=torch.channels_last)


@cases("aten::eye", [torch.float32])
def eye(make):
    for n in [0, 1, 4]:
        yield n,
    for dtype in ALL:
        yield call(3, dtype=dtype)
    yield error(-1)


@cases("aten::eye.m", ALL)
def eye_rectangle(make):
    for n, m in [(3, 5), (5, 3), (0, 4), (1, 1)]:
        yield call(n, m, dtype=make.dtype)
    yield error(-1, 3)
    yield error(3, -1)


@cases("aten::eye.out aten::eye.m_out", ALL)
def eye_out(make, name):
    size = [3] if name == "aten::eye.out" else [3, 4]
    yield call(*size, out=torch.empty(0, dtype=make.dtype))
    yield call(*size, out=make(4, 3).t() if len(size) == 2 else make(3, 6)[:, ::2])


@cases("aten::linspace", ALL[:-3] + COMPLEX)
def linspace(make):
    for steps in [0, 1, 2, 3, 7, 50]:
        yield call(-3, 10, steps, dtype=make.dtype) if make.dtype != torch.uint8 else call(3, 10, steps, dtype=make.dtype)
    yield call(10, 3, 4, dtype=make.dtype)
    yield call(0.5, 9.25, 5, dtype=make.dtype)
    yield call(2, 2, 3)
    yield error(0, 1, -1, dtype=make.dtype)


@cases("aten::linspace.out", [torch.float32, torch.float64])
def linspace_out(make):
    yield call(0, 9, 5, out=torch.empty(0, dtype=make.dtype))
    yield call(0, 9, 5, out=make(10)[::2])
    yield call(0, 9, 6, out=make(2, 3))


@cases("aten::logspace", FLOATS + [torch.int64, torch.complex64])
def logspace(make):
    for steps in [0, 1, 2, 5]:
        yield call(0, 3, steps, dtype=make.dtype)
    yield call(0, 4, 5, 2.0, dtype=make.dtype)
    yield call(3, 0.5, 3, 4.0, dtype=make.dtype)
    yield error(0, 1, -1, dtype=make.dtype)


@cases("aten::logspace.out", [torch.float32, torch.float64])
def logspace_out(make):
    yield call(0, 2, 5, out=torch.empty(0, dtype=make.dtype))
    yield call(0, 2, 5, 2.0, out=make(10)[::2])


@cases("aten::arange.out", REALS)
def arange_end_out(make):
    yield call(5, out=torch.empty(0, dtype=make.dtype))
    yield call(5, out=make(10)[::2])
    yield error(-1, out=torch.empty(0, dtype=make.dtype))


@cases("aten::arange.start_step", [torch.float32, torch.float64, torch.int64])
def arange_long(make):
    yield call(0, 200000, 3, dtype=make.dtype)


@cases("aten::tril_indices aten::triu_indices", [torch.int64])
def triangle_indices(make):
    for offset in [0, 1, -1, 3, -3, 10, -10]:
        yield 3, 4, offset
        yield 4, 3, offset
    yield 0, 3
    yield 3, 0
    yield call(3, 3, dtype=torch.int32)
    yield error(-1, 3)
    yield error(3, -1)


@cases("aten::zeros.out aten::ones.out", ALL)
def filled_out(make):
    yield call([2, 3], out=torch.empty(0, dtype=make.dtype))
    yield call([2, 3], out=make(3, 2).t())
    yield call([0], out=make(3))
    yield error([-1], out=make(3))


@cases("aten::full.out", ALL)
def full_out(make):
    yield call([2, 3], 2, out=torch.empty(0, dtype=make.dtype))
    yield call([2, 3], 1, out=make(3, 2).t())
    yield error([-1], 1, out=make(3))


@cases("aten::new_zeros aten::new_ones", ALL)
def new_filled(make):
    yield make(2), [2, 3]
    yield make(2), []
    yield call(make(2), [3], dtype=torch.float64)
    yield error(make(2), [-1])


@cases("aten::new_full", ALL)
def new_full(make):
    yield make(2), [2, 3], 2
    yield call(make(2), [3], 1.5, dtype=torch.float64)
    yield error(make(2), [-1], 2)


@cases("aten::new_empty", [torch.float32])
def new_empty(make):
    yield make(2), [0, 3]
    yield error(make(2), [-1])


@cases("aten::fill.Scalar", ALL)
def fill_number(make):
    for x in layouts(make):
        yield x, 1
    yield make(2, 3), 2.5
    yield make(2, 3), True
    yield make(300, 200), 3


@cases("aten::fill.Tensor", ALL)
def fill_tensor(make):
    yield make(2, 3), make()
    yield make(3, 2).t(), make(dtype=torch.int64, low=0, high=5)
    yield error(make(2, 3), make(1))


@cases("aten::fill_diagonal_", [torch.float32, torch.float64, torch.complex64, torch.int64, torch.bool])
def fill_diagonal(make):
    for wrap in (False, True):
        for sizes in ((3, 3), (2, 5), (5, 2), (7, 2), (8, 2), (4, 3), (5, 1), (3, 3, 3), (0, 3), (3, 0), (2, 2, 2, 2)):
            yield make(*sizes), make.scalar(), wrap
    yield make(4, 3).t(), 2
    yield make(6, 8)[::2, 1::2], 1
    yield error(make(3), 1)
    yield error(make(), 1)
    yield error(make(2, 2, 3), 1)


@cases("aten::zero", ALL)
def zero(make):
    yield from layouts(make)
    yield make(300, 200)
    yield make(300, 400)[:, ::2]
