"""Linear algebra: solutions, factors, eigenvalues and singular values."""

import torch

from generator import call, cases, error

TYPES = [torch.float32, torch.float64, torch.complex64, torch.complex128]
LOOSE = {torch.float32: (1e-4, 1e-4), torch.complex64: (1e-4, 1e-4),
         torch.float64: (1e-7, 1e-7), torch.complex128: (1e-7, 1e-7)}
WHY = "errors grow with the condition of the matrix"


def regular(make, *sizes):
    """Returns matrices that are far from singular."""
    return make(*sizes) + 6 * torch.eye(sizes[-1], dtype=make.dtype)


def positive(make, *sizes):
    """Returns Hermitian matrices with positive eigenvalues that are well separated."""
    half = make(*sizes)
    steps = torch.diag(torch.arange(1, sizes[-1] + 1, dtype=torch.float64)).to(make.dtype)
    return half @ half.mH.resolve_conj() / 8 + 2 * steps


def singular(make):
    matrix = regular(make, 2, 3, 3)
    matrix[1, 2] = 0
    return matrix


def refuses(make, name, square=True):
    """Yields arguments that every operator on one matrix refuses."""
    yield error(make(3))
    yield error(make(3, 3, dtype=torch.int64))
    if square:
        yield error(make(2, 3))


SQUARE = ("aten::linalg_inv aten::inverse aten::linalg_det aten::det aten::_linalg_det aten::linalg_slogdet "
          "aten::slogdet aten::_linalg_slogdet aten::linalg_inv_ex")


@cases(SQUARE, TYPES, low=-1, high=1, out_dtypes=False, tolerance=LOOSE, reason=WHY)
def square(make, name):
    yield regular(make, 3, 3)
    yield regular(make, 3, 3).t()
    yield regular(make, 2, 4, 4)
    yield regular(make, 2, 4, 4).mT
    yield regular(make, 2, 3, 5, 5)[:, ::2]
    yield regular(make, 1, 1)
    yield make(0, 0)
    yield make(2, 0, 0)
    yield make(0, 3, 3)
    yield regular(make, 40, 40)
    yield from refuses(make, name)
    if name in ("aten::linalg_inv", "aten::inverse"):
        yield error(singular(make))
        yield error(singular(make)[1])
    if name == "aten::linalg_inv_ex":
        yield error(singular(make), check_errors=True)


@cases("aten::linalg_det aten::linalg_slogdet", TYPES, low=-1, high=1, out_dtypes=False, tolerance=LOOSE, reason=WHY)
def determinant_of_zero(make):
    yield torch.zeros(2, 2, dtype=make.dtype)
    yield torch.tensor([[0, 1], [1, 0]], dtype=make.dtype)
    yield make(3, 3) - 2 * torch.eye(3, dtype=make.dtype)


@cases("aten::logdet", TYPES[:2], low=-1, high=1, tolerance=LOOSE, reason=WHY)
def logdet(make):
    yield regular(make, 3, 3)
    yield -regular(make, 2, 3, 3)
    yield torch.zeros(2, 2, dtype=make.dtype)
    yield make(0, 0)


@cases("aten::linalg_solve aten::linalg_solve_ex aten::_linalg_solve_ex", TYPES, low=-1, high=1, out_dtypes=False,
       tolerance=LOOSE, reason=WHY)
def solve(make, name):
    yield regular(make, 3, 3), make(3, 2)
    yield regular(make, 3, 3), make(3)
    yield regular(make, 3, 3).t(), make(2, 3).t()
    yield regular(make, 2, 3, 3), make(2, 3, 4)
    yield regular(make, 2, 3, 3), make(2, 3)
    yield regular(make, 2, 3, 3), make(3)
    yield regular(make, 3, 3), make(2, 3, 4)
    yield regular(make, 2, 1, 3, 3), make(4, 3, 2)
    yield call(regular(make, 3, 3), make(2, 3), left=False)
    yield call(regular(make, 2, 3, 3).mT, make(2, 4, 3), left=False)
    yield make(0, 0), make(0, 2)
    yield regular(make, 3, 3), make(3, 0)
    yield make(0, 3, 3), make(0, 3, 2)
    yield regular(make, 50, 50), make(50, 7)
    yield error(regular(make, 3, 3), make(4, 2))
    yield error(regular(make, 3, 3), make(2, 3))
    yield error(make(3, 2), make(3, 2))
    yield error(make(3), make(3))
    yield error(make(3, 3), make())
    yield error(make(3, 3, dtype=torch.int64), make(3, 2, dtype=torch.int64))
    yield error(regular(make, 3, 3), make(3, 2, dtype=torch.float64 if make.dtype != torch.float64 else torch.float32))
    if name == "aten::linalg_solve":
        yield error(singular(make), make(2, 3, 2))


@cases("aten::linalg_solve_triangular", TYPES, low=-1, high=1, out_dtypes=False, tolerance=LOOSE, reason=WHY)
def solve_triangular(make):
    for upper in (True, False):
        yield call(regular(make, 3, 3), make(3, 2), upper=upper)
        yield call(regular(make, 3, 3).t(), make(2, 3).t(), upper=upper)
        yield call(regular(make, 2, 3, 3), make(2, 4, 3), upper=upper, left=False)
        yield call(regular(make, 3, 3), make(2, 3, 2), upper=upper, unitriangular=True)
        yield call(regular(make, 20, 20), make(20, 3), upper=upper)
    yield call(regular(make, 2, 3, 3), make(3, 4), upper=True)
    yield call(make(0, 0), make(0, 2), upper=True)
    yield error(regular(make, 3, 3), make(4, 2), upper=True)
    yield error(regular(make, 3, 3), make(3), upper=True)
    yield error(make(3, 4), make(4, 2), upper=True)


