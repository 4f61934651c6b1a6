"""Operators that read or write elements selected by indices or masks."""

import torch

from generator import ALL, BOOL, COMPLEX, FLOATS, INTS, REALS, call, cases, error

kIndexTypes = [torch.int64, torch.int32]


def ints(*values, dtype=torch.int64):
    return torch.tensor(values, dtype=dtype)


def places(make, of, dim, count=None):
    """Returns an index for gather or scatter into [of]; other dimensions longer than 2 are one shorter."""
    sizes = [max(1, size - 1) if size > 2 else size for size in of.shape]
    if of.dim() > 0:
        sizes[dim] = count or of.shape[dim]
    below = of.shape[dim] if of.dim() > 0 else 1
    return make.indices(*sizes, below=max(below, 1))


def distinct_places(make, of, dim):
    """Like places(), without duplicates along [dim], so that the order of writing does not matter."""
    sizes = list(of.shape)
    if not sizes:
        return torch.tensor(0)
    order = torch.rand(sizes, generator=make.generator).argsort(dim)
    return order.narrow(dim, 0, max(1, sizes[dim] - 1))


def operands(make):
    """Yields tensors with one of their dimensions."""
    yield make(5), 0
    yield make(3, 4), 0
    yield make(3, 4), -1
    yield make(4, 3).t(), 1
    yield make(4, 6)[1:, ::2], 0
    yield make(2, 3, 4), 1
    yield make(2, 3, 4).permute(2, 0, 1), -2
    yield make(1, 3), 0
    yield make(), 0


@cases("aten::gather", ALL)
def gather(make):
    for x, dim in operands(make):
        yield x, dim, places(make, x, dim)
    yield make(3, 4), 0, make.indices(7, 2, below=3)
    yield make(3, 4), 1, make.indices(4, 3, below=4).t()
    yield make(5), 0, torch.tensor(2)
    yield make(), 0, ints(0, 0, 0)
    yield make(3, 4), 0, make.indices(0, 4, below=1)
    yield make(0, 4), 0, make.indices(0, 3, below=1)
    yield make(2000, 3), 0, make.indices(1500, 3, below=2000)
    yield error(make(3, 4), 0, ints(0, 1))
    yield error(make(3, 4), 1, ints(0, 1).view(1, 2) + 3)
    yield error(make(3, 4), 1, ints(-1).view(1, 1))
    yield error(make(3, 4), 0, make.indices(2, 5, below=3))
    yield error(make(3, 4), 2, make.indices(2, 2, below=3))
    yield make(3, 4), 0, make.indices(2, 2, below=3, dtype=torch.int32)
    yield error(make(3, 4), 0, torch.tensor([[0.0]]))
    yield error(make(3, 4), 0, make.indices(2, 2, below=3, dtype=torch.int16))
    yield error(make(0), 0, ints(0))


def scatter_operands(make, distinct):
    for x, dim in operands(make):
        yield x, dim, (distinct_places if distinct else places)(make, x, dim)


@cases("aten::scatter.src", ALL)
def scatter(make):
    for x, dim, index in scatter_operands(make, True):
        yield x, dim, index, make(*index.shape)
        yield x, dim, index, make(*[size + 1 for size in index.shape])
    yield make(3, 4), 0, make.indices(0, 4, below=1), make(3, 4)
    yield make(5), 0, torch.tensor(2), make(1)
    yield make(6, 5).t(), 0, ints(4, 1).view(2, 1), make(3, 4).t()
    yield error(make(3, 4), 0, make.indices(2, 2, below=3), make(2, 1))
    yield error(make(3, 4), 0, make.indices(2, 5, below=3), make(2, 5))
    yield error(make(3, 4), 0, ints(3).view(1, 1), make(1, 1))
    yield error(make(3, 4), 0, ints(-1).view(1, 1), make(1, 1))
    yield make(3, 4), 0, ints(0).view(1, 1).int(), make(1, 1)
    yield error(make(3, 4), 0, ints(0).view(1, 1).float(), make(1, 1))
    yield error(make(3, 4), 0, ints(0), make(1))
    yield error(make(3, 4), 2, ints(0).view(1, 1), make(1, 1))
    other = torch.float64 if make.dtype != torch.float64 else torch.float32
    yield error(make(3, 4), 0, ints(0).view(1, 1), make(1, 1, dtype=other))


