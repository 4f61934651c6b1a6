"""Operators that join, repeat, flip, select from and pad tensors."""

import torch

from generator import ALL, call, cases, error

SOME = [torch.float32, torch.int64, torch.bool, torch.bfloat16, torch.complex64]


@cases("aten::cat", ALL)
def cat(make):
    yield [make(2, 3), make(1, 3)],
    yield [make(2, 3), make(2, 1)], 1
    yield [make(2, 3), make(2, 1)], -1
    yield [make(3, 2).t(), make(4, 6)[:, ::2]],
    yield [make(2, 3)],
    yield [make(0), make(2, 3)], 1
    yield [make(0, 3), make(2, 3)],
    yield [make(2, 3), make(2, 3, dtype=torch.float32), make(1, 3, dtype=torch.int64)],
    yield [make(2, 3, 4, 2).contiguous(memory_format=torch.channels_last)] * 2, 1
    yield error([])
    yield error([make(2, 3), make(3, 2)])
    yield error([make(2, 3), make(3)])
    yield error([make(), make()])
    yield error([make(2, 3), make(2, 3)], 2)


@cases("aten::stack", ALL)
def stack(make):
    yield [make(2, 3), make(2, 3)],
    yield [make(2, 3), make(3, 2).t()], 1
    yield [make(2, 3), make(2, 3)], -1
    yield [make(), make(), make()],
    yield [make(0, 2), make(0, 2)], 2
    yield [make(2), make(2, dtype=torch.float64)],
    yield error([])
    yield error([make(2, 3), make(3, 2)])
    yield error([make(2, 3)], 3)


@cases("aten::diag", ALL)
def diag(make):
    for offset in [0, 1, -2]:
        yield make(3), offset
        yield make(3, 4), offset
        yield make(5, 3).t(), offset
    yield make(3), 5
    yield make(0),
    yield make(0, 3),
    yield error(make(2, 3, 4))
    yield error(make())


@cases("aten::diag_embed", SOME)
def diag_embed(make):
    yield make(3),
    yield make(3), 1
    yield make(2, 3), -2
    yield make(2, 3), 0, 0, 2
    yield make(2, 3), 1, 0, -1
    yield make(2, 0),
    yield error(make(2, 3), 0, 1, 1)
    yield error(make(2, 3), 0, 0, 3)


@cases("aten::diagflat", SOME)
def diagflat(make):
    yield make(3),
    yield make(2, 3), 1
    yield make(), -1
    yield make(3, 2).t(),


@cases("aten::trace", ALL)
def trace(make):
    yield make(3, 3)
    yield make(3, 5)
    yield make(5, 3).t()
    yield make(0, 3)
    yield error(make(3))
    yield error(make(2, 3, 3))


@cases("aten::tril aten::triu", ALL)
def triangles(make):
    for diagonal in [0, 1, -1, 5, -5, 2 ** 62, -2 ** 62]:
        yield make(3, 4), diagonal
    yield make(2, 3, 3), 1
    yield make(4, 3).t(), -1
    yield make(4, 8)[:, ::2],
    yield make(0, 3),
    yield make(3, 0),
    yield make(2, 1, 3, 4), 1
    yield error(make(3))
    yield error(make())


@cases("aten::concat", SOME)
def concat(make):
    yield [make(2, 3), make(1, 3)],
    yield [make(2, 3), make(2, 1)], 1
    yield error([])
    yield error([make(2, 3), make(3, 2)])


@cases("aten::concatenate", SOME)
def concatenate(make):
    yield [make(2, 3), make(2, 1)], -1
    yield error([make(2, 3), make(3, 2)])


@cases("aten::hstack aten::vstack aten::row_stack aten::dstack aten::column_stack", SOME)
def stacks(make, name):
    yield [make(3), make(3)],
    yield [make(2, 3), make(2, 3)],
    yield [make(), make()],
    yield [make(2, 3, 2), make(2, 3, 2)],
    yield [make(3, 2).t(), make(2, 3, dtype=torch.float64)],
    yield [make(0, 2), make(0, 2)],
    yield error([])
    yield error([make(2, 3), make(4, 5)])


@cases("aten::cat", SOME)
def cat_more(make):
    last = torch.channels_last
    yield [make(2, 3, 4, 2).contiguous(memory_format=last), make(2, 3, 4, 2)], 0
    yield [make(2, 3, 4, 5).permute(0, 3, 1, 2)] * 3, 2
    yield [make(200, 300), make(100, 300)],
    yield [make(200, 30), make(200, 170)], 1
    yield [make(1), make(2)],
    x = make(2, 3)
    yield [x, x, x],


