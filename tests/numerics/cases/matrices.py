"""Products of matrices and vectors."""

import torch

from generator import COMPLEX, FLOATS, INTS, call, cases, error

NUMBERS = FLOATS + INTS + COMPLEX
HALF_SUMS = {torch.float16: (2e-3, 1e-2), torch.bfloat16: (1.6e-2, 1e-1)}


@cases("aten::mm", NUMBERS)
def mm(make):
    yield make(2, 3), make(3, 4)
    yield make(3, 2).t(), make(4, 3).t()
    yield make(2, 6)[:, ::2], make(3, 4)
    yield make(0, 3), make(3, 4)
    yield make(2, 0), make(0, 4)
    yield make(2, 3), make(3, 0)
    yield make(1, 1), make(1, 1)
    yield make(17, 35), make(35, 19)
    yield make(1, 3).expand(4, 3), make(3, 2)
    yield error(make(2, 3), make(2, 3))
    yield error(make(2, 3), make(3))
    yield error(make(2, 2, 3), make(3, 2))
    yield error(make(2, 3), make(3, 4, dtype=torch.float64 if make.dtype != torch.float64 else torch.float32))


@cases("aten::addmm", NUMBERS)
def addmm(make):
    yield make(2, 4), make(2, 3), make(3, 4)
    yield make(4), make(2, 3), make(3, 4)
    yield make(2, 1), make(3, 2).t(), make(3, 4)
    yield make(), make(2, 3), make(3, 4)
    yield call(make(2, 4), make(2, 3), make(3, 4), beta=2, alpha=3)
    yield call(make(2, 4), make(2, 0), make(0, 4), beta=2)
    if make.dtype.is_floating_point:
        yield call(torch.full((2, 4), torch.nan, dtype=make.dtype), make(2, 3), make(3, 4), beta=0)
        yield call(make(4), make(2, 3), make(3, 4), beta=0.5, alpha=-1.5)
    yield error(make(3), make(2, 3), make(3, 4))
    yield error(make(2, 4), make(2, 3), make(4, 4))
    yield error(make(2, 4), make(2, 3), make(4))


@cases("aten::bmm", NUMBERS)
def bmm(make):
    yield make(2, 3, 4), make(2, 4, 5)
    yield make(2, 4, 3).mT, make(5, 4, 2).permute(2, 1, 0)
    yield make(0, 3, 4), make(0, 4, 5)
    yield make(2, 3, 0), make(2, 0, 5)
    yield make(1, 3, 4).expand(2, 3, 4), make(2, 4, 5)
    yield error(make(2, 3, 4), make(3, 4, 5))
    yield error(make(2, 3, 4), make(2, 3, 5))
    yield error(make(3, 4), make(4, 5))


@cases("aten::mv", NUMBERS)
def mv(make):
    yield make(2, 3), make(3)
    yield make(3, 2).t(), make(6)[::2]
    yield make(0, 3), make(3)
    yield make(2, 0), make(0)
    yield error(make(2, 3), make(2))
    yield error(make(2, 3), make(3, 1))


@cases("aten::dot", NUMBERS, out_dtypes=False)
def dot(make):
    yield make(3), make(3)
    yield make(6)[::2], make(3, 2)[:, 1]
    yield make(0), make(0)
    yield error(make(3), make(4))
    yield error(make(3, 1), make(3))


@cases("aten::matmul", NUMBERS, strides=False, tolerance=HALF_SUMS, reason="PyTorch sums rounded products of halves, in some order")
def matmul(make):
    if not make.dtype.is_complex:  # as for dot
        yield make(3), make(3)
    yield make(2, 3), make(3)
    yield make(3), make(3, 2)
    yield make(2, 3), make(3, 4)
    yield make(5, 2, 3), make(3, 4)
    yield make(5, 2, 3), make(3)
    yield make(3), make(5, 3, 2)
    yield make(2, 3), make(5, 3, 2)
    yield make(2, 1, 3, 4), make(5, 4, 2)
    yield make(5, 4, 3).mT, make(5, 4, 2)
    yield make(0, 2, 3), make(3, 4)
    yield error(make(), make(3))
    yield error(make(2, 3), make(2))
    yield error(make(5, 2, 3), make(4, 3, 2))


