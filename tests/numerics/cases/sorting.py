"""Sorting, searching and scans."""

import math

import torch

from generator import ALL, BOOL, COMPLEX, FLOATS, INTS, REALS, call, cases, error


def lines(make):
    """Yields tensors with a dimension to operate along."""
    yield make(7), 0
    yield make(3, 5), -1
    yield make(3, 5), 0
    yield make(5, 3).t(), 0
    yield make(4, 6)[1:, ::2], 1
    yield make(2, 3, 4), 1
    yield make(2, 3, 4).permute(2, 0, 1), -2
    yield make(3, 1, 4).expand(3, 2, 4), 2
    yield make(1, 3), 0
    yield make(), 0
    yield make(), -1
    yield make(0), 0
    yield make(2, 0, 3), 2
    yield make(2, 0, 3), 1


def long_lines(make):
    """Yields tensors for each sorting algorithm: rows of few, of some hundred and of many thousand elements."""
    for count in [33, 250, 3000, 20000]:
        yield make(count)


def distinct(make, *sizes):
    """Returns elements that all differ, so that each one's original position is clear."""
    count = math.prod(sizes)
    order = torch.randperm(count, generator=make.generator)
    if make.dtype.is_floating_point:
        return (order.double() * 0.75 - count / 3).to(make.dtype).view(sizes)
    return (order - (0 if make.dtype == torch.uint8 else count // 2)).to(make.dtype).view(sizes)


class Distinct:
    """Makes tensors whose elements all differ: without stable=True PyTorch may put equal ones in any order."""

    def __init__(self, make):
        self.make = make

    def __call__(self, *sizes):
        return distinct(self.make, *sizes)


@cases("aten::sort", REALS)
def sort(make):
    for descending in [False, True]:
        for x, dim in lines(Distinct(make)):
            yield x, dim, descending
        yield call(distinct(make, 3, 5), descending=descending)
    yield error(make(3), 1)
    yield error(make(3), -2)


@cases("aten::sort", COMPLEX)
def sort_complex(make):
    yield error(make(3))


@cases("aten::sort.stable", REALS + BOOL)
def sort_stable(make):
    for descending in [False, True]:
        for x, dim in lines(make):
            yield call(x, stable=True, dim=dim, descending=descending)
        yield call(make.special(), stable=True, descending=descending)
        if make.dtype in [torch.float32, torch.int64, torch.bfloat16]:
            for x in long_lines(make):
                yield call(x, stable=True, descending=descending)
    for x in long_lines(make):
        yield call(x, stable=True)
    yield call(make(3, 40), stable=True, dim=0, descending=True)
    if make.dtype.is_floating_point:
        zeros = torch.tensor([0.0, -0.0, math.nan, -0.0, 1.0, 0.0, math.nan, -math.inf]).to(make.dtype)
        yield call(zeros, stable=True)
        yield call(zeros, stable=True, descending=True)
    yield call(distinct(make, 9) if make.dtype != torch.bool else make(1), stable=False)


@cases("aten::msort aten::argsort", REALS)
def msort(make):
    for x, dim in lines(Distinct(make)):
        yield x


@cases("aten::argsort", REALS)
def argsort(make):
    for x, dim in lines(Distinct(make)):
        yield x, dim, True
    yield error(make(3), 1)


@cases("aten::argsort.stable", REALS + BOOL)
def argsort_stable(make):
    for x, dim in lines(make):
        yield call(x, stable=True, dim=dim)
        yield call(x, stable=True, dim=dim, descending=True)


@cases("aten::topk", REALS)
def topk(make):
    for largest in [True, False]:
        for x, dim in [(distinct(make, 7), 0), (distinct(make, 3, 5), -1), (distinct(make, 5, 3).t(), 1),
                       (distinct(make, 4, 6)[1:, ::2], 0), (distinct(make, 2, 3, 4), 1)]:
            for k in [0, 1, x.shape[dim] - 1, x.shape[dim]]:
                yield x, k, dim, largest
        yield make(), 1, 0, largest
        yield make(), 0, 0, largest
        yield make(0), 0, 0, largest
        if make.dtype in [torch.float32, torch.float64, torch.int64, torch.int32, torch.int16]:
            x = distinct(make, 3000)
            for k in [1, 10, 300, 1500]:
                yield x, k, 0, largest
    if make.dtype.is_floating_point:
        x = torch.tensor([1.0, math.nan, 3.0, -math.inf, math.inf, 2.0]).to(make.dtype)
        for k in range(1, 6):
            yield x, k
            yield x, k, -1, False
    yield call(distinct(make, 9), 3)
    yield error(make(3), 4)
    yield error(make(3), -1)
    yield error(make(3), 1, 1)
    yield error(make(), 2)


@cases("aten::median aten::nanmedian", REALS)
def median(make):
    for x, dim in lines(make):
        yield x
    yield make(6)
    yield make(1037)
    if make.dtype.is_floating_point:
        yield torch.tensor([1.0, math.nan, 3.0, 2.0]).to(make.dtype)
        yield torch.tensor([math.nan, math.nan]).to(make.dtype)


@cases("aten::median.dim aten::nanmedian.dim", REALS)
def median_dim(make):
    for x, dim in [(distinct(make, 7), 0), (distinct(make, 6), 0), (distinct(make, 3, 5), -1),
                   (distinct(make, 5, 3).t(), 1), (distinct(make, 4, 6)[1:, ::2], 0), (distinct(make, 2, 3, 4), 1),
                   (make(), 0), (make(0, 3), 1)]:
        yield x, dim
        yield x, dim, True
    if make.dtype.is_floating_point:
        x = torch.tensor([[1.0, math.nan, 3.0], [5.0, 2.0, 3.0]]).to(make.dtype)
        yield x, 1
        yield x, 0
    yield error(make(0, 3), 0)
    yield error(make(3), 1)


@cases("aten::_unique", REALS + BOOL)
def unique(make):
    for inverse in [False, True]:
        for x in [make(9), make(3, 5), make(5, 3).t(), make(4, 6)[1:, ::2], make(), make(0), make(0, 3), make(300)]:
            yield x, True, inverse


@cases("aten::_unique2", REALS + BOOL)
def unique2(make):
    for inverse, counts in [(False, False), (True, False), (False, True), (True, True)]:
        for x in [make(9), make(3, 5), make(5, 3).t(), make(4, 6)[1:, ::2], make(), make(0), make(0, 3), make(300)]:
            yield x, True, inverse, counts


def repeated(make, *sizes):
    """Returns few different values, with many equal neighbours."""
    return (torch.randint(0, 2, sizes, generator=make.generator)).to(make.dtype)


@cases("aten::unique_consecutive", REALS + BOOL)
def unique_consecutive(make):
    for inverse, counts in [(False, False), (True, False), (False, True), (True, True)]:
        for x in [repeated(make, 30), repeated(make, 3, 5), repeated(make, 5, 3).t(), make(), make(0)]:
            yield x, inverse, counts
    for x, dim in [(repeated(make, 9, 2), 0), (repeated(make, 2, 9), 1), (repeated(make, 2, 9, 2), -2),
                   (repeated(make, 9), 0), (make(0, 3), 0)]:
        yield x, True, True, dim
    for dim in (0, -1):
        yield repeated(make, 9), False, False, dim
    yield error(make(3), False, False, 1)
    yield error(make(2, 0), False, False, 0)


@cases("aten::unique_dim", REALS + BOOL)
def unique_dim(make):
    for x, dim in [(repeated(make, 9, 2), 0), (repeated(make, 2, 9), 1), (repeated(make, 2, 9, 2), -2),
                   (repeated(make, 2, 2, 9), 2), (repeated(make, 9), 0), (repeated(make, 9, 3).t(), 1), (make(0, 3), 0)]:
        yield x, dim, True, True, True
        yield x, dim
    yield error(make(2, 0), 0)
    yield error(make(3), 1)
    yield error(make(), 0)


def ascending(make, *sizes):
    return make(*sizes).sort().values


@cases("aten::searchsorted.Tensor", REALS)
def searchsorted(make):
    for right in [False, True]:
        for out_int32 in [False, True]:
            yield call(ascending(make, 9), make(5), right=right, out_int32=out_int32)
            yield call(ascending(make, 3, 9), make(3, 4), right=right, out_int32=out_int32)
        bounds = ascending(make, 9)
        yield call(bounds, bounds, right=right)
        yield call(bounds, make(2, 3), right=right)
        yield call(bounds, make(), right=right)
        yield call(ascending(make, 5, 4).t().contiguous().t(), make(5, 6)[:, ::2], right=right)
        yield call(make(0), make(3), right=right)
        yield call(bounds, make(0), right=right)
    yield call(ascending(make, 9), make(5), side="left")
    yield call(ascending(make, 9), make(5), side="right")
    x = make(3, 9)
    yield call(x, make(3, 4), sorter=x.argsort())
    if make.dtype.is_floating_point:
        yield call(ascending(make, 5), torch.tensor([math.nan, math.inf, -math.inf]).to(make.dtype))
    yield call(torch.tensor([1, 3, 5]), make(4))
    yield error(make(5), make(3), right=True, side="left")
    yield error(make(5), make(3), side="middle")
    yield error(make(3, 5), make(2, 4))
    yield error(make(3, 5), make(3))
    yield error(make(3, 5), make())
    yield error(make(), make(3))
    yield error(make(5), make(3), sorter=torch.tensor([0, 1]))
    yield error(make(2), make(3), sorter=torch.tensor([0.0, 1.0]))
    yield error(make(2), make(3), sorter=torch.tensor([0, 2]))


@cases("aten::searchsorted.Scalar", REALS)
def searchsorted_number(make):
    for right in [False, True]:
        yield call(ascending(make, 9), 2, right=right)
        yield call(ascending(make, 9), 1.5, right=right, out_int32=True)
    yield error(make(3, 5), 2)


@cases("aten::bucketize.Tensor", REALS)
def bucketize(make):
    for right in [False, True]:
        for out_int32 in [False, True]:
            yield call(make(2, 5), ascending(make, 9), right=right, out_int32=out_int32)
        yield call(make(5, 3).t(), ascending(make, 18)[::2], right=right)
        yield call(make(), ascending(make, 9), right=right)
        yield call(make(0), ascending(make, 9), right=right)
    yield make(4), torch.tensor([1.5, 2.5])
    yield error(make(4), make(2, 3))


@cases("aten::bucketize.Scalar", REALS)
def bucketize_number(make):
    for right in [False, True]:
        yield call(2, ascending(make, 9), right=right)
        yield call(1.5, ascending(make, 9), right=right, out_int32=True)
    yield error(2, make(2, 3))


@cases("aten::cumsum", ALL)
def cumsum(make):
    for x, dim in lines(make):
        # PyTorch refuses to write a complex 0-dim tensor to a real out=, but not one with dimensions.
        if x.dim() > 0 or not make.dtype.is_complex:
            yield x, dim
    yield make(1037), 0
    yield make(1003, 5), 0
    for dtype in [torch.float64, torch.int64, torch.complex64, torch.float32, torch.int16]:
        if dtype.is_complex or not make.dtype.is_complex:
            yield call(make(3, 4), 1, dtype=dtype)
    yield error(make(3), 1)
    yield error(make(3), -2)


@cases("aten::cumprod", ALL, low=-1.5, high=1.5)
def cumprod(make):
    for x, dim in lines(make):
        # PyTorch refuses to write a complex 0-dim tensor to a real out=, but not one with dimensions.
        if x.dim() > 0 or not make.dtype.is_complex:
            yield x, dim
    yield make(23), 0
    for dtype in [torch.float64, torch.int64, torch.complex64, torch.float32, torch.int16]:
        if dtype.is_complex or not make.dtype.is_complex:
            yield call(make(3, 4), 1, dtype=dtype)
    yield error(make(3), 1)


@cases("aten::cummax aten::cummin", REALS + BOOL)
def cumulative_extremes(make):
    for x, dim in lines(make):
        yield x, dim
    yield make(300), 0
    if make.dtype.is_floating_point:
        yield torch.tensor([1.0, 3.0, math.nan, 5.0, math.nan, 2.0]).to(make.dtype), 0
    yield error(make(3), 1)


@cases("aten::logcumsumexp", FLOATS + COMPLEX)
def logcumsumexp(make):
    for x, dim in lines(make):
        yield x, dim
    yield make(300), 0
    inf = math.inf
    yield torch.tensor([-inf, -inf, 1.0, 2.0, inf, 3.0, inf]).to(make.dtype), 0
    yield torch.tensor([-inf, 1.0, math.nan, 2.0]).to(make.dtype), 0
    yield torch.tensor([-1000.0, 1000.0, 999.0]).to(make.dtype), 0
    yield error(make(3), 1)


@cases("aten::diff", ALL, upcast=False)
def diff(make):
    for x, dim in [(make(7), 0), (make(3, 5), -1), (make(5, 3).t(), 0), (make(4, 6)[1:, ::2], 1), (make(2, 3, 4), 1),
                   (make(1), 0)]:
        for n in [0, 1, 2, 9]:
            yield x, n, dim
    yield make(3, 4), 1, 0, make(1, 4)
    yield make(3, 4), 1, 0, None, make(2, 4)
    yield make(3, 4), 2, 1, make(3, 1), make(3, 1)
    yield make(3, 4)
    yield error(make())
    yield error(make(3), -1)
    yield error(make(3, 4), 1, 0, make(1, 3))
    yield error(make(3, 4), 1, 0, make(4))
    yield error(make(3), 1, 1)


@cases("aten::diff", ALL, forms=False)
def diff_of_nothing(make):
    """PyTorch refuses the out= form of some of these calls."""
    for n in [0, 1, 2]:
        yield make(0), n, 0
        yield make(2, 0), n, 1