@cases("aten::scatter.value", ALL)
def scatter_value(make):
    for x, dim, index in scatter_operands(make, False):
        yield x, dim, index, 2
    yield make(3, 4), 0, make.indices(2, 4, below=3), True
    yield make(3, 4), 0, make.indices(2, 4, below=3, dtype=torch.int32), 3
    if make.dtype.is_floating_point or make.dtype.is_complex:
        yield make(3, 4), 0, make.indices(2, 4, below=3), 2.5
    yield error(make(3, 4), 0, ints(3).view(1, 1), 1)
    if not make.dtype.is_complex:
        yield error(make(3, 4), 0, ints(1).view(1, 1), 1j, unchecked=True)


@cases("aten::scatter.reduce", ALL)
def scatter_reduce_named(make):
    for how in ["add", "multiply"]:
        for x, dim, index in scatter_operands(make, False):
            yield call(x, dim, index, make(*index.shape), reduce=how)
    yield error(make(3, 4), 0, make.indices(2, 4, below=3), make(2, 4), reduce="sum")


@cases("aten::scatter.value_reduce", ALL)
def scatter_value_reduce(make):
    for how in ["add", "multiply"]:
        for x, dim, index in scatter_operands(make, False):
            yield call(x, dim, index, 2, reduce=how)
    yield error(make(3, 4), 0, make.indices(2, 4, below=3), 2, reduce="mean")


@cases("aten::scatter_add", ALL)
def scatter_add(make):
    for x, dim, index in scatter_operands(make, False):
        yield x, dim, index, make(*index.shape)
    yield make(3, 4), 1, make.indices(3, 50, below=4), make(3, 50)
    yield make(3, 4), 0, make.indices(2, 4, below=3, dtype=torch.int32), make(2, 4)
    yield make(300, 4), 0, make.indices(2500, 3, below=300), make(2500, 3)
    yield make(40000), 0, make.indices(40000, below=40000), make(40000)
    yield error(make(3, 4), 0, ints(3).view(1, 1), make(1, 1))


def mean_rounds_down(make):
    return not make.dtype.is_floating_point and not make.dtype.is_complex


@cases("aten::scatter_reduce.two", REALS + BOOL)
def scatter_reduce_two(make):
    for how in ["sum", "prod", "mean", "amax", "amin"]:
        if how == "mean" and make.dtype == torch.bool:
            continue
        for include_self in [True, False]:
            for x, dim, index in scatter_operands(make, False):
                yield call(x, dim, index, make(*index.shape), how, include_self=include_self)
    if make.dtype.is_floating_point:
        for how in ["amax", "amin"]:
            src = torch.tensor([1.0, float("nan"), 2.0, -1.0]).to(make.dtype)
            yield call(make(2), 0, ints(0, 0, 0, 1), src, how)
    yield make(3, 4), 0, make.indices(2, 4, below=3, dtype=torch.int32), make(2, 4), "amax"
    yield error(make(3), 0, ints(0), make(1), "median")


@cases("aten::index_select", ALL)
def index_select(make):
    for x, dim in operands(make):
        for dtype in kIndexTypes:
            yield x, dim, make.indices(1 if x.dim() == 0 else 4, below=x.shape[dim] if x.dim() else 1, dtype=dtype)
    yield make(3, 4), 0, torch.tensor(1)
    yield make(3, 4), 0, make.indices(0, below=1)
    yield make(3, 4), 1, make.indices(8, below=4)[::2]
    yield make(3, 0), 0, make.indices(5, below=3)
    yield make(700, 64), 0, make.indices(900, below=700)
    yield error(make(3, 4), 0, ints(3))
    yield error(make(3, 4), 0, ints(-1))
    yield error(make(3, 4), 0, ints(0).view(1, 1))
    yield error(make(3, 4), 2, ints(0))
    yield error(make(3, 4), 0, torch.tensor([0.0]))
    yield error(make(), 0, ints(0, 0))


