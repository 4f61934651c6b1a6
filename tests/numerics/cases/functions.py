"""Functions, activations, bounds, comparisons, complex numbers and losses, element by element."""

import torch

from generator import (ALL, BOOL, COMPLEX, FLOATS, INTS, REALS, WIDE_FLOATS, call, cases, error, pointwise_binary,
                       pointwise_ternary, pointwise_unary)

# == Functions of one tensor ==
NUMBERS = REALS + COMPLEX
CONTINUOUS = FLOATS + COMPLEX

pointwise_unary("aten::sgn aten::isinf aten::isfinite aten::angle aten::absolute aten::negative")
pointwise_unary("aten::conj_physical", COMPLEX)
pointwise_unary("aten::sign aten::trunc aten::fix aten::signbit aten::isposinf aten::isneginf aten::positive "
                "aten::relu6 aten::rad2deg aten::deg2rad", ALL)
pointwise_unary("aten::frac", FLOATS)
pointwise_unary("aten::log1p aten::exp2 aten::expm1 aten::erf aten::erfc aten::lgamma aten::digamma", REALS + BOOL)
pointwise_unary("aten::log2 aten::log10", REALS + BOOL)
pointwise_unary("aten::tan aten::atan aten::asinh aten::sinh aten::cosh aten::arctan aten::arcsinh", REALS + BOOL)
# Half-precision results are rounded before they are written to doubles.
pointwise_unary("aten::sinc", REALS + BOOL, out_dtypes=False)
pointwise_unary("aten::log2 aten::log10 aten::log1p aten::exp2 aten::expm1 aten::tan aten::sinh aten::cosh aten::sinc", COMPLEX,
                special=False, low=-2, high=2)
pointwise_unary("aten::asin aten::acos aten::atan aten::asinh aten::acosh aten::atanh", COMPLEX, special=False,
                low=-2, high=2)
pointwise_unary("aten::asin aten::acos aten::atanh aten::erfinv aten::arcsin aten::arccos aten::arctanh",
                FLOATS, low=-1, high=1)
pointwise_unary("aten::asin aten::acos aten::atanh aten::erfinv", INTS + BOOL, low=-1, high=2)
pointwise_unary("aten::acosh aten::arccosh", REALS + BOOL, low=1, high=20)
pointwise_unary("aten::silu aten::mish aten::hardsigmoid aten::hardswish aten::selu aten::softplus "
                "aten::leaky_relu aten::elu aten::celu aten::hardtanh aten::hardshrink aten::softshrink aten::gelu", REALS)
# PyTorch does not accept an out= of another dtype.
pointwise_unary("aten::log_sigmoid", REALS, out_dtypes=False)
pointwise_unary("aten::conj", COMPLEX)
pointwise_unary("aten::real aten::imag aten::resolve_conj aten::resolve_neg aten::is_complex aten::is_conj aten::is_neg",
                ALL, special=False)


@cases("aten::exp aten::expm1 aten::log aten::log1p aten::tanh aten::sin aten::cos aten::erf aten::gelu aten::sigmoid",
       FLOATS)
def wide_range(make):
    yield make(4099, low=-100, high=100)
    yield make(4099, low=0, high=1e-3)
    yield make(2, 2051, low=-3e4, high=3e4)[:, ::2]


@cases("aten::nan_to_num", ALL, upcast=False)
def nan_to_num(make):
    yield make.special()
    yield make(2, 3)
    if make.dtype.is_floating_point:
        for args in [(1.5,), (0.0, 2.0), (None, 3.0, -3.0), (None, None, -1e5)]:
            yield (make.special(), *args)


@cases("aten::logit", FLOATS + INTS, low=0, high=1)
def logit(make):
    yield make(2, 3)
    yield make(1037)
    yield call(make(2, 3), 0.25)
    yield call(make.special(), 0.1)
    yield make.special()
    yield make(4, 3).t(), 0.3


@cases("aten::round.decimals", FLOATS, low=-500, high=500)
def round_decimals(make):
    for decimals in [0, 1, 3, -1, -2]:
        yield call(make(2, 5), decimals=decimals)
    yield call(make(4, 3).t(), decimals=2)


@cases("aten::gelu", FLOATS)
def gelu(make):
    yield call(make(2, 3), approximate="tanh")
    yield call(make(1037), approximate="tanh")
    yield call(make.special(), approximate="tanh")
    yield error(make(2, 3), approximate="other")


@cases("aten::leaky_relu aten::celu aten::hardshrink aten::softshrink", FLOATS)
def one_parameter(make):
    for parameter in [0.3, 2, 1]:
        yield make(2, 3), parameter
        yield make(517), parameter
    yield make.special(), 0.1