@cases("aten::linear", FLOATS)
def linear(make):
    yield make(2, 3), make(4, 3)
    yield make(2, 3), make(4, 3), make(4)
    yield make(5, 2, 3), make(4, 3), make(4)
    yield make(3), make(4, 3), make(4)
    yield make(3), make(3)
    yield make(0, 3), make(4, 3), make(4)
    yield make(3, 2).t(), make(3, 4).t(), make(4)
    yield error(make(2, 3), make(4, 2))
    yield error(make(2, 3), make(4, 3), make(3))


def mixed_dtype(make):
    return torch.float64 if make.dtype != torch.float64 else torch.float32


@cases("aten::baddbmm", NUMBERS, low=-3, high=3)
def baddbmm(make):
    yield make(2, 3, 5), make(2, 3, 4), make(2, 4, 5)
    yield make(5), make(2, 3, 4), make(2, 4, 5)
    yield call(make(2, 1, 5), make(2, 4, 3).mT, make(5, 4, 2).permute(2, 1, 0), beta=2, alpha=3)
    yield call(make(2, 3, 5), make(2, 3, 0), make(2, 0, 5), beta=2)
    yield make(0, 3, 5), make(0, 3, 4), make(0, 4, 5)
    if make.dtype.is_floating_point:
        yield call(make(2, 3, 5), make(2, 3, 4), make(2, 4, 5), beta=0.5, alpha=-1.5)
    yield error(make(3), make(2, 3, 4), make(2, 4, 5))
    yield error(make(5), make(2, 3, 4), make(3, 4, 5))
    yield error(make(5), make(2, 3, 4), make(4, 5))


@cases("aten::baddbmm", FLOATS)
def baddbmm_of_nan(make):
    yield call(torch.full((2, 3, 5), torch.nan, dtype=make.dtype), make(2, 3, 4), make(2, 4, 5), beta=0)


@cases("aten::addbmm aten::addbmm_", NUMBERS, low=-3, high=3, forms=False)
def addbmm(make):
    yield make(3, 5), make(2, 3, 4), make(2, 4, 5)
    yield call(make(3, 5), make(2, 4, 3).mT, make(5, 4, 2).permute(2, 1, 0), beta=2, alpha=3)
    yield call(make(3, 5), make(2, 3, 0), make(2, 0, 5), beta=2)
    yield call(make(3, 5), make(0, 3, 4), make(0, 4, 5), beta=3)
    if make.dtype.is_floating_point:
        yield call(torch.full((3, 5), torch.nan, dtype=make.dtype), make(2, 3, 4), make(2, 4, 5), beta=0)
    yield error(make(3, 5), make(2, 3, 4), make(3, 4, 5))
    yield error(make(3, 5), make(2, 3, 4), make(4, 5))


@cases("aten::addbmm", NUMBERS, low=-3, high=3, forms=False)
def addbmm_broadcast(make):
    yield make(5), make(2, 3, 4), make(2, 4, 5)
    yield make(), make(2, 3, 4), make(2, 4, 5)
    yield error(make(4), make(2, 3, 4), make(2, 4, 5))


@cases("aten::addmv", NUMBERS, low=-5, high=5)
def addmv(make):
    yield make(2), make(2, 3), make(3)
    yield make(1), make(2, 3), make(3)
    yield make(), make(2, 3), make(3)
    yield call(make(4)[::2], make(3, 2).t(), make(6)[::2], beta=2, alpha=3)
    yield call(make(2), make(2, 0), make(0), beta=2)
    yield make(0), make(0, 3), make(3)
    if make.dtype.is_floating_point:
        yield call(torch.full((2,), torch.nan, dtype=make.dtype), make(2, 3), make(3), beta=0)
    yield error(make(3), make(2, 3), make(3))
    yield error(make(2), make(2, 3), make(2))
    yield error(make(2), make(2), make(2))


