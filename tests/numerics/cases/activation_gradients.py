"""Gradients of activations, of segments and of what masks write."""

import math

import torch

from generator import COMPLEX, FLOATS, INTS, call, cases, error


def pairs(make):
    """Yields gradients and inputs of several shapes and layouts, also with infinity and NaN."""
    yield make(3, 5), make(3, 5)
    yield make(4, 40), make(4, 40)
    yield make(5, 3).t(), make(3, 5)
    yield make(20), make(2, 20)
    yield make(3, 1).expand(3, 18), make(3, 18)
    yield make(2, 36)[:, ::2], make(2, 18)
    yield make(), make()
    yield make(0, 3), make(0, 3)


def other_float(make):
    return torch.float64 if make.dtype != torch.float64 else torch.float32


@cases("aten::sigmoid_backward aten::tanh_backward", FLOATS + COMPLEX, low=-1, high=1)
def of_results(make):
    yield from pairs(make)
    yield make(3, 4), make(3, 4, dtype=other_float(make))
    yield error(make(2, 3), make(4))


@cases("aten::silu_backward aten::mish_backward aten::hardsigmoid_backward aten::hardswish_backward", FLOATS, low=-5,
       high=5)
def of_inputs(make, name):
    yield from pairs(make)
    if "mish" not in name:
        yield make(5), torch.tensor([-3, 3, -2.5, 2.5, 0], dtype=make.dtype)
    yield error(make(2, 3), make(4))


@cases("aten::gelu_backward", FLOATS, low=-4, high=4)
def gelu_backward(make):
    for gradient, x in pairs(make):
        yield gradient, x
        yield call(gradient, x, approximate="tanh")
    yield error(make(3), make(3), approximate="sigmoid")
    yield make(33), make(33) * 3


@cases("aten::softplus_backward", FLOATS, low=-5, high=5)
def softplus_backward(make):
    for gradient, x in pairs(make):
        yield gradient, x, 1, 20
    yield make(6), make(6), 2.5, 3
    yield make(6), make(6) * 10, -1, 20.0


@cases("aten::log_sigmoid_backward", FLOATS, low=-5, high=5)
def log_sigmoid_backward(make):
    for gradient, x in pairs(make):
        if gradient.shape == x.shape:
            yield gradient, x, torch.exp(-x.float().abs()).to(x.dtype)


@cases("aten::threshold_backward", FLOATS + INTS, low=-5, high=5)
def threshold_backward(make):
    for gradient, x in pairs(make):
        yield gradient, x, 0
    yield make(6), make(6), 2
    yield make(6), make(6, dtype=torch.float64), 1.5
    if make.dtype.is_floating_point:
        yield make(4), torch.tensor([math.nan, 0.5, -1, 1], dtype=make.dtype), 0.5


@cases("aten::leaky_relu_backward", FLOATS, low=-5, high=5)
def leaky_relu_backward(make):
    for gradient, x in pairs(make):
        yield gradient, x, 0.01, False
    yield make(6), make(6), 0.5, True
    yield make(6), make(6), -0.5, False
    yield make(3), torch.zeros(3, dtype=make.dtype), 0.1, False
    yield error(make(6), make(6), -0.5, True)


@cases("aten::elu_backward", FLOATS, low=-3, high=3)
def elu_backward(make):
    for gradient, x in pairs(make):
        yield gradient, 1, 1, 1, False, x
    yield make(6), 1.5, 2, 0.5, False, make(6)
    yield make(6), 1.5, 2, 0.5, True, make(6)
    yield make(3), -1, 1, 1, False, torch.zeros(3, dtype=make.dtype)
    yield error(make(6), -1, 1, 1, True, make(6))


@cases("aten::glu_backward", FLOATS, low=-3, high=3, out_dtypes=False)
def glu_backward(make):
    yield make(3, 2), make(3, 4), -1
    yield make(2, 4), make(4, 4), 0
    yield make(2, 3, 5), make(2, 6, 5), 1
    yield make(3, 2).t().contiguous().t(), make(4, 3).t(), 1
    yield make(0, 2), make(0, 4), 1
    yield error(make(3, 2), make(3, 3), 1)
    yield error(make(), make(), 0)
    yield error(make(3, 2), make(3, 4), 2)
    yield error(make(3, 3), make(3, 4), 1, unchecked=True)


@cases("aten::hardtanh_backward", FLOATS, low=-3, high=3)
def hardtanh_backward(make):
    for gradient, x in pairs(make):
        yield gradient, x, -1, 1
    yield make(5), torch.tensor([-2, 1, 0.5, -1, 3], dtype=make.dtype), -2, 1.0


@cases("aten::hardshrink_backward aten::softshrink_backward", FLOATS, low=-2, high=2)
def shrink_backward(make):
    for gradient, x in pairs(make):
        yield gradient, x, 0.5
    yield make(5), torch.tensor([-1, 1, 0.5, -0.5, 3], dtype=make.dtype), 1


