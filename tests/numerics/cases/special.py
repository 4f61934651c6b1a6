"""Special functions of mathematics, element by element, and orthogonal polynomials."""

import torch

from generator import (BOOL, FLOATS, HALVES, INTS, REALS, WIDE_FLOATS, call, cases, error, pointwise_binary,
                       pointwise_unary)

pointwise_unary("aten::i0 aten::special_i0e aten::special_i1 aten::special_i1e aten::special_i0", REALS + BOOL,
                special="moderate")
pointwise_unary("aten::special_entr aten::special_erfcx aten::special_log_ndtr", REALS + BOOL)
# Half-precision results are rounded before they are written to doubles.
pointwise_unary("aten::special_ndtr", REALS + BOOL, out_dtypes=False)
pointwise_unary("aten::special_ndtri", FLOATS, low=0, high=1)
kBessel = ("aten::special_bessel_j0 aten::special_bessel_j1 aten::special_bessel_y0 aten::special_bessel_y1 "
           "aten::special_airy_ai")
kBesselTolerance = {"tolerance": {torch.float64: (1e-5, 1e-5)},
                    "reason": "PyTorch's approximations are off by 1e-6 beyond 5 and, of airy_ai, beyond -2.09"}
kModified = ("aten::special_modified_bessel_i0 aten::special_modified_bessel_i1 aten::special_modified_bessel_k0 "
             "aten::special_modified_bessel_k1 aten::special_scaled_modified_bessel_k0 "
             "aten::special_scaled_modified_bessel_k1 aten::special_spherical_bessel_j0")
pointwise_unary(kBessel, FLOATS, special="moderate", **kBesselTolerance)
pointwise_unary(kModified, FLOATS, special="moderate")
pointwise_unary(kBessel, INTS + BOOL, special=False, **kBesselTolerance)
pointwise_unary(kModified, INTS + BOOL, special=False)
pointwise_unary("aten::special_expm1 aten::special_exp2 aten::special_psi aten::special_digamma aten::special_gammaln "
                "aten::special_erf aten::special_erfc aten::special_expit", REALS + BOOL)
pointwise_unary("aten::special_log1p", REALS + BOOL, special="moderate")
pointwise_unary("aten::special_sinc", REALS + BOOL, out_dtypes=False)
pointwise_unary("aten::special_erfinv", FLOATS, low=-1, high=1)


def wide_range(make):
    yield make(1031, low=-30, high=30)
    yield make(257, low=0, high=1e-2)
    yield make(257, low=0, high=600) if make.dtype == torch.float64 else make(257, low=0, high=60)


cases("aten::i0 aten::special_i0e aten::special_i1 aten::special_i1e aten::special_log_ndtr "
      "aten::special_modified_bessel_k0 aten::special_modified_bessel_k1 aten::special_scaled_modified_bessel_k0 "
      "aten::special_scaled_modified_bessel_k1", WIDE_FLOATS)(wide_range)
cases("aten::special_erfcx", WIDE_FLOATS, tolerance={torch.float32: (1e-4, 1e-4)},
      reason="PyTorch squares the argument in float32 before it takes exp")(wide_range)
cases(kBessel, WIDE_FLOATS, **kBesselTolerance)(wide_range)


@cases("aten::special_ndtri", FLOATS)
def ndtri(make):
    yield torch.tensor([0, 1e-30, 1e-3, 0.5, 1 - 1e-3, 1, 2, -1, torch.nan, torch.inf]).to(make.dtype)


pointwise_binary("aten::special_xlog1py aten::special_xlog1py.other_scalar aten::special_xlogy "
                 "aten::special_xlogy.other_scalar", REALS + BOOL, scalars=[2, -3, 1.5, 0])
pointwise_binary("aten::special_zeta aten::special_zeta.other_scalar", WIDE_FLOATS + INTS + BOOL, special="moderate",
                 scalars=[2, -3, 1.5, 0])
# PyTorch has no zeta of these dtypes, so there is no answer for mixed ones.
pointwise_binary("aten::special_zeta aten::special_zeta.other_scalar", HALVES, mixed=False, special="moderate",
                 scalars=[2, -3, 1.5, 0])
pointwise_binary("aten::igamma aten::igammac aten::special_gammainc aten::special_gammaincc", FLOATS, low=0, high=9,
                 special="moderate")


@cases("aten::special_xlog1py.self_scalar aten::special_zeta.self_scalar aten::special_xlogy.self_scalar",
       FLOATS + INTS, low=0, high=5)
def number_first(make):
    for number in [0, 2, 2.5]:
        yield number, make(2, 3)
    yield 3, make(3, 2).t()
    yield 2, make(0, 3)


@cases("aten::special_zeta", WIDE_FLOATS)
def zeta(make):
    yield make(257, low=1, high=30), make(257, low=0, high=50)
    yield torch.arange(2, 9, dtype=make.dtype).unsqueeze(1), make(31, low=-30, high=0)