@cases("aten::addr", NUMBERS + [torch.bool], low=-5, high=5, out_dtypes=False)
def addr(make):
    yield make(2, 3), make(2), make(3)
    yield make(3, 2).t(), make(4)[::2], make(3)
    yield make(3), make(2), make(3)
    yield make(), make(2), make(3)
    yield make(0, 3), make(0), make(3)
    if make.dtype != torch.bool:
        yield call(make(2, 3), make(2), make(3), beta=2, alpha=3)
        yield call(make(2, 3), make(2), make(3), beta=0, alpha=3)
    yield call(make(2, 3), make(2), make(3), beta=0.5)
    if make.dtype == torch.bool:
        yield call(make(2, 3), make(2), make(3), beta=True, alpha=False)
    yield make(2, 3), make(2, dtype=torch.float64), make(3)
    yield error(make(4), make(2), make(3))
    yield error(make(2, 3), make(2, 1), make(3))


@cases("aten::vdot", NUMBERS, low=-5, high=5, out_dtypes=False)
def vdot(make):
    yield make(3), make(3)
    yield make(6)[::2], make(3, 2)[:, 1]
    yield make(0), make(0)
    yield make(300), make(300)
    yield error(make(3), make(4))
    yield error(make(3, 1), make(3))


@cases("aten::outer aten::ger", NUMBERS + [torch.bool])
def outer(make):
    yield make(3), make(4)
    yield make(6)[::2], make(0)
    yield make(1), make(4)
    yield make(3), make(4, dtype=torch.float64)
    yield error(make(3, 1), make(3))


@cases("aten::inner", NUMBERS, low=-5, high=5, out_dtypes=False)
def inner(make):
    yield make(3), make(3)
    yield make(2, 3), make(4, 3)
    yield make(2, 5, 3), make(4, 3)
    yield make(3), make(4, 3)
    yield make(), make(2, 3)
    yield make(2, 0), make(4, 0)
    yield error(make(2, 3), make(4, 2))


@cases("aten::kron", NUMBERS)
def kron(make):
    yield make(2, 3), make(3, 2)
    yield make(2), make(3, 2)
    yield make(2, 3, 1), make(2)
    yield make(), make(2, 3)
    yield make(), make()
    yield make(0, 2), make(2, 3)
    yield make(3, 2).t(), make(2, 2).t()
    yield make(2, 3), make(3, 2, dtype=torch.float64)


@cases("aten::tensordot", NUMBERS, low=-3, high=3)
def tensordot(make):
    yield make(2, 3, 4), make(4, 3, 5), [1, 2], [1, 0]
    yield make(2, 3, 4), make(4, 5), [-1], [0]
    yield make(2, 3), make(2, 3), [0, 1], [0, 1]
    yield make(2), make(3), [], []
    yield make(2, 1, 4), make(4, 3), [1], [1]
    yield make(2, 0), make(0, 3), [1], [0]
    yield error(make(2, 3), make(4, 3), [0], [0])
    yield error(make(2, 3), make(4, 3), [0], [0, 1])
    yield error(make(2, 3), make(4, 3), [2], [0])
    yield error(make(2, 2), make(2, 2), [0, 0], [0, 1])