def slices(make, x, dim, count):
    sizes = list(x.shape)
    if sizes:
        sizes[dim] = count
    return make(*sizes)


@cases("aten::index_add", ALL)
def index_add(make):
    for x, dim in operands(make):
        below = x.shape[dim] if x.dim() else 1
        count = 5 if x.dim() else 1
        for dtype in kIndexTypes:
            yield x, dim, make.indices(count, below=below, dtype=dtype), slices(make, x, dim, count)
        yield call(x, dim, make.indices(count, below=below), slices(make, x, dim, count), alpha=2)
    if make.dtype.is_floating_point or make.dtype.is_complex:
        yield call(make(3, 4), 0, ints(1, 1), make(2, 4), alpha=-0.5)
    else:
        yield error(make(3, 4), 0, ints(1, 1), make(2, 4), alpha=-0.5, unchecked=True)
    yield make(30, 64), 0, make.indices(900, below=30), make(900, 64)
    yield make(3, 4), 0, make.indices(0, below=1), make(0, 4)
    yield error(make(3, 4), 0, ints(3), make(1, 4))
    yield error(make(3, 4), 0, ints(-1), make(1, 4))
    yield error(make(3, 4), 0, ints(0, 1), make(1, 4))
    yield error(make(3, 4), 0, ints(0, 1).view(1, 2), make(2, 4))
    yield error(make(3, 4), 0, torch.tensor([0.0]), make(1, 4))
    yield error(make(3, 4), 0, ints(0), make(1, 3))
    yield error(make(3, 4), 2, ints(0), make(1, 4))


@cases("aten::index_copy", ALL)
def index_copy(make):
    for x, dim in operands(make):
        count = max(1, x.shape[dim] - 1) if x.dim() else 1
        index = make.permutation(x.shape[dim])[:count] if x.dim() else ints(0)
        yield x, dim, index, slices(make, x, dim, count)
    yield make(5), 0, ints(3), make()
    yield make(3, 4), 0, make.indices(0, below=1), make(0, 4)
    yield error(make(3, 4), 0, ints(3), make(1, 4))
    yield error(make(3, 4), 0, ints(0, 1), make(1, 4))
    yield error(make(3, 4), 0, ints(0), make(1, 3))
    yield error(make(3, 4), 0, ints(0).int(), make(1, 4))
    yield error(make(3, 4), 0, ints(0), make(4))
    yield error(make(3, 4), 0, ints(0, 1).view(2, 1), make(2, 4))


@cases("aten::index_fill.int_Scalar", ALL)
def index_fill(make):
    for x, dim in operands(make):
        below = x.shape[dim] if x.dim() else 1
        yield x, dim, make.indices(2, below=below, negative=True), 2
    yield make(3, 4), 0, make.indices(0, below=1), 1
    yield make(3, 4), 0, torch.tensor(1), True
    yield error(make(3, 4), 0, ints(3), 1)
    yield error(make(3, 4), 0, ints(-4), 1)
    yield error(make(3, 4), 0, ints(1).int(), 1)
    yield error(make(3, 4), 0, ints(1).view(1, 1), 1)
    if not make.dtype.is_complex:
        yield error(make(3, 4), 0, ints(1), 1j)


@cases("aten::index_fill.int_Tensor", ALL)
def index_fill_tensor(make):
    yield make(3, 4), 0, ints(0, -1), make()
    yield make(3, 4), 1, ints(0, 2), torch.tensor(3)
    yield error(make(3, 4), 0, ints(0), make(1))