@cases("aten::meshgrid", SOME)
def meshgrid(make):
    yield [make(2), make(3)],
    yield [make(2), make(), make(4)],
    yield [make(3)],
    yield [make(0), make(3)],
    yield error([])
    yield error([make(2, 3)])
    yield error([make(2), make(3, dtype=torch.float64)])


@cases("aten::meshgrid.indexing", SOME)
def meshgrid_indexing(make):
    for indexing in ["ij", "xy"]:
        yield call([make(2), make(3)], indexing=indexing)
        yield call([make(2), make(3), make(4)], indexing=indexing)
        yield call([make(2)], indexing=indexing)
    yield error([make(2), make(3)], indexing="yx")


@cases("aten::flip", ALL)
def flip(make):
    yield make(5), [0]
    yield make(3, 4), [0, 1]
    yield make(3, 4), [-1]
    yield make(2, 3, 4), [1]
    yield make(2, 3, 4), [2, 0]
    yield make(3, 4), []
    yield make(4, 3).t(), [1]
    yield make(4, 6)[:, ::2], [0, 1]
    yield make(3, 1).expand(3, 4), [0]
    yield make(0, 3), [1]
    yield make(), [0]
    yield make(300, 217), [1]
    yield make(2, 3, 4, 2).contiguous(memory_format=torch.channels_last), [1, 3]
    yield error(make(3, 4), [2])
    yield error(make(3, 4), [0, -2])


@cases("aten::fliplr aten::flipud", SOME)
def flips(make, name):
    yield make(3, 4)
    yield make(2, 3, 4)
    yield error(make(3) if name.endswith("lr") else make())


@cases("aten::roll", SOME)
def roll(make):
    yield make(7), [2]
    yield make(7), [-3], [0]
    yield make(3, 4), [5]
    yield make(3, 4), [1, -1], [0, 1]
    yield make(3, 4), [2, 3], [1, 1]
    yield make(4, 3).t(), [2], [-1]
    yield make(3, 4), [2 ** 62], [1]
    yield make(3, 4), [-2 ** 62], [1]
    yield make(0, 3), [1], [0]
    yield make(2, 0), [1]
    yield make(), [1]
    yield error(make(3, 4), [])
    yield error(make(3, 4), [1, 2])
    yield error(make(3, 4), [1], [0, 1])
    yield error(make(3, 4), [1], [2])


@cases("aten::rot90", SOME)
def rot90(make):
    for k in [0, 1, 2, 3, 4, -1, -6]:
        yield make(3, 4), k
    yield make(2, 3, 4), 1, [0, 2]
    yield make(2, 3, 4), 3, [-1, 0]
    yield make(4, 3).t(), 1
    yield error(make(3), 1)
    yield error(make(3, 4), 1, [0])
    yield error(make(3, 4), 1, [0, 0])
    yield error(make(3, 4), 1, [0, 2])


@cases("aten::repeat", ALL)
def repeat(make):
    yield make(2, 3), [2, 2]
    yield make(3), [4, 2]
    yield make(2, 3), [2, 1, 3]
    yield make(), [3]
    yield make(), []
    yield make(3, 2).t(), [1, 2]
    yield make(3, 1).expand(3, 4), [2, 1]
    yield make(2, 3), [0, 2]
    yield make(0, 3), [2, 2]
    yield make(1, 300), [200, 1]
    yield make(300, 1), [1, 200]
    yield error(make(2, 3), [2])
    yield error(make(2, 3), [2, -1])


@cases("aten::tile", SOME)
def tile(make):
    yield make(2, 3), [2]
    yield make(2, 3), [2, 2]
    yield make(3), [2, 1, 2]
    yield make(2, 3), []
    yield make(), [2]
    yield error(make(2, 3), [-1])


@cases("aten::repeat_interleave.self_int", SOME)
def repeat_interleave_int(make):
    yield make(2, 3), 2
    yield make(2, 3), 3, 0
    yield make(2, 3), 2, -1
    yield make(3, 2).t(), 2, 1
    yield make(), 3
    yield make(2, 3), 0, 1
    yield make(0, 3), 2, 0
    yield call(make(2, 3), 2, 1, output_size=6)
    yield error(make(2, 3), -1)
    yield error(make(2, 3), 2, 2)