@cases("aten::igamma aten::igammac", WIDE_FLOATS)
def incomplete_gamma(make):
    yield make(1031, low=0, high=300), make(1031, low=0, high=300)
    yield make(257, low=0, high=1), make(257, low=0, high=3)
    if make.dtype == torch.float64:
        yield make(257, low=900, high=1100), make(257, low=900, high=1100)


def orders(make, function, low):
    for n in [0, 1, 2, 3, 6]:
        yield function(n, make(2, 3, low=low, high=6))
    yield function(2, make(4, 6, low=low, high=9)[1:, ::2])
    yield function(1, make(3, 4, low=low, high=9).t())
    yield function(2, make(0, 3))
    yield function(3, make())
    yield function(1, make(1037, low=0.25, high=50))


# Half-precision results are rounded before they are written to doubles.
@cases("aten::polygamma aten::special_polygamma", REALS + BOOL, out_dtypes=False)
def polygamma(make):
    # At negative integers, PyTorch's trigamma is not infinite, for it divides by sin(pi * x).
    yield from orders(make, lambda n, x: call(n, x), 0.25)
    if make.dtype.is_floating_point:
        yield 2, make.moderate()
        yield 3, make.moderate()
        yield 1, torch.tensor([0, -0.0, 0.5, -0.5, -1.5, torch.inf, -torch.inf, torch.nan]).to(make.dtype)
    if make.dtype == torch.float64:  # PyTorch's function of float32 loses digits
        yield 1, make(31, low=-9, high=-0.1)
    yield error(-1, make(2, 3))


@cases("aten::polygamma_", FLOATS)
def polygamma_in_place(make):
    yield from orders(make, lambda n, x: call(x, n), 0.25)
    yield error(make(2, 3), -1)


@cases("aten::mvlgamma aten::special_multigammaln", REALS + BOOL, low=3, high=20)
def mvlgamma(make):
    for p in [1, 2, 3, 5]:
        yield make(2, 3), p
        yield make(3, 4).t(), p
    yield make(), 3
    yield make(0, 3), 2
    yield make(4, 6)[1:, ::2], 2
    if make.dtype.is_floating_point:
        yield make.moderate(), 3
    yield error(make(2, 3), 0)


@cases("aten::special_logit", FLOATS, low=0, high=1)
def logit(make):
    yield make(2, 3)
    yield call(make(2, 3), 0.25)


@cases("aten::special_round", FLOATS, low=-500, high=500)
def rounding(make):
    yield make(2, 3)
    yield call(make(2, 3), decimals=2)


@cases("aten::special_logsumexp", FLOATS)
def logsumexp(make):
    yield make(2, 3), [0]
    yield make(2, 3), [0, 1], True


@cases("aten::special_softmax aten::special_log_softmax", FLOATS)
def softmax(make):
    yield make(2, 3), 1
    yield call(make(2, 3), 0, dtype=torch.float64)


# == Orthogonal polynomials ==
# PyTorch rounds some products and sums once, boxcar twice, and the recurrences multiply that.
kLosesDigits = {"tolerance": {torch.float32: (1e-4, 1e-4)}, "reason": "rounding errors of the recurrence"}
kPolynomials = [f"aten::special_{shifted}chebyshev_polynomial_{kind}"
                for shifted in ["", "shifted_"] for kind in "tuvw"]
kPolynomials += [f"aten::special_{name}" for name in ["hermite_polynomial_h", "hermite_polynomial_he",
                                                      "laguerre_polynomial_l", "legendre_polynomial_p"]]


@cases(" ".join(kPolynomials), REALS + BOOL, **kLosesDigits)
def polynomial(make):
    def degrees(*sizes):
        return make(*sizes, low=0, high=9)
    yield make(2, 3), degrees(2, 3)
    yield make(2, 3), degrees(3)
    yield make(), degrees()
    yield make(0, 3), degrees(1)
    yield make(4, 6)[1:, ::2], degrees(3, 3)
    yield make(3, 4).t(), degrees(4, 3)
    yield make(2, 3), torch.tensor([[0], [5]])
    yield make(2, 3), torch.tensor(4.5)
    yield error(make(2, 3), degrees(4))
    if make.dtype in [torch.float32, torch.float64]:
        # Where the recurrence does not lose digits.
        yield make(257, low=-0.9, high=0.9), torch.arange(257) % 25
        ends = torch.tensor([-1, 0, 1, 0.5, -0.5, 2, -2, torch.nan, torch.inf, -torch.inf], dtype=make.dtype)
        yield ends.unsqueeze(1), torch.arange(-2, 14, dtype=make.dtype)


@cases(" ".join(name + ".n_scalar" for name in kPolynomials), FLOATS + INTS)
def polynomial_of_degree(make):
    for n in [-1, 0, 1, 2, 7.5, 12]:
        yield make(2, 3), n
    yield make(3, 4).t(), 3
    yield make(0, 3), 3


@cases(" ".join(name + ".x_scalar" for name in kPolynomials), FLOATS + INTS, low=0, high=9)
def polynomial_at_number(make):
    for x in [-1, 0, 1, 0.25, 1.5]:
        yield x, make(2, 3)
    yield 0.75, make(3, 4).t()
