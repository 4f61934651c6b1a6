"""Reductions: sums, extremes, truth, moments, norms, softmax."""

import torch

from generator import ALL, FLOATS, call, cases, error, reduction

kComplex = [torch.complex64, torch.complex128]
kIntegers = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
kReal = FLOATS + kIntegers
kNan = float("nan")
kInf = float("inf")


def with_nan(make, *sizes):
    x = make(*sizes)
    x.view(-1)[::3] = kNan
    return x


reduction("aten::sum aten::sum.dim_IntList aten::mean aten::mean.dim", ALL)
reduction("aten::nansum aten::nanmean", FLOATS + kIntegers + [torch.bool])
reduction("aten::prod aten::prod.dim_int", ALL, low=-2, high=2,
          tolerance={torch.complex64: (5e-6, 1e-5)}, reason="every product of two complex numbers rounds four times")
reduction("aten::max aten::min", kReal + [torch.bool], forms=False)
reduction("aten::amax aten::amin aten::max.dim aten::min.dim aten::argmax aten::argmin",
          kReal + [torch.bool])
reduction("aten::any aten::any.dim aten::all aten::all.dim aten::count_nonzero aten::count_nonzero.dim_IntList", ALL,
          low=-1, high=1)
reduction("aten::var aten::var.dim aten::std aten::std.dim aten::var_mean aten::var_mean.dim aten::std_mean"
          " aten::std_mean.dim", FLOATS + kComplex, forms=False)


@cases("aten::var.dim aten::std.dim", [torch.float32, torch.float64], tolerance=(2e-7, 1e-7),
       reason="an out= of float64 holds what was computed in float32")
def moments_into(make):
    for dim in [None, [0], [0, 2], [-1]]:
        yield call(make(2, 3, 4), dim=dim)
        yield call(make(2, 3, 4), dim=dim, keepdim=True)


@cases("aten::aminmax", kReal + [torch.bool])
def both_extremes(make):
    for x in [make(2, 3, 4), make(3, 4).t(), make(5, 33), make(1, 5)]:
        yield x
        yield call(x, dim=0)
        yield call(x, dim=-1, keepdim=True)
        yield call(x, keepdim=True)
    yield make()
    yield error(make(0))
    yield error(make(2, 0), dim=1)
    yield call(make(2, 0), dim=0)
    yield error(make(2, 3), dim=2)


@cases("aten::max aten::min", kReal)
def extremes_into(make):
    yield make(2, 3, 4)
    yield make(4, 6)[:, ::2]


# PyTorch writes an infinity.
@cases("aten::max.unary_out aten::min.unary_out", kReal)
def extremes_of_nothing_into(make):
    yield error(make(0), out=make(), unchecked=True)


@cases("aten::logsumexp", [torch.bfloat16], forms=False)
def logarithms_of_small_sums(make):
    yield from logarithms_of_sums(make)


@cases("aten::logsumexp", [torch.float32, torch.float64, torch.float16, torch.int64, torch.bool] + kComplex,
       tolerance={torch.float16: (2e-3, 1e-5)}, reason="results may be rounded before they are written to an out=")
def logarithms_of_sums(make):
    for x in [make(2, 3, 4), make(3, 4).t(), make(4, 6)[:, ::2], make(1, 5), make(), make(2, 0, 3), make(0), make(67, 3)]:
        for dim in [[0], [-1]] + ([[0, -1]] if x.dim() > 1 else []):
            yield call(x, dim=dim)
            yield call(x, dim=dim, keepdim=True)
    yield error(make(2, 3), dim=[2])
    yield error(make(2, 3), dim=[0, -2])


@cases("aten::var.correction aten::std.correction aten::var_mean.correction", FLOATS)
def corrections(make):
    for correction in [0, 1, 2, 5]:
        yield call(make(4, 5), dim=[1], correction=correction)
    yield call(make(4, 5) + 1000, dim=[0], correction=1)
    yield error(make(2, 3).to(torch.int64), dim=[0])