def index_lists(make):
    """Yields tensors with lists of indices."""
    yield make(3, 4), [ints(2, 0, -1)]
    yield make(3, 4), [None, ints(2, 0, 1, 3)]
    yield make(3, 4), [ints(0, 1), ints(1, 3)]
    yield make(3, 4), [make.indices(2, 1, below=3), ints(1, 3)]
    yield make(3, 4), [torch.tensor(1)]
    yield make(3, 4), [torch.tensor([True, False, True])]
    yield make(3, 4), [None, torch.tensor([True, False, True, True])]
    yield make(3, 4), [torch.tensor([1, 0, 1], dtype=torch.uint8)]
    yield make(3, 4), [make.mask(3, 4)]
    yield make(2, 3, 4, 5), [None, make.indices(6, 1, below=3)]
    yield make(2, 3, 4, 5), [None, make.indices(6, 1, below=3), make.indices(2, below=4)]
    yield make(2, 3, 4, 5), [make.indices(2, below=2), None, make.indices(2, below=4)]
    yield make(2, 3, 4, 5), [None, make.indices(3, below=3), None, make.indices(2, 3, below=5)]
    yield make(2, 3, 4), [None, make.mask(3, 4)]
    yield make(5, 3, 4).permute(2, 0, 1), [make.indices(3, 2, below=4)]
    yield make(5, 3, 4).permute(2, 0, 1), [None, make.indices(3, 2, below=5).t()]
    yield make(5, 3, 4).permute(2, 0, 1), [None, make.indices(2, below=5), make.indices(2, below=3)]
    yield make(4, 6)[1:, ::2], [make.indices(4, below=3)]
    yield make(3, 4), [make.indices(0, below=1)]
    yield make(0, 4), [make.indices(0, below=1)]
    yield make(3, 4).t(), [make.indices(2, below=4), make.indices(2, below=3)]


@cases("aten::index.Tensor_out", ALL)
def index_out(make):
    yield call(make(3, 4), [ints(2, 0, -1)], out=make(3, 4))
    yield call(make(3, 4), [None, ints(2, 0)], out=make(2, 3).t())
    yield call(make(3, 4).t(), [ints(2, 0)], out=make(0))
    yield error(make(3, 4), [ints(2, 0)], out=make(2, 4, dtype=torch.float64 if make.dtype != torch.float64 else torch.int8))


@cases("aten::index.Tensor", ALL, forms=False)
def index(make):
    for x, indices in index_lists(make):
        yield x, indices
    yield make(500, 40), [make.indices(1000, below=500)]
    yield error(make(3, 4), [ints(3)])
    yield error(make(3, 4), [ints(-4)])
    yield error(make(3, 4), [ints(0), ints(0), ints(0)])
    yield error(make(3, 4), [ints(0, 1), ints(0, 1, 2)])
    yield error(make(3, 4), [torch.tensor([True, False])])
    yield error(make(3, 4), [torch.tensor([0.0])])
    yield error(make(0, 4), [ints(0)])


@cases("aten::index_put", ALL)
def index_put(make):
    for x, indices in index_lists(make):
        shape = list(torch.ops.aten.index.Tensor(x, indices).shape)
        yield x, indices, make(*shape), True
        # PyTorch refuses a single value at a mask of uint8, and takes several.
        if indices[0] is None or indices[0].dtype != torch.uint8:
            yield x, indices, make()
        if shape and shape[-1] > 0:
            yield x, indices, make(shape[-1]), True
    yield make(5), [ints(3, 1, 4)], make(3)
    yield make(3, 4), [None, ints(3, 1)], make(3, 2)
    yield make(50), [make.indices(3000, below=50)], make(3000), True
    yield error(make(3, 4), [ints(3)], make(4))
    yield error(make(3, 4), [ints(0)], make(3))
    yield error(make(3, 4), [ints(0)], make(4, dtype=torch.float64 if make.dtype != torch.float64 else torch.float32))