@cases("aten::repeat_interleave.self_Tensor", SOME)
def repeat_interleave_tensor(make):
    yield make(2, 3), torch.tensor([1, 0, 2]), 1
    yield make(3, 2), torch.tensor([1, 0, 2], dtype=torch.int32), 0
    yield make(2, 2), torch.tensor([1, 0, 2, 3])
    yield make(2, 3), torch.tensor([2]), 1
    yield make(2, 3), torch.tensor(2), 0
    yield call(make(3), torch.tensor([1, 0, 2]), 0, output_size=3)
    yield error(make(2, 3), torch.tensor([1, 2]), 1)
    yield error(make(2, 3), torch.tensor([1, -1, 2]), 1)
    yield error(make(2, 3), torch.tensor([[1, 1, 2]]), 1)
    yield error(make(2, 3), torch.tensor([1.0, 1, 2]), 1)


@cases("aten::repeat_interleave.Tensor", [torch.int64, torch.int32])
def repeat_interleave(make):
    yield torch.tensor([1, 0, 3], dtype=make.dtype)
    yield torch.tensor([], dtype=make.dtype)
    yield call(torch.tensor([2, 2], dtype=make.dtype), output_size=4)
    yield error(torch.tensor([1, -1], dtype=make.dtype))
    yield error(torch.tensor(3, dtype=make.dtype))


@cases("aten::slice_scatter", SOME)
def slice_scatter(make):
    yield make(6, 3), make(2, 3), 0, 1, 3
    yield make(6, 3), make(6, 3)
    yield make(6, 3), make(3, 3), 0, 0, 6, 2
    yield make(3, 6).t(), make(6, 1), -1, 1, 2
    yield make(6, 3), make(2, 3, dtype=torch.float32), 0, -2
    yield error(make(6, 3), make(3, 3), 0, 1, 3)
    yield error(make(6, 3), make(3, 3), 2)


@cases("aten::select_scatter", SOME)
def select_scatter(make):
    yield make(6, 3), make(3), 0, 1
    yield make(6, 3), make(6), -1, -1
    yield make(3, 6).t(), make(6), 1, 0
    yield error(make(6, 3), make(2), 0, 1)
    yield error(make(6, 3), make(3), 0, 6)


@cases("aten::diagonal_scatter", SOME)
def diagonal_scatter(make):
    yield make(4, 3), make(3)
    yield make(4, 3), make(2), 1
    yield make(3, 4).t(), make(3), -1
    yield make(2, 3, 4), make(3, 2), 0, 0, 2
    yield make(4, 6)[:, ::2], make(3)
    yield error(make(4, 3), make(4))


@cases("aten::as_strided_scatter", SOME)
def as_strided_scatter(make):
    yield make(12), make(2, 2), [2, 2], [4, 1]
    yield make(12), make(2, 2), [2, 2], [4, 1], 3
    yield make(12)[4:], make(2), [2], [3]
    yield make(12)[4:], make(2), [2], [3], 0
    yield error(make(12), make(3), [2], [1])


@cases("aten::constant_pad_nd", ALL)
def constant_pad(make):
    yield make(2, 3), [1, 2]
    yield make(2, 3), [1, 2, 0, 1], 3
    yield make(2, 3), [-1, 1, 1, -1], 2
    yield make(2, 3), [0, 0]
    yield make(3, 2).t(), [1, 0], 1
    yield make(2, 3, 4, 2).contiguous(memory_format=torch.channels_last), [1, 1], 1
    yield make(0, 3), [1, 1, 1, 0], 1
    yield make(2, 3), [-1, -2]
    yield make(2, 3), []
    yield error(make(2, 3), [1])
    yield error(make(2, 3), [1, 1, 1, 1, 1, 1])
    yield error(make(2, 3), [-2, -2])


def pad1d(make, name):
    yield make(2, 5), [1, 2]
    yield make(2, 3, 5), [4, 0]
    yield make(2, 3, 5), [-1, 3]
    yield make(5, 2).t(), [1, 1]
    yield make(0, 3, 5), [1, 1]
    yield make(2, 3, 5), [-2, -2]
    yield error(make(5), [1, 1])
    yield error(make(2, 5), [1])
    yield error(make(2, 5), [-3, -2])
    yield error(make(2, 0), [1, 1])
    if name.startswith("aten::reflection"):
        yield error(make(2, 5), [5, 0])
        yield error(make(2, 5), [0, 5])


cases("aten::reflection_pad1d", SOME, out_dtypes=False)(pad1d)
cases("aten::replication_pad1d", SOME, out_dtypes=False)(pad1d)


# PyTorch changes the strides of an out= that fits, so they are not compared.
def pad2d(make, name):
    yield make(2, 4, 5), [1, 2, 3, 0]
    yield make(2, 3, 4, 5), [4, 0, 1, 1]
    yield make(2, 3, 4, 5), [-1, 3, 2, -2]
    yield make(2, 5, 4).transpose(1, 2), [1, 1, 1, 1]
    yield make(0, 3, 4, 5), [1, 1, 1, 1]
    yield make(2, 3, 40, 50), [10, 12, 13, 14]
    yield error(make(4, 5), [1, 1, 1, 1])
    yield error(make(2, 4, 5), [1, 1])
    yield error(make(2, 0, 5), [1, 1, 1, 1])
    if name.startswith("aten::reflection"):
        yield error(make(2, 4, 5), [5, 0, 0, 0])
        yield error(make(2, 4, 5), [0, 0, 0, 4])