@cases("aten::linalg_cholesky aten::linalg_cholesky_ex", TYPES, low=-1, high=1, out_dtypes=False, tolerance=LOOSE,
       reason=WHY)
# PyTorch has removed its aten::cholesky.
@cases("aten::cholesky", TYPES, low=-1, high=1, out_dtypes=False, tolerance=LOOSE, reason=WHY,
       reference=lambda x, upper=False: torch.linalg.cholesky(x, upper=upper))
def cholesky(make, name):
    def of(matrix, upper=False):
        return call(matrix, upper=upper)
    yield of(positive(make, 3, 3))
    yield of(positive(make, 3, 3), True)
    yield of(positive(make, 2, 4, 4), True)
    yield of(positive(make, 2, 4, 4).mT)
    yield of(positive(make, 1, 1))
    yield of(make(0, 0))
    yield of(make(2, 0, 0))
    yield of(positive(make, 30, 30))
    yield from refuses(make, name)
    if name != "aten::linalg_cholesky_ex":
        yield error(-positive(make, 3, 3))
        yield error(-positive(make, 2, 3, 3))


@cases("aten::cholesky_solve", TYPES, low=-1, high=1, out_dtypes=False, tolerance=LOOSE, reason=WHY)
def cholesky_solve(make):
    yield make(3, 2), regular(make, 3, 3).tril()
    yield make(3, 2), regular(make, 3, 3).triu(), True
    yield make(2, 3, 2), regular(make, 3, 3).tril()
    yield make(3, 2), regular(make, 2, 3, 3).tril()
    yield make(0, 2), make(0, 0)
    yield error(make(4, 2), regular(make, 3, 3))
    yield error(make(3), regular(make, 3, 3))
    yield error(make(3, 2), make(3, 4))


@cases("aten::linalg_qr", TYPES, low=-1, high=1, out_dtypes=False, tolerance=LOOSE, reason=WHY)
def linalg_qr(make):
    for mode in ("reduced", "complete", "r"):
        yield regular(make, 3, 3), mode
        yield make(4, 3), mode
        yield make(3, 5), mode
        yield make(2, 4, 3).mT, mode
        yield make(0, 3), mode
        yield make(3, 0), mode
        yield make(2, 0, 0), mode
    yield make(30, 20), "reduced"
    yield error(make(3, 3), "full")
    yield from refuses(make, "", square=False)


# PyTorch has removed its aten::qr.
@cases("aten::qr", TYPES, low=-1, high=1, tolerance=LOOSE, reason=WHY,
       reference=lambda x, some=True: torch.linalg.qr(x, "reduced" if some else "complete"))
def qr(make):
    yield make(4, 3)
    yield make(2, 3, 4), False


def spread(make, m, n, *batch):
    """Returns matrices whose singular values are well separated."""
    k = min(m, n)
    matrix = make(*batch, m, n)
    matrix[..., range(k), range(k)] += torch.arange(3, 3 + 3 * k, 3).to(make.dtype)
    return matrix


@cases("aten::linalg_svd aten::_linalg_svd aten::svd", TYPES, low=-1, high=1, out_dtypes=False, magnitudes=True,
       tolerance=LOOSE, reason=WHY)
def svd(make, name):
    # With full matrices at most one vector is free, so that its magnitudes are determined.
    for full in (True, False):
        yield spread(make, 3, 3), full
        yield spread(make, 4, 3), full
        yield spread(make, 3, 4), full
        yield spread(make, 4, 3, 2).mT, full
        yield make(0, 3), full
        yield make(3, 0), full
        yield make(2, 0, 0), full
        yield spread(make, 1, 1), full
    yield spread(make, 20, 12), name == "aten::svd"
    yield spread(make, 12, 20), name == "aten::svd"
    if name != "aten::linalg_svd":
        yield spread(make, 4, 3, 2), True, False
        yield spread(make, 3, 4), False, False
    yield from refuses(make, name, square=False)
    if not make.dtype.is_complex:
        yield error(torch.full((2, 2), torch.nan, dtype=make.dtype))


@cases("aten::linalg_svdvals", TYPES, low=-1, high=1, out_dtypes=False, tolerance=LOOSE, reason=WHY)
def svdvals(make):
    yield make(3, 3)
    yield make(2, 4, 3)
    yield make(30, 50)
    yield make(0, 3)
    yield torch.zeros(3, 2, dtype=make.dtype)
    yield from refuses(make, "", square=False)


@cases("aten::linalg_eigh aten::_linalg_eigh aten::linalg_eigvalsh", TYPES, low=-1, high=1, out_dtypes=False,
       magnitudes=True, tolerance=LOOSE, reason=WHY)
def eigh(make, name):
    for uplo in ("L", "U", "l"):
        yield positive(make, 3, 3), uplo
        yield regular(make, 3, 3) @ torch.diag(torch.tensor([1, 3, 6])).to(make.dtype), uplo
    yield positive(make, 2, 4, 4)
    yield positive(make, 2, 4, 4).mT
    yield positive(make, 1, 1)
    yield positive(make, 20, 20)
    yield make(0, 0)
    yield make(2, 0, 0)
    if name == "aten::_linalg_eigh":
        yield positive(make, 3, 3), "L", False
    yield error(positive(make, 3, 3), "X")
    yield from refuses(make, name)


@cases("aten::matrix_power aten::linalg_matrix_power", TYPES, low=-1, high=1, out_dtypes=False, tolerance=LOOSE, reason=WHY)
def inverse_power(make):
    for n in (-1, -2, -3):
        yield regular(make, 3, 3), n
    yield regular(make, 2, 3, 3), -2
    yield error(singular(make), -1)