@cases("aten::var aten::std", [torch.float32, torch.float64])
def far_from_zero(make):
    yield make(10007) + 4096, True


@cases("aten::sum aten::mean aten::nansum aten::amax aten::amin aten::max aten::min aten::argmax aten::argmin"
       " aten::prod aten::any aten::all aten::count_nonzero aten::std", [torch.float32, torch.float64, torch.bfloat16],
       forms=False)
def odd_values(make):
    yield with_nan(make, 5, 7)
    yield with_nan(make, 301)
    yield make.special()
    yield make(40000) / 100


@cases("aten::sum.dim_IntList aten::amax aten::amin aten::mean.dim aten::nansum"
       " aten::logsumexp", FLOATS, forms=False)
def odd_values_over_dims(make):
    yield call(with_nan(make, 5, 70), dim=[0])
    yield call(with_nan(make, 5, 70), dim=[1])
    yield call(torch.tensor([[kInf, 1, kNan], [-kInf, -kInf, 0], [kInf, -kInf, 1]], dtype=make.dtype), dim=[1])
    yield call(make(70, 65, 3), dim=[0])
    yield call(make(3, 130, 4), dim=[1])
    yield call(make(3, 4, 5, 6).permute(2, 0, 3, 1), dim=[1, 3])


@cases("aten::max.dim aten::min.dim aten::argmax aten::argmin aten::aminmax", [torch.float32, torch.float64, torch.int64])
def places(make):
    ties = torch.tensor([[1, 3, 3, 0], [2, 2, 2, 2], [0, -1, -1, 5]], dtype=make.dtype)
    for dim in [0, 1]:
        yield call(ties, dim=dim)
        yield call(make(130, 67), dim=dim)
        yield call(make(67, 130).t(), dim=dim)
        if make.dtype.is_floating_point:
            yield call(with_nan(make, 9, 5), dim=dim)
            yield call(with_nan(make, 130, 67), dim=dim)
    yield call(make(2, 70, 3), dim=1, keepdim=True)


@cases("aten::any.dims", ALL, low=-1, high=1)
def any_over_dims(make):
    yield call(make(2, 3, 4), dim=[0, 2])
    yield call(make(2, 3, 4), dim=[-1], keepdim=True)
    yield call(make(2, 3))


@cases("aten::all.dims", ALL, low=-1, high=1)
def all_over_dims(make):
    yield call(make(2, 3, 4), dim=[0, 2])
    yield call(make(2, 3, 4), dim=[-1], keepdim=True)
    yield call(make(2, 3))


@cases("aten::linalg_vector_norm", FLOATS + kComplex)
def vector_norms(make):
    for order in [2, 1, 0, kInf, -kInf, 3, 0.5, -1, 2.0]:
        yield call(make(3, 5), ord=order)
        yield call(make(3, 5), ord=order, dim=[0])
        yield call(make(4, 3, 70).transpose(0, 2), ord=order, dim=[1, -1], keepdim=True)
    yield make(0, 3)
    yield make(1037)
    yield error(make(0, 3), kInf)
    yield call(make(2, 3), dim=[1], dtype=torch.complex128 if make.dtype.is_complex else torch.float64)
    yield error(make(2, 3), dim=[2])
    yield error(make(2, 3), dtype=torch.int64)
    yield error(make(2, 3).to(torch.complex128).real.to(torch.int64))


@cases("aten::norm_except_dim", FLOATS)
def norm_except_dim(make):
    for pow in (2, 1, 3):
        for dim in (0, 1, 2, -1, -2, -3):
            yield make(2, 3, 4), pow, dim
    yield make(5),
    yield make(5), 2, -1
    yield make(3, 4).t(),
    yield make(4, 3, 2).transpose(0, 2), 2, 1
    yield make(3, 0), 2, 0
    yield make(), 2, -1
    yield error(make())
    yield error(make(2, 3), 2, 2)
    yield error(make(2, 3), 2, -3)