@cases("aten::softshrink", FLOATS)
def negative_lambda(make):
    yield error(make(2, 3), -0.5)


@cases("aten::celu", FLOATS)
def celu_zero(make):
    yield error(make(2, 3), 0)


@cases("aten::elu", FLOATS)
def elu(make):
    yield make(2, 3), 0.5
    yield make(517), 0.5, 2
    yield make(2, 3), 0.5, 2.0, 1.5
    yield make.special(), 2, 1, 0.5


@cases("aten::softplus", FLOATS)
def softplus(make):
    yield make(2, 3), 2
    yield make(517), 0.5, 1
    yield make.special(), 2, 3


@cases("aten::threshold", REALS + BOOL)
def threshold(make):
    yield make(2, 3), 1, 7
    yield make(4, 3).t(), -1, 0
    yield make.special(), 1, 5
    if make.dtype.is_floating_point:
        yield make(2, 3), 0.5, -0.25


@cases("aten::hardtanh", REALS + BOOL)
def hardtanh(make):
    yield make(2, 3), 0, 3
    yield make(2, 3), -2, 2
    yield make(2, 3), 3, 1
    yield make.special(), 0, 5


@cases("aten::prelu", FLOATS)
def prelu(make):
    yield make(2, 3, 4), make(3)
    yield make(2, 3, 4), make(1)
    yield make(2, 3, 4).transpose(0, 2), make(6)[::2]
    yield make(5), make(1)
    yield make(), make(1)
    yield make(0, 3), make(3)
    yield error(make(2, 3), make(4))
    yield error(make(2, 3), make(3, 1))
    yield error(make(), make(2))
    if make.dtype == torch.float32:
        yield error(make(2, 3), make(3, dtype=torch.float64))


@cases("aten::glu", FLOATS)
def glu(make):
    yield make(2, 4)
    yield make(6, 5), 0
    yield make(2, 4, 3), -2
    yield make(4, 6).t(), 1
    yield make(0, 4)
    yield error(make(2, 3))
    yield error(make())
    yield error(make(2, 4), 2)


# == Bounds ==
@cases("aten::clamp aten::clip", REALS + BOOL)
def clamp(make):
    yield make(2, 3), -1, 2
    yield make(517), 1
    yield make(4, 3).t(), None, 3
    yield make(2, 3), 0.5, 2.5
    yield make(2, 3), 3, 1
    yield make(), 0, 1
    yield make(0, 3), 0, 1
    yield make.special(), -1, 1
    yield make(2, 3), float("nan"), 1
    yield make(2, 3), True, 3
    yield error(make(2, 3))
    yield error(make(2, 3), None, None)


@cases("aten::clamp.Tensor aten::clip.Tensor", REALS + BOOL)
def clamp_tensor(make):
    yield make(2, 3), make(3), make(2, 1)
    yield make(517), make(517)
    yield make(4, 3).t(), None, make(3, 4)
    yield make(2, 3), make(), make()
    yield make(2, 3), make(2, 3, dtype=torch.float32), make(3, dtype=torch.int64)
    yield make.special(), make(1), make(1)
    yield error(make(2, 3))
    yield error(make(2, 3), make(4))


pointwise_binary("aten::clamp_min aten::clamp_max", REALS + BOOL, scalars=[2, -3, 1.5, 0, float("nan")])
pointwise_binary("aten::clamp_min.Tensor aten::clamp_max.Tensor", REALS)

# == Functions of two tensors ==
pointwise_binary("aten::multiply.Tensor aten::multiply.Scalar aten::divide.Tensor aten::divide.Scalar "
                 "aten::true_divide.Tensor aten::true_divide.Scalar aten::subtract.Tensor aten::subtract.Scalar",
                 [torch.float32, torch.int64, torch.complex64], mixed=False)
pointwise_binary("aten::fmod.Tensor aten::fmod.Scalar", REALS, nonzero=True, scalars=[2, -3, 1.5, 5],
                 special="moderate")
pointwise_binary("aten::fmax aten::fmin", REALS + BOOL)
pointwise_binary("aten::copysign.Tensor aten::copysign.Scalar", REALS + BOOL)
pointwise_binary("aten::atan2 aten::arctan2", REALS + BOOL)
pointwise_binary("aten::hypot aten::logaddexp aten::logaddexp2", FLOATS)
pointwise_binary("aten::logaddexp", COMPLEX, special=False, mixed=False)
pointwise_binary("aten::nextafter", FLOATS, upcast=False, tolerance=(0, 0), reason="neighbours are exact")
pointwise_binary("aten::gcd aten::lcm", INTS, special=False)
pointwise_binary("aten::heaviside", ALL)
pointwise_binary("aten::ldexp.Tensor", FLOATS + INTS, special=False, mixed=False)
pointwise_binary("aten::xlogy.Tensor aten::xlogy.Scalar_Other", REALS + BOOL)
pointwise_binary("aten::float_power.Tensor_Tensor aten::float_power.Tensor_Scalar", ALL, special=False)


