"""Arithmetic, comparison, logic and functions, element by element."""

import torch

from generator import (ALL, BOOL, COMPLEX, FLOATS, INTS, REALS, call, cases, error, layouts, pointwise_binary,
                       pointwise_unary)

pointwise_binary("aten::add.Tensor aten::add.Scalar aten::sub.Tensor aten::sub.Scalar aten::rsub.Tensor aten::rsub.Scalar "
                 "aten::mul.Tensor aten::mul.Scalar aten::div.Tensor aten::div.Scalar aten::eq.Tensor aten::eq.Scalar "
                 "aten::ne.Tensor aten::ne.Scalar")
pointwise_binary("aten::lt.Tensor aten::lt.Scalar aten::le.Tensor aten::le.Scalar aten::gt.Tensor aten::gt.Scalar "
                 "aten::ge.Tensor aten::ge.Scalar aten::maximum aten::minimum aten::max.other aten::min.other",
                 REALS + BOOL)
pointwise_binary("aten::floor_divide aten::floor_divide.Scalar aten::remainder.Tensor aten::remainder.Scalar",
                 REALS, special="moderate", nonzero=True, scalars=[2, -3, 1.5, True])
pointwise_binary("aten::bitwise_and.Tensor aten::bitwise_and.Scalar aten::bitwise_or.Tensor aten::bitwise_or.Scalar "
                 "aten::bitwise_xor.Tensor aten::bitwise_xor.Scalar aten::__and__.Tensor aten::__and__.Scalar "
                 "aten::__or__.Tensor aten::__or__.Scalar aten::__xor__.Tensor aten::__xor__.Scalar "
                 "aten::__iand__.Tensor aten::__iand__.Scalar aten::__ior__.Tensor aten::__ior__.Scalar "
                 "aten::__ixor__.Tensor aten::__ixor__.Scalar", INTS + BOOL,
                 scalars=[2, -3, True, 1.5])
pointwise_binary("aten::logical_and aten::logical_or aten::logical_xor")
# The result of shifting by more than the width, or by a negative number, depends on the CPU.
pointwise_binary("aten::__lshift__.Tensor aten::__lshift__.Scalar aten::__rshift__.Tensor aten::__rshift__.Scalar "
                 "aten::__ilshift__.Tensor aten::__ilshift__.Scalar aten::__irshift__.Tensor aten::__irshift__.Scalar",
                 INTS, low=0, high=7, mixed=False, special=False, scalars=[0, 2, 5])


@cases("aten::add.Tensor aten::sub.Tensor aten::rsub.Tensor", ALL)
def with_alpha(make):
    yield call(make(2, 3), make(3), alpha=2)
    if make.dtype.is_floating_point or make.dtype.is_complex:
        yield call(make(2, 3), make(3), alpha=0.5)
    else:
        yield call(make(2, 3), make(3), alpha=0.5)  # refused
        yield call(make(2, 3), make(3), alpha=True)


@cases("aten::add.Scalar aten::sub.Scalar aten::rsub.Scalar", ALL)
def with_alpha_and_number(make):
    yield make(2, 3), 3, 2


@cases("aten::div.Tensor_mode", REALS + BOOL)
def div_tensor_mode(make):
    for mode in ["floor", "trunc", None]:
        x, y = make(4, 5), make(5)
        y[y == 0] = 1
        yield call(x, y, rounding_mode=mode)
        yield call(x.t(), y[:4], rounding_mode=mode)
    if make.dtype.is_floating_point:
        yield call(make.moderate().unsqueeze(1), make.moderate(), rounding_mode="floor")
        yield call(make.moderate().unsqueeze(1), make.moderate(), rounding_mode="trunc")
    yield error(make(3), make(3), rounding_mode="up")


@cases("aten::div.Scalar_mode", REALS + BOOL)
def div_scalar_mode(make):
    for mode in ["floor", "trunc", None]:
        for number in [2, -3, 1.5]:
            yield call(make(2, 3), number, rounding_mode=mode)
    yield error(make(3), 2, rounding_mode="up")


@cases("aten::div.Tensor_mode aten::floor_divide aten::remainder.Tensor", INTS)
def divide_by_zero(make, name):
    zero = torch.zeros(3, dtype=make.dtype)
    yield error(make(3), zero, rounding_mode="floor") if name.endswith("mode") else error(make(3), zero)


@cases("aten::remainder.Scalar_Tensor", REALS)
def remainder_of_number(make):
    y = make(2, 3)
    y[y == 0] = 2
    yield 7, y
    yield -7, y
    yield 2.5, y.t()


@cases("aten::bitwise_and.Scalar_Tensor aten::bitwise_or.Scalar_Tensor aten::bitwise_xor.Scalar_Tensor", INTS + BOOL)
def bitwise_of_number(make):
    yield 5, make(2, 3)
    yield True, make(3, 2).t()


@cases("aten::pow.Tensor_Tensor", REALS + COMPLEX, low=0, high=4)
def pow_tensor_tensor(make):
    yield make(2, 3), make(2, 3)
    yield make(2, 1), make(3)
    yield make(3, 2).t(), make(4, 3)[::2]
    yield make(0, 2), make(2)
    yield make(2, 3), make(2, 3, dtype=torch.int64, low=0, high=3)
    yield make(2, 3), make(dtype=torch.float32)
    if make.dtype.is_floating_point:
        yield make.moderate().unsqueeze(1), make.moderate()
    yield error(make(2, 3), make(4))