@cases("aten::logit_backward", FLOATS, low=-0.25, high=1.25)
def logit_backward(make):
    for gradient, x in pairs(make):
        yield gradient, x
        yield gradient, x, 0.125
    yield make(4), torch.tensor([0, 1, 0.125, 0.875], dtype=make.dtype), 0.125
    yield torch.ones(2, dtype=make.dtype), torch.tensor([0, 1], dtype=make.dtype), None


@cases("aten::rrelu_with_noise_backward", FLOATS, low=-2, high=2)
def rrelu_with_noise_backward(make):
    gradient, x, noise = make(3, 4), make(3, 4), make(3, 4)
    yield gradient, x, noise, 0.125, 0.5, True, False
    yield gradient, x, noise, 0.125, 0.5, False, False
    yield gradient, x, noise, 0.25, 0.25, True, True


@cases("aten::masked_scatter_backward", FLOATS + COMPLEX + INTS)
def masked_scatter_backward(make):
    yield make(3, 4), make.mask(3, 4), [12]
    yield make(3, 4), make.mask(3, 4), [2, 8]
    yield make(4), torch.tensor([True, False, True, True]), [3]
    yield make(2, 2), torch.zeros(2, 2, dtype=torch.bool), [2]
    yield error(make(3), torch.ones(3, dtype=torch.bool), [2])


@cases("aten::_segment_reduce_backward", [torch.float32, torch.float64], low=0.5, high=2)
def segment_reduce_backward(make):
    def given(data, reduce, axis, **by):
        output = torch.segment_reduce(data, reduce, axis=axis, unsafe=True, **by)
        return call(make(*output.shape), output, data, reduce, axis=axis, **by)

    for reduce in ("sum", "mean", "max", "min", "prod"):
        yield given(make(6), reduce, 0, lengths=torch.tensor([1, 0, 3, 2]))
        yield given(make(6, 2), reduce, 0, offsets=torch.tensor([0, 1, 4, 6]))
        yield given(make(2, 5, 3), reduce, 1, lengths=torch.tensor([[2, 3], [4, 1]]))
        yield given(torch.tensor([0, 2, 2, 0, 0, 3], dtype=make.dtype), reduce, 0, lengths=torch.tensor([3, 3]))


# PyTorch approximates the slope, with relative errors up to some thousandths.
@cases("aten::_standard_gamma_grad", [torch.float32, torch.float64], low=0.25, high=6, tolerance=(1e-2, 1e-4),
       reason="PyTorch approximates it", out_dtypes=False)
def standard_gamma_grad(make):
    yield make(40), make(40)
    yield make(40) * 20, make(40) * 20
    yield torch.tensor([0.1, 0.5, 2, 100], dtype=make.dtype), torch.tensor([0, 0.01, 8, 100], dtype=make.dtype)


# == Of views and selections ==

@cases("aten::select_backward", FLOATS + COMPLEX)
def select_backward(make):
    yield make(3), [3, 4], 1, -1
    yield make(2, 4), [2, 3, 4], -2, 0
    yield error(make(3), [3, 4], 1, 4)
    yield error(make(2), [3, 4], 1, 0)


@cases("aten::slice_backward", FLOATS + COMPLEX)
def slice_backward(make):
    yield make(3, 2), [3, 5], 1, 1, 4, 2
    yield make(2, 4), [3, 4], 0, -2, 2**63 - 1, 1
    yield make(0, 4), [3, 4], 0, 2, 1, 1


@cases("aten::diagonal_backward", FLOATS + COMPLEX)
def diagonal_backward(make):
    yield make(3), [3, 4], 1, 0, 1
    yield make(4, 2), [2, 4, 3], -1, 0, 2


@cases("aten::index_select_backward", FLOATS + COMPLEX)
def index_select_backward(make):
    yield make(2, 4), [2, 3], 1, torch.tensor([2, 0, 2, 2])
    yield make(3), [5], 0, torch.tensor([1, 1, 4])


@cases("aten::masked_select_backward", FLOATS + COMPLEX)
def masked_select_backward(make):
    mask = make.mask(3, 4)
    yield make(int(mask.sum())), make(3, 4), mask
    yield make(4), make(2, 1), torch.tensor([True, False, True])


@cases("aten::value_selecting_reduction_backward", FLOATS + COMPLEX)
def value_selecting_reduction_backward(make):
    yield make(2), 1, make.indices(2, below=3), [2, 3], False
    yield make(2, 1), -1, make.indices(2, 1, below=3), [2, 3], True


@cases("aten::cumprod_backward", [torch.float32, torch.float64] + COMPLEX, low=0.5, high=2)
def cumprod_backward(make):
    for x, dim in ((make(3, 4), 1), (make(3, 4), 0), (make(5), -1), (make(), 0)):
        yield make(*x.shape), x, dim, x.cumprod(dim)
    x = make(6)
    x[3] = 0
    yield make(6), x, 0, x.cumprod(0)
    x = x.clone()
    x[1] = 0
    yield make(6), x, 0, x.cumprod(0)