@cases("aten::take", ALL)
def take(make):
    for x in [make(3, 4), make(4, 3).t(), make(4, 6)[1:, ::2], make(5), make()]:
        yield x, make.indices(2, 3, below=x.numel(), negative=True)
        yield x, make.indices(6, 2, below=x.numel())[::2]
        yield x, torch.tensor(0)
    yield make(3), make.indices(0, below=1)
    yield make(0), make.indices(0, below=1)
    yield error(make(3), ints(3))
    yield error(make(3), ints(-4))
    yield error(make(0), ints(0))
    yield error(make(3), ints(0).int())


@cases("aten::take_along_dim", ALL)
def take_along_dim(make):
    yield make(3, 4), make.indices(3, 2, below=4), 1
    yield make(3, 4), make.indices(1, 4, below=3), 0
    yield make(3, 1), make.indices(2, 4, below=3), 0
    yield make(1, 4), make.indices(3, 2, below=4), -1
    yield make(3, 4), make.indices(5, below=12)
    yield make(4, 3).t(), make.indices(2, 2, below=12)
    yield make(3, 4), make.indices(3, 2, below=4, negative=True), 1
    yield error(make(3, 4), ints(-1))
    yield error(make(3, 4), make.indices(3, 2, below=4, dtype=torch.int32), 1)
    yield error(make(3, 4), make.indices(3, 2, below=4, dtype=torch.uint8), 1)
    yield make(3, 4), ints(-5, 4).view(1, 2), 1
    yield error(make(3, 4), make.indices(3, below=3), 0)
    yield error(make(3, 4), make.indices(2, 2, below=3), 1)
    yield error(make(3, 4), torch.tensor([[0.0]]), 1)
    yield error(make(3, 4), make.indices(3, 2, below=3), 2)


@cases("aten::embedding", ALL)
def embedding(make):
    yield make(10, 4), make.indices(2, 3, below=10)
    yield make(10, 4), make.indices(5, below=10, dtype=torch.int32)
    yield make(4, 10).t(), torch.tensor(3)
    yield call(make(10, 4), make.indices(5, below=10), padding_idx=0)
    yield make(10, 4), make.indices(0, 3, below=1)
    yield error(make(10), make.indices(3, below=10))
    yield error(make(10, 4), ints(10))
    yield error(make(10, 4), torch.tensor([0.0]))


@cases("aten::one_hot", [torch.int64])
def one_hot(make):
    yield ints(0, 2, 1)
    yield ints(0, 2, 1), 5
    yield make.indices(2, 3, below=4), 4
    yield torch.tensor(1), 3
    yield torch.tensor(1)
    yield make.indices(0, 3, below=1), 4
    yield error(ints(0, -1))
    yield error(ints(0, 2), 2)
    yield error(ints(0, 2), 0)
    yield error(make.indices(0, below=1))
    yield error(ints(0, 1).int())


@cases("aten::nonzero aten::nonzero_numpy aten::argwhere aten::where", ALL)
def nonzero(make):
    for x in [make(3, 4), make(4, 3).t(), make(2, 3, 4), make(4, 6)[1:, ::2], make(57), make(), make(0, 3), make(2, 0)]:
        yield x * make.mask(*x.shape)
    yield torch.ones((), dtype=make.dtype)
    yield torch.zeros((), dtype=make.dtype)


@cases("aten::masked_select", ALL)
def masked_select(make):
    for x in [make(3, 4), make(4, 3).t(), make(4, 6)[1:, ::2], make(57), make(), make(0, 3)]:
        yield x, make.mask(*x.shape)
        yield x, make.mask()
    yield make(3, 4), make.mask(4)
    yield make(4), make.mask(3, 1)
    yield make(3), make.mask(3).to(torch.uint8)
    yield error(make(3, 4), make.mask(3))
    yield error(make(3), ints(0, 1, 1))


