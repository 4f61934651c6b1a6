"""Gradients of distances, traces and matrix exponentials."""

import math

import torch

from generator import ALL, call, cases, error

REALS = [torch.float32, torch.float64]
TYPES = REALS + [torch.complex64, torch.complex128]
SUMS = dict(tolerance={torch.float32: (1e-4, 1e-4)}, reason="sums of quotients, in another order")


def cdist(x1, x2, p):
    """Returns distances that are not made of products, which would lose half the digits."""
    return torch.cdist(x1, x2, p, "donot_use_mm_for_euclid_dist")


@cases("aten::_cdist_backward", REALS, low=-2, high=2, out_dtypes=False, strides=False, **SUMS)
def cdist_backward(make):
    def gradient(x1, x2, p):
        distances = cdist(x1, x2, p)
        return make(*distances.shape), x1, x2, p, distances

    for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf):
        yield gradient(make(4, 3), make(5, 3), p)
        yield gradient(make(2, 4, 3), make(2, 5, 3), p)
        rows = make(3, 2)
        yield gradient(rows, rows.flip(0), p)  # equal rows
    yield gradient(make(2, 1, 4, 3), make(3, 5, 3), 1.5)
    yield gradient(make(3, 4).t(), make(3, 5).t(), 2.0)
    yield gradient(make(130, 40), make(120, 40), 3.0)
    yield make(5, 4).t(), make(4, 3), make(5, 3), 2.0, cdist(make(4, 3), make(5, 3), 2.0)
    for x1, x2 in ((make(0, 3), make(5, 3)), (make(4, 3), make(0, 3)), (make(4, 0), make(5, 0))):
        yield gradient(x1, x2, 2.0)
    yield error(make(4, 5), make(4, 3), make(5, 2), 2.0, make(4, 5), unchecked=True)
    yield error(make(4, 4), make(4, 3), make(5, 3), 2.0, make(4, 5), unchecked=True)
    yield error(make(4, 5), make(4, 3), make(5, 3), 2.0, make(5), unchecked=True)
    yield error(make(4, 5), make(4, 3), make(5, 3), -1.0, make(4, 5), unchecked=True)


@cases("aten::_pdist_backward", REALS, low=-2, high=2, out_dtypes=False, strides=False, **SUMS)
def pdist_backward(make):
    for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf):
        x = make(5, 3)
        yield make(10), x, p, torch.pdist(x, p)
        x = make(2, 3).repeat(2, 1)
        yield make(6), x, p, torch.pdist(x, p)
    x = make(3, 4).t()
    yield make(12)[::2], x.contiguous(), 2.0, torch.pdist(x, 2.0)
    yield error(make(4), make(4, 3), 2.0, make(6), unchecked=True)
    yield error(make(3), make(3), 2.0, make(3), unchecked=True)


@cases("aten::trace_backward", ALL)
def trace_backward(make):
    for sizes in ([3, 3], [2, 4], [4, 2], [0, 3], [0, 0]):
        yield make(), sizes
    yield make(1), [3, 3]
    yield error(make(), [3])
    yield error(make(), [3, 3, 3])


@cases("aten::matrix_exp_backward", TYPES, low=-1, high=1, strides=False,
       tolerance={torch.float32: (1e-4, 1e-4), torch.complex64: (1e-4, 1e-4)}, reason="sums of powers")
def matrix_exp_backward(make):
    yield make(3, 3), make(3, 3)
    yield make(2, 3, 3), make(2, 3, 3)
    yield make(3, 3).t(), make(3, 3)
    yield make(1, 1), make(1, 1)
    yield make(0, 0), make(0, 0)
    yield make(2, 3, 3) * 4, make(2, 3, 3)
    yield error(make(2, 3), make(2, 3))
    yield error(make(3, 3), make(2, 2))