@cases("aten::einsum", NUMBERS, low=-3, high=3, tolerance=HALF_SUMS, reason="PyTorch sums rounded products of halves, in some order")
def einsum(make):
    def of(equation, *tensors):
        return call(equation, list(tensors))
    yield of("ij,jk->ik", make(2, 3), make(3, 4))
    yield of("ij,jk", make(2, 3), make(3, 4))
    # The layout tells which operand PyTorch multiplies from the left.
    yield call(" b i j , b j k -> k b i ", [make(2, 3, 4), make(2, 4, 5)], options={"strides": False})
    yield of("bij,bjk->bik", make(2, 4, 3).mT, make(2, 4, 5))
    yield of("i,j->ji", make(3), make(4))
    yield of("i,i->", make(3), make(3))
    yield of("i,i", make(3), make(3))
    yield of("ii->i", make(3, 3))
    yield of("ii", make(3, 3))
    yield of("bii->ib", make(2, 3, 3))
    yield of("iij,jk->ik", make(3, 3, 4), make(4, 2))
    yield of("ij->ji", make(2, 3))
    yield of("ij->j", make(2, 3))
    yield of("ba", make(2, 3))
    yield of("ij->", make(2, 3))
    yield of("...ij,...jk->...ik", make(2, 1, 3, 4), make(5, 4, 2))
    yield of("...ij,jk", make(2, 5, 3, 4), make(4, 2))
    yield of("i...->...i", make(2, 3, 4))
    yield of("...->...", make(2, 3))
    yield of("i...j,j...->i...", make(2, 5, 3), make(3, 5))
    yield of("...i->i", make(2, 3, 4))
    yield of("ij,jk,kl->il", make(2, 3), make(3, 4), make(4, 2))
    yield of("ij,ij,ij->ij", make(2, 3), make(2, 3), make(2, 3))
    yield of("ij,ij->", make(2, 3), make(2, 3))
    yield of("ab,cd->abcd", make(2, 3), make(2, 2))
    yield of("Ab,bA->A", make(2, 3), make(3, 2))
    yield of("ij,kj->ik", make(2, 1), make(3, 4))
    yield of("bhqd,bhkd->bhqk", make(2, 2, 3, 4), make(2, 2, 5, 4))
    yield of(",->", make(), make())
    yield of("i,->i", make(3), make())
    yield of("ij,jk->ik", make(0, 3), make(3, 4))
    yield of("ij,jk->ik", make(2, 0), make(0, 4))
    yield error("ij,jk->ik", [make(2, 3), make(4, 4)])
    yield error("ij,jk->ik", [make(2, 3)])
    yield error("ij->ik", [make(2, 3)])
    yield error("ij->ii", [make(2, 3)])
    yield error("ij", [make(2, 3, 4)])
    yield error("ii", [make(2, 3)])
    yield error("i$", [make(2, 3)])
    yield error("i.j", [make(2, 3)])
    yield error("i......j", [make(2, 3)])
    yield error("ij->...", [make(2, 3)] * 2)
    yield error("ij-", [make(2, 3)])
    yield error("", [])


def distances(x1, x2, p):
    """Returns cdist computed in float64 and rounded: PyTorch's root of a difference of squares is too inexact."""
    return torch.cdist(x1.double(), x2.double(), p, "donot_use_mm_for_euclid_dist").to(x1.dtype)


@cases("aten::cdist", [torch.float32, torch.float64], forms=False)
def cdist(make):
    for p in (2.0, 1.0, 0.0, float("inf"), 3.0, 0.5, 1.5):
        yield make(4, 3), make(5, 3), p
        yield make(2, 4, 3), make(5, 3), p
    yield make(3, 4).t(), make(3, 5).t(), 1.0
    yield make(4, 0), make(5, 0), 2.0
    yield make(0, 3), make(5, 3), 2.0
    yield make(2, 1, 4, 3), make(3, 5, 3), 2.0
    yield call(make(4, 3), make(5, 3), 2.0, 2)
    yield error(make(4, 3), make(5, 2))
    yield error(make(3), make(5, 3))
    yield error(make(4, 3), make(5, 3), -1.0)
    yield error(make(4, 3), make(5, 3), 2.0, 3)
    yield error(make(4, 3, dtype=torch.int64), make(5, 3, dtype=torch.int64))


@cases("aten::cdist", [torch.float32, torch.float64], forms=False, tolerance=(1e-3, 1e-3), reason="the root of a difference of squares loses half the digits")
def cdist_by_product(make):
    yield make(30, 3), make(28, 3), 2.0
    yield make(2, 30, 3), make(28, 3), 2.0
    yield call(make(4, 3), make(5, 3), 2.0, 1)


@cases("aten::_cdist_forward", [torch.float32, torch.float64], forms=False)
def cdist_forward(make):
    yield make(4, 3), make(5, 3), 1.0, None
    yield make(2, 4, 3), make(2, 5, 3), 3.0, 0


@cases("aten::pairwise_distance", FLOATS)
def pairwise_distance(make):
    yield make(4, 3), make(4, 3)
    yield call(make(4, 3), make(4, 3), 1.0, 1e-3, True)
    yield make(4, 3), make(3), 3.0
    yield make(2, 4, 3), make(4, 3)
    yield make(3), make(3)
    yield call(make(4, 3), make(4, 3), float("inf"))
    yield error(make(4, 3), make(4, 2))