@cases("aten::masked_scatter", ALL)
def masked_scatter(make):
    for x in [make(3, 4), make(4, 3).t(), make(4, 6)[1:, ::2], make(57), make(), make(0, 3)]:
        yield x, make.mask(*x.shape), make(max(x.numel(), 1))
        yield x, make.mask(), make(max(x.numel(), 1) + 3)
    yield make(3, 4), make.mask(4), make(12)
    yield error(make(3, 4), make.mask(3), make(12))
    yield error(make(3), torch.tensor([True, True, True]), make(2))
    yield error(make(3), make.mask(3), make(3, dtype=torch.float64 if make.dtype != torch.float64 else torch.float32))


@cases("aten::masked_fill.Scalar", ALL)
def masked_fill(make):
    for x in [make(3, 4), make(4, 3).t(), make(4, 6)[1:, ::2], make(57), make(), make(0, 3)]:
        yield x, make.mask(*x.shape), 1
        yield x, make.mask(), 1
    yield make(3, 4), make.mask(4), 1
    yield error(make(3, 4), make.mask(3), 1)
    yield error(make(3), ints(0, 1, 1), 1)


@cases("aten::masked_fill.Tensor", ALL)
def masked_fill_tensor(make):
    yield make(3, 4), make.mask(3, 4), make()
    yield make(3, 4), make.mask(3, 1), torch.tensor(1)
    yield error(make(3, 4), make.mask(3, 4), make(1))


@cases("aten::bincount", INTS)
def bincount(make):
    values = make.indices(20, below=7, dtype=make.dtype)
    yield values
    yield call(values, minlength=12)
    yield call(values, minlength=3)
    for dtype in [torch.float32, torch.float64, torch.int64, torch.int32]:
        yield values, make(20, dtype=dtype)
    yield make.indices(0, below=1, dtype=make.dtype)
    yield call(make.indices(0, below=1, dtype=make.dtype), minlength=3)
    yield values[::2]
    yield error(values, minlength=-1)
    yield error(values, make(3, dtype=torch.float32))
    yield error(values.view(4, 5))
    if make.dtype != torch.uint8:
        yield error(-1 - values)


@cases("aten::_unsafe_index.Tensor", ALL)
def unsafe_index(make):
    yield make(3, 4), [ints(2, 0, -1)]
    yield make(3, 4).t(), [None, make.indices(2, 2, below=3)]
    yield make(3, 4), [ints(2, 0, dtype=torch.int32), ints(1, -1)]
    yield error(make(3, 4), [ints(3)])
    yield error(make(3, 4), [torch.tensor([True, False, True])])


@cases("aten::_unsafe_index_put", ALL)
def unsafe_index_put(make):
    yield make(3, 4), [ints(2, 0)], make(2, 4)
    yield make(3, 4), [None, ints(2, 0)], make()
    yield make(3, 4), [ints(2, 2, 0), ints(1, 1, -1)], make(3), True
    yield error(make(3, 4), [ints(3)], make(4))


@cases("aten::_unsafe_masked_index", ALL)
def unsafe_masked_index(make):
    inside = torch.tensor([True, False, True])
    yield make(3, 4), inside, [ints(2, 9, -1), ints(3, -7, 0)], 1
    yield make(3, 4), inside.view(3, 1), [ints(2, 9, -1)], 0
    yield make(3, 4), inside, [None, ints(2, 4, 1)], 1
    yield make(0, 4), inside, [ints(2, 9, -1), ints(3, -7, 0)], 1
    yield error(make(3, 4), inside, [ints(2, 9, -1)], 1)


@cases("aten::_unsafe_masked_index_put_accumulate", ALL)
def unsafe_masked_index_put_accumulate(make):
    inside = torch.tensor([True, False, True])
    yield make(3, 4), inside, [ints(2, 9, -1), ints(3, -7, 0)], make(3)
    yield make(3, 4), inside.view(3, 1), [ints(2, 9, -1)], make(3, 4)
    yield make(0, 4), inside, [ints(2, 9, -1), ints(3, -7, 0)], make(3)