@cases("aten::pow.Tensor_Scalar", ALL, low=0, high=4)
def pow_tensor_scalar(make):
    for exponent in [0, 1, 2, 3, 2.0, 0.5, 3.5]:
        yield make(2, 3), exponent
    if make.dtype.is_floating_point:
        for exponent in [-1, -2, -0.5, 1.5, 3]:
            yield make.special(), exponent
    elif not make.dtype.is_complex:
        yield error(make(2, 3), -1)
    yield make(4, 6)[:, ::2], 2


@cases("aten::pow.Scalar", REALS + COMPLEX, low=0, high=4, strides=False)
def pow_scalar(make):
    yield 2, make(2, 3)
    yield 1.5, make(3, 2).t()
    yield 0, make(4)
    yield 1, make(4)


pointwise_unary("aten::neg aten::abs aten::square aten::reciprocal aten::bitwise_not aten::logical_not aten::isnan "
                "aten::floor aten::ceil aten::round aten::relu aten::sigmoid aten::rsqrt aten::sqrt aten::tanh")
# Far from 0, the rounding of the arguments dominates.
pointwise_unary("aten::exp aten::log aten::sin aten::cos", special=False)


@cases("aten::exp aten::log aten::sin aten::cos", FLOATS)
def special_values(make):
    x = make.special()
    yield x[x.double().abs().nan_to_num(0, 0, 0) < 1e4]


@cases("aten::where.self", ALL)
def where(make):
    yield make.mask(2, 3), make(2, 3), make(2, 3)
    yield make.mask(3), make(2, 1), make(2, 3)
    yield make.mask(), make(3, 2).t(), make()
    yield make.mask(2, 3), make(2, 3), make(2, 3, dtype=torch.float64)
    yield make.mask(0, 3), make(0, 3), make(3)
    yield make.mask(8)[::2], make(4), make(4, 4)[:, 1]
    yield make.mask(513), make(513), make(513)
    yield error(make.mask(2, 3), make(4), make(2, 3))
    yield error(make(2, 3, dtype=torch.int64), make(2, 3), make(2, 3))


@cases("aten::where.ScalarSelf", ALL)
def where_number_self(make):
    yield make.mask(2, 3), 2, make(2, 3)
    yield make.mask(3), 1.5, make(2, 1)


@cases("aten::where.ScalarOther", ALL)
def where_number_other(make):
    yield make.mask(2, 3), make(2, 3), 2
    yield make.mask(3), make(2, 1), 1.5


@cases("aten::where.Scalar", [torch.float32])
def where_numbers(make):
    yield make.mask(2, 3), 2, 3
    yield make.mask(2, 3), 1.5, 3
    yield make.mask(2, 3), True, 2j


@cases("aten::masked_fill.Scalar", ALL)
def masked_fill_number(make):
    yield make(2, 3), make.mask(2, 3), 1
    yield make(2, 3), make.mask(3), 2.5
    yield make(3, 2).t(), make.mask(2, 1), True
    yield make(4, 6)[:, ::2], make.mask(4, 3), 3
    yield make(0, 3), make.mask(3), 3
    yield make(3), make.mask(2, 3), 1
    if make.dtype != torch.bool:  # PyTorch uses the real part
        yield make(3), make.mask(3), 1j
    yield error(make(2, 3), make.mask(4), 1)
    yield error(make(2, 3), make(2, 3, dtype=torch.float32), 1)


@cases("aten::masked_fill.Tensor", ALL)
def masked_fill_tensor(make):
    yield make(2, 3), make.mask(2, 3), make()
    yield make(2, 3), make.mask(3), make(dtype=torch.float32)
    yield error(make(2, 3), make.mask(2, 3), make(1))


@cases("aten::add_.Tensor aten::mul_.Tensor", FLOATS + INTS)
def overlapping(make):
    x = make(6)
    yield x, x
    yield x[:3], x[3:]
    yield error(x[:5], x[1:])
    yield error(make(1, 3).expand(2, 3), make(2, 3))


@cases("aten::equal", ALL)
def equal(make):
    x = make(2, 3)
    yield x, x
    yield x, x.clone()
    yield x, x.t().contiguous().t()
    yield x, make(3, 2)
    yield x, make(2, 3)
    yield make(0), make(0)
    if make.dtype.is_floating_point:
        yield make.special(), make.special()


@cases("aten::fill_.Scalar", ALL)
def fill_number(make):
    for x in layouts(make, full=False):
        yield x, 1
    yield make(2, 3), 2.5
    if make.dtype != torch.bool:  # PyTorch uses the real part
        yield make(2, 3), 2j


@cases("aten::fill_.Tensor", ALL)
def fill_tensor(make):
    yield make(2, 3), make()
    yield make(3, 2).t(), make(dtype=torch.float32)
    yield error(make(2, 3), make(2))


@cases("aten::zero_", ALL)
def zero(make):
    yield from layouts(make)