@cases("aten::cosine_similarity", FLOATS, tolerance={torch.float16: (4e-3, 1e-3), torch.bfloat16: (3e-2, 1e-2)},
       reason="halves are rounded after each step")
def cosine_similarity(make):
    yield make(4, 3), make(4, 3)
    yield make(4, 3), make(4, 3), 0
    yield make(2, 4, 3), make(4, 3), -1
    yield make(2, 4, 3), make(1, 3), 2, 1e-3
    yield torch.zeros(2, 3, dtype=make.dtype), make(2, 3)
    yield error(make(4, 3), make(4, 2))
    yield error(make(4, 3), make(4, 3), 2)


@cases("aten::linalg_cross", NUMBERS, low=-5, high=5)
def linalg_cross(make):
    yield make(4, 3), make(4, 3)
    yield make(3), make(3)
    yield call(make(3, 4), make(3, 4), dim=0)
    yield call(make(3, 4), make(3, 1), dim=-2)
    yield make(4, 3), make(1, 3)
    yield make(3, 4).t(), make(4, 3)
    yield make(2, 4, 3)[:, ::2], make(2, 3)
    yield make(0, 3), make(0, 3)
    yield error(make(4, 3), make(3))
    yield error(make(3, 4), make(3, 4))
    yield error(make(4, 3), make(5, 3))


@cases("aten::cross", NUMBERS, low=-5, high=5)
def cross(make):
    yield make(4, 3), make(4, 3)
    yield make(3, 4), make(3, 4)
    yield make(3, 3), make(3, 3), 1
    yield make(2, 3, 3), make(2, 3, 3)
    yield error(make(4, 2), make(4, 2))
    yield error(make(3, 4), make(3, 4), 1)


@cases("aten::matrix_power aten::linalg_matrix_power", NUMBERS, out_dtypes=False, low=-2, high=2, tolerance=HALF_SUMS, reason="PyTorch rounds each product of halves")
def matrix_power(make):
    for n in (0, 1, 2, 3, 5, 8):
        yield make(3, 3), n
    yield make(2, 3, 3).mT, 3
    yield make(0, 0), 2
    yield make(2, 0, 0), 0
    yield error(make(2, 3), 2)
    yield error(make(3), 2)


@cases("aten::linalg_matmul", NUMBERS, tolerance=HALF_SUMS, reason="PyTorch sums rounded products of halves, in some order")
def linalg_matmul(make):
    yield make(2, 3), make(3, 4)
    yield make(2, 1, 3, 4), make(5, 4, 2)


@cases("aten::mm aten::bmm", [torch.float32, torch.float64, torch.complex64, torch.complex128, torch.int32, torch.bfloat16], forms=False, low=-1, high=1,
       tolerance={torch.float32: (1e-5, 1e-4), torch.complex64: (1e-5, 1e-4)}, reason="many products are summed in another order")
def large(make, name):
    def matrices(rows, columns):
        return make(rows, columns) if name == "aten::mm" else make(2, rows, columns)
    yield matrices(80, 70), matrices(70, 90)
    yield matrices(70, 80).mT, matrices(70, 90)
    yield matrices(80, 70), matrices(90, 70).mT
    yield matrices(70, 80).mT, matrices(90, 70).mT
    yield matrices(80, 140)[..., ::2], matrices(70, 90)
    yield matrices(3, 700), matrices(700, 301)
    yield matrices(500, 90), matrices(90, 2)


@cases("aten::_euclidean_dist", FLOATS, tolerance={torch.float32: (1e-4, 1e-3), torch.float16: (2e-2, 2e-2),
                                                    torch.bfloat16: (5e-2, 5e-2)}, reason="differences of large sums")
def euclidean_dist(make):
    yield make(2, 3), make(4, 3) + 1
    yield make(2, 2, 3), make(2, 4, 3) - 3
    yield make(2, 0), make(4, 0)
    yield make(0, 3), make(4, 3)
    yield error(make(2, 3), make(4, 2))