# PyTorch rounds powers of bfloat16 in some forms and not in others.
@cases("aten::ldexp.Tensor", FLOATS + INTS)
def ldexp(make):
    for dtype in [torch.float32, torch.int64, torch.int32, torch.uint8]:
        yield make(2, 3), make(2, 3, dtype=dtype)
        yield make(2, 3), make(dtype=dtype)


@cases("aten::gcd aten::lcm", INTS)
def extremes(make):
    yield make(64, low=-100, high=100), make(64, low=-100, high=100)
    yield make.special()[:1], make.special()


@cases("aten::bitwise_left_shift.Scalar_Tensor aten::bitwise_right_shift.Scalar_Tensor",
       INTS)
def number_first(make):
    yield 7, make(2, 3, low=1, high=6)
    yield -3, make(4, 3, low=1, high=6).t()
    yield 5, make(low=1, high=6)


@cases("aten::xlogy.Scalar_Self aten::float_power.Scalar", FLOATS + INTS, low=0, high=5)
def number_first_float(make):
    yield 2, make(2, 3)
    yield 0, make(2, 3)
    yield 1.5, make(4, 3).t()
    yield 1, make()


@cases("aten::copysign.Scalar", FLOATS)
def copysign_scalar(make):
    yield make(2, 3), -0.0


@cases("aten::divide.Tensor_mode aten::divide.Scalar_mode", REALS)
def rounding_mode(make, name):
    second = (lambda *sizes: 3) if "Scalar" in name else (lambda *sizes: make(*sizes, low=1, high=5))
    for mode in ["trunc", "floor", None]:
        yield call(make(2, 3), second(3), rounding_mode=mode)
        yield call(make(4, 3).t(), second(3, 4), rounding_mode=mode)
    yield error(make(2, 3), second(3), rounding_mode="round")


# == Three tensors ==
pointwise_ternary("aten::addcmul", NUMBERS)
pointwise_ternary("aten::addcdiv aten::lerp.Tensor", FLOATS + COMPLEX, low=0.5, high=2)


@cases("aten::addcmul aten::addcdiv", FLOATS + INTS)
def with_value(make):
    yield call(make(2, 3), make(3), make(2, 1, low=1, high=4), value=2)
    yield call(make(517), make(517), make(517, low=1, high=4), value=-3)
    yield make(2, 3), make(2, 3, dtype=torch.float32), make(2, 3, dtype=torch.float32, low=1, high=4)


@cases("aten::lerp.Scalar", CONTINUOUS)
def lerp(make):
    for weight in [0, 0.25, 0.5, 0.75, 1, 2]:
        yield make(2, 3), make(3), weight
    yield make(4, 3).t(), make(3, 4), 0.3
    yield error(make(2, 3), make(4), 0.5)
    yield error(make(2, 3), make(3, dtype=torch.int64), 0.5)


@cases("aten::lerp.Tensor", FLOATS)
def lerp_types(make):
    yield error(make(2, 3), make(3), make(3, dtype=torch.int64))


# == Comparison and logic ==
kComparisonAliases = "not_equal less less_equal greater greater_equal"
pointwise_binary(" ".join(f"aten::{name}.{kind}" for name in kComparisonAliases.split() for kind in ("Tensor", "Scalar")),
                 [torch.float32, torch.int64], mixed=False)


@cases("aten::bitwise_left_shift.Tensor aten::bitwise_right_shift.Tensor", INTS)
def shifts(make):
    yield make(2, 3), make(3, low=0, high=6)
    yield make(4, 3).t(), make(3, 4, low=0, high=6)
    yield make(517), make(517, low=0, high=6)


@cases("aten::bitwise_left_shift.Tensor_Scalar aten::bitwise_right_shift.Tensor_Scalar", INTS)
def shifts_by_number(make):
    yield make(2, 3), 2
    yield make(4, 3).t(), 1


@cases("aten::where", ALL)
def where_indices(make):
    yield make(3, 4, low=0, high=2)
    yield make(2, 0)