cases("aten::reflection_pad2d", SOME, out_dtypes=False, strides=False)(pad2d)
cases("aten::replication_pad2d", SOME, out_dtypes=False, strides=False)(pad2d)


def pad3d(make, name):
    yield make(2, 3, 4, 5), [1, 2, 2, 0, 1, 1]
    yield make(2, 3, 3, 4, 5), [4, 0, 1, 1, 0, 2]
    yield make(2, 3, 3, 4, 5), [-1, 3, 2, -2, -1, 0]
    yield make(2, 5, 4, 3).transpose(1, 3), [1, 1, 1, 1, 1, 1]
    yield make(0, 3, 3, 4, 5), [1, 1, 1, 1, 1, 1]
    yield error(make(3, 4, 5), [1, 1, 1, 1, 1, 1])
    yield error(make(2, 3, 4, 5), [1, 1, 1, 1])
    yield error(make(2, 3, 0, 5), [1, 1, 1, 1, 1, 1])
    if name.startswith("aten::reflection"):
        yield error(make(2, 3, 4, 5), [0, 0, 0, 0, 3, 0])


cases("aten::reflection_pad3d", SOME, out_dtypes=False, strides=False)(pad3d)
cases("aten::replication_pad3d", SOME, out_dtypes=False, strides=False)(pad3d)


@cases("aten::pad", [torch.float32, torch.float64, torch.int64, torch.complex64], unsupported="skip")
def pad(make):
    yield make(2, 3), [1, 2]
    yield call(make(2, 3), [1, 2], "constant", 2.0)
    for mode in ["reflect", "replicate", "circular"]:
        yield make(2, 3, 5), [1, 2], mode
        yield make(2, 3, 4, 5), [1, 2, 3, 0], mode
        yield make(2, 3, 4, 5, 6), [1, 2, 0, 1, 2, 1], mode
        yield error(make(2, 3, 5), [1, 2, 3, 4, 5], mode)
        yield error(make(5), [1, 2], mode)
    yield make(2, 3, 4, 5), [2, -1, -2, 1], "circular"
    yield error(make(2, 3, 5), [6, 0], "circular")
    yield error(make(2, 3), [1, 2], "mirror")
    yield error(make(2, 3, 5), [1, 2], "reflect", 2.0)
    yield error(make(2, 3), [1])


@cases("aten::pixel_shuffle", SOME)
def pixel_shuffle(make):
    yield make(8, 2, 3), 2
    yield make(2, 9, 2, 3), 3
    yield make(2, 1, 4, 2, 3), 2
    yield make(3, 2, 8).permute(2, 1, 0), 2
    yield make(3, 2, 3), 1
    yield make(0, 4, 2, 3), 2
    yield error(make(6, 2, 3), 2)
    yield error(make(2, 3), 1)
    yield error(make(4, 2, 3), 0)
    yield error(make(4, 2, 3), -2)


@cases("aten::pixel_unshuffle", SOME)
def pixel_unshuffle(make):
    yield make(2, 4, 6), 2
    yield make(2, 1, 6, 3), 3
    yield make(2, 2, 1, 4, 6), 2
    yield make(6, 4, 2).permute(2, 1, 0), 2
    yield error(make(2, 5, 6), 2)
    yield error(make(2, 4, 5), 2)
    yield error(make(4, 6), 2)
    yield error(make(2, 4, 6), 0)


@cases("aten::is_complex", ALL)
def is_complex(make):
    yield make(2)


@cases("aten::is_nonzero", ALL)
def is_nonzero(make):
    yield make()
    yield make(1, 1)
    yield torch.zeros(1, dtype=make.dtype)
    yield torch.ones((), dtype=make.dtype)
    yield error(make(2))
    yield error(make(0))


@cases("aten::_pad_circular", [torch.float32, torch.int64, torch.bool])
def pad_circular(make):
    yield make(2, 3, 5), [2, 1]
    yield make(2, 3, 4, 5), [2, -1, -2, 1]
    yield make(2, 3, 2, 4, 5).transpose(3, 4), [1, 1, 0, 2, 1, 0]
    yield error(make(2, 3, 5), [6, 0])
    yield error(make(2, 3, 5), [1, 1, 1, 1], unchecked=True)