@cases("aten::_weight_norm", FLOATS, low=0.5, high=2)
def weight_norm(make):
    yield make(2, 3, 4), make(2, 1, 1)
    yield make(2, 3, 4), make(1, 3, 1), 1
    yield make(2, 3, 4), make(1, 1, 4), 2
    yield make(2, 3, 4), make(), -1
    yield make(2, 3, 4), make(1, 3, 1), -2
    yield make(4, 3).t(), make(3, 1)
    yield make(5), make(5)
    yield error(make(2, 3), make(2, 1), 2)


@cases("aten::norm.Scalar aten::norm.ScalarOpt_dim aten::norm.ScalarOpt_dtype aten::norm.ScalarOpt_dim_dtype", FLOATS)
def norms(make, name):
    dtype = {"dtype": torch.float64} if name.endswith("dtype") else {}
    for order in [2, 1, kInf, -kInf, 3, 0]:
        if "dim" in name:
            yield call(make(3, 5), p=order, dim=[1], keepdim=False, **dtype)
            yield call(make(3, 5, 2), p=order, dim=[0, -1], keepdim=True, **dtype)
        else:
            yield call(make(3, 5), p=order, **dtype)


@cases("aten::linalg_norm", [torch.float32, torch.float64])
def linalg_norms(make):
    yield make(2, 3, 4)
    yield call(make(5), ord=3)
    for order in [1, -1, kInf, -kInf, 2, -2]:
        yield call(make(4, 3), ord=order)
        yield call(make(2, 4, 3), ord=order, dim=[0, 2])
        yield call(make(2, 4, 3), ord=order, dim=[-1, 1], keepdim=True)
    yield call(make(2, 3), ord=0, dim=[1])
    for order in [None, 1, -1, kInf, -kInf, 2, -2]:
        yield call(make(0, 3), ord=order)
        yield call(make(3, 0), ord=order)
        yield call(make(0, 2, 3), ord=order, dim=[1, 2])
    yield error(make(2, 3), 3)
    yield error(make(2, 3, 4), 1)
    yield error(make(2, 3), 1, [0, 0])


@cases("aten::linalg_norm.ord_str", [torch.float32, torch.float64])
def linalg_norms_by_name(make):
    for order in ["fro", "nuc"]:
        yield make(4, 3), order
        yield make(0, 3), order
        yield make(3, 0), order
        yield call(make(2, 4, 3), order, dim=[2, 0])
        yield call(make(2, 4, 3), order, dim=[0, 1], keepdim=True)
    yield error(make(2, 3), "sup")


@cases("aten::softmax.int aten::log_softmax.int", FLOATS + [torch.int64, torch.bool])
def softmaxes(make):
    dtype = {} if make.dtype.is_floating_point else {"dtype": torch.float32}
    for x in [make(3, 5), make(2, 3, 4), make(4, 6).t(), make(3, 6)[:, ::2], make(), make(1), make(0, 3), make(3, 0),
              make(2, 130), make(3, 300, 2), make(2, 3, 5, 4).permute(0, 3, 1, 2)]:
        for dim in {0, -1, x.dim() // 2}:
            if x.dim() > 0 or dim in (0, -1):
                yield call(x, dim, **dtype)
    yield call(make(2, 3), 1, dtype=torch.float64)
    yield error(make(2, 3), 2)
    if make.dtype.is_floating_point:
        odd = torch.tensor([[kInf, 1, 2, 3, 4, 5, 6, 7, 8], [-kInf] * 9, [kNan] + [1.0] * 8, [1.0] * 8 + [kNan],
                            [-kInf, 0, 1, 2, 3, 4, 5, 6, 200.0]], dtype=make.dtype)
        yield odd, 1
        yield odd, 0
        yield odd.t().contiguous(), 0


@cases("aten::_softmax aten::_log_softmax", FLOATS)
def softmax_kernels(make):
    yield make(3, 5), 1, False
    yield make(3, 5, 2), 0, False
    yield error(make(2, 3), -3, False)