@cases("aten::isclose aten::allclose", ALL)
def close(make):
    x = make(2, 3)
    yield x, x.clone()
    yield x, make(2, 3)
    yield x, make(3)
    yield call(x, make(2, 3), rtol=0.5, atol=1.0)
    yield call(x, x.clone(), rtol=0.0, atol=0.0)
    values = make.special()
    yield values, values.clone()
    yield call(values, values.flip(0))
    if make.dtype.is_floating_point:
        yield call(values, values.clone(), equal_nan=True)
        yield error(x, make(2, 3, dtype=torch.int64))
        yield error(x, x.clone(), rtol=-1.0)


@cases("aten::isin.Tensor_Tensor", FLOATS + INTS)
def isin(make):
    yield make(2, 3), make(4)
    yield make(40, 3).t(), make(8, 4)[:, ::2]
    yield call(make(300), make(100), invert=True)
    yield make(0, 3), make(4)
    yield make(3), make(0)
    yield make(), make(3)
    yield make.special(), make.special()[:6]
    yield make(5), make(4, dtype=torch.float32)


@cases("aten::isin.Tensor_Scalar", FLOATS + INTS)
def isin_number(make):
    yield make(4, 5), 3
    yield call(make(4, 5), 2, invert=True)


@cases("aten::isin.Scalar_Tensor", WIDE_FLOATS + INTS)
def number_in(make):
    yield 3, make(4, 5)
    yield call(2, make(4, 5), invert=True)


@cases("aten::is_nonzero", ALL)
def is_nonzero(make):
    yield make()
    yield make(1, 1)
    yield make(1) * 0
    yield error(make(0))
    yield error(make(2))


# == Complex numbers ==
@cases("aten::complex aten::polar", [torch.float32, torch.float64])
def parts(make):
    yield make(2, 3), make(3)
    yield make(4, 3).t(), make(3, 4)
    yield make(517), make(517)
    yield error(make(3), make(3, dtype=torch.int64))
    yield error(make(3), make(3, dtype=torch.float64 if make.dtype == torch.float32 else torch.float32))


@cases("aten::view_as_real", COMPLEX + [torch.float32])
def as_real(make):
    yield make(2, 3)
    yield make(4, 3).t()
    yield make()
    yield make(5)[2:]
    yield make(0, 3)


@cases("aten::view_as_complex", [torch.float32, torch.float64, torch.int64])
def as_complex(make):
    yield make(3, 2)
    yield make(4, 3, 2).transpose(0, 1)
    yield make(2)
    yield error(make(3))
    yield error(make())
    yield error(make(2, 3).t())
    yield error(make(5, 3)[:, :2])


# == Losses of pairs of elements ==
@cases("aten::mse_loss aten::l1_loss aten::smooth_l1_loss aten::huber_loss", FLOATS)
@cases("aten::kl_div", WIDE_FLOATS)
def loss(make):
    for reduction in [0, 1, 2]:
        yield make(2, 3), make(2, 3, low=0.1, high=2), reduction
        yield make(4, 3).t(), make(3, 4, low=0.1, high=2), reduction
    yield make(2, 3), make(3, low=0.1, high=2), 0
    yield make(0, 3), make(0, 3), 2
    yield error(make(2, 3), make(4), 1)


@cases("aten::smooth_l1_loss aten::huber_loss", FLOATS)
def loss_bound(make):
    yield make(4, 5), make(4, 5), 0, 0.5
    yield make(4, 5), make(4, 5), 1, 2.0
    yield error(make(4), make(4), 1, -1.0)


@cases("aten::kl_div", WIDE_FLOATS)
def log_target(make):
    yield call(make(2, 3), make(2, 3), 1, log_target=True)


# Its out= form reduces into the existing values.
@cases("aten::binary_cross_entropy", FLOATS, low=0, high=1, forms=False)
def binary_cross_entropy(make):
    for reduction in [0, 1, 2]:
        yield make(4, 5), make(4, 5), None, reduction
        yield make(4, 5), make(4, 5), make(5), reduction
    yield make(5, 4).t(), make(4, 5), make(4, 1), 0
    yield torch.tensor([0, 1, 0, 1.0]).to(make.dtype), torch.tensor([0, 1, 1, 0.0]).to(make.dtype), None, 0
    yield error(make(4) + 1, make(4))
    yield error(make(4), make(3))


@cases("aten::binary_cross_entropy_with_logits", WIDE_FLOATS)
def binary_cross_entropy_with_logits(make):
    def target(*sizes):
        return make(*sizes, low=0, high=1)
    for reduction in [0, 1, 2]:
        yield make(4, 5), target(4, 5), None, None, reduction
        yield make(4, 5), target(4, 5), make(5), make(5), reduction
    yield make(4, 5) * 30, target(4, 5), None, make(4, 1), 0
