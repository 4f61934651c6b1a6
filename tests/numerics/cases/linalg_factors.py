"""Linear algebra: factors as LAPACK stores them, least squares, pseudoinverses, eigenvalues, exponentials."""

import torch

from generator import call, cases, error

TYPES = [torch.float32, torch.float64, torch.complex64, torch.complex128]
REALS = TYPES[:2]
LOOSE = {torch.float32: (1e-4, 1e-4), torch.complex64: (1e-4, 1e-4),
         torch.float64: (1e-7, 1e-7), torch.complex128: (1e-7, 1e-7)}
WHY = "errors grow with the condition of the matrix"
LINALG = dict(low=-1, high=1, out_dtypes=False, tolerance=LOOSE, reason=WHY)


def regular(make, *sizes):
    """Returns matrices that are far from singular."""
    return make(*sizes) + 6 * torch.eye(sizes[-2], sizes[-1], dtype=make.dtype)


def hermitian(make, *sizes):
    half = make(*sizes)
    return half + half.mH.resolve_conj()


def refuses(make, square=True):
    """Yields arguments that every operator on one matrix refuses."""
    yield error(make(3))
    yield error(make(3, 3, dtype=torch.int64))
    if square:
        yield error(make(2, 3))


# LU factors

@cases("aten::linalg_lu_factor_ex aten::linalg_lu_factor aten::linalg_lu aten::_lu_with_info", TYPES, **LINALG)
def lu(make, name):
    yield make(3, 3)
    yield make(3, 3).t()
    yield make(4, 3)
    yield make(3, 5)
    yield make(2, 4, 3)
    yield make(2, 3, 4).mT
    yield make(2, 3, 5, 5)[:, ::2]
    yield make(1, 1)
    yield make(0, 3)
    yield make(3, 0)
    yield make(2, 0, 0)
    yield make(0, 3, 3)
    yield make(40, 30)
    yield torch.tensor([[0, 2, 1], [3, 1, 0], [0, 1, 2]], dtype=make.dtype)
    yield from refuses(make, square=False)
    if name != "aten::_lu_with_info":
        yield error(make(3, 3), pivot=False)
    singular = torch.tensor([[1, 2], [2, 4]], dtype=make.dtype)
    if name == "aten::linalg_lu_factor_ex":
        yield singular
        yield torch.zeros(2, 3, 3, dtype=make.dtype)
        yield error(singular, check_errors=True)
    if name == "aten::linalg_lu_factor":
        yield error(singular)
        yield error(torch.stack([torch.eye(2, dtype=make.dtype), singular]))


def lu_factors(make, *sizes):
    return torch.linalg.lu_factor(regular(make, *sizes).mT)


@cases("aten::lu_unpack", TYPES + [torch.int64, torch.float16], low=-1, high=1, out_dtypes=False)
def lu_unpack(make):
    def factors(*sizes):
        steps = torch.arange(min(sizes[-2:])) + 1
        pivots = torch.minimum(steps + 1, torch.tensor(sizes[-2])).int().expand(*sizes[:-2], -1)
        return make(*sizes), pivots.contiguous()
    for sizes in ((3, 3), (4, 3), (3, 5), (2, 4, 3), (2, 3, 3, 4), (1, 1), (0, 3), (3, 0), (2, 0, 0), (0, 3, 3)):
        yield factors(*sizes)
    data, pivots = factors(2, 4, 3)
    yield data.mT.contiguous().mT, pivots
    for unpack in ((True, False), (False, True), (False, False)):
        yield data, pivots, *unpack
    yield error(data, pivots.long())
    yield error(data, pivots[0])
    yield error(data, pivots + 10)
    yield error(data, pivots * 0)
    yield error(make(3), pivots)


@cases("aten::linalg_lu_solve", TYPES, **LINALG)
def linalg_lu_solve(make):
    for left in (True, False):
        for adjoint in (True, False):
            options = {"left": left, "adjoint": adjoint}
            b = make(2, 3, 4) if left else make(2, 4, 3)
            yield call(*lu_factors(make, 2, 3, 3), b, **options)
            yield call(*lu_factors(make, 3, 3), b, **options)
            yield call(*lu_factors(make, 2, 3, 3), b[0], **options)
            yield call(*lu_factors(make, 3, 3), b[0].t().contiguous().t(), **options)
    yield *lu_factors(make, 0, 0), make(0, 2)
    yield *lu_factors(make, 3, 3), make(3, 0)
    yield *lu_factors(make, 0, 3, 3), make(0, 3, 2)
    yield *lu_factors(make, 30, 30), make(30, 7)
    data, pivots = lu_factors(make, 2, 3, 3)
    yield error(data, pivots.long(), make(2, 3, 2))
    yield error(data, pivots + 100, make(2, 3, 2))
    yield error(data, -pivots, make(2, 3, 2))
    yield error(data, pivots[:, :2], make(2, 3, 2))
    yield error(data, pivots[:1], make(2, 3, 2))
    yield error(data, pivots, make(2, 4, 2))
    yield error(data, pivots, make(3))
    yield error(*lu_factors(make, 3, 4), make(3, 2))


@cases("aten::lu_solve", TYPES, **LINALG)
def lu_solve(make):
    yield make(2, 3, 2), *lu_factors(make, 2, 3, 3)
    yield make(3, 2), *lu_factors(make, 2, 3, 3)
    yield make(2, 3, 2), *lu_factors(make, 3, 3)
    yield error(make(2, 2), *lu_factors(make, 3, 3))


# Least squares and pseudoinverses

@cases("aten::linalg_lstsq", TYPES, **LINALG)
def lstsq(make):
    for driver in ("gels", "gelsy", "gelsd", "gelss"):
        yield call(regular(make, 3, 3), make(3, 2), driver=driver)
        yield call(regular(make, 5, 3), make(5, 2), driver=driver)
        yield call(regular(make, 3, 5), make(3, 2), driver=driver)
        yield call(regular(make, 2, 5, 3), make(2, 5, 2), driver=driver)
        yield call(regular(make, 2, 3, 5).mT, make(2, 5), driver=driver)
        yield call(regular(make, 5, 3), make(5), driver=driver)
        yield call(regular(make, 1, 5, 3), make(4, 5, 2), driver=driver)
        yield call(regular(make, 4, 3, 3), make(1, 3, 2), driver=driver)
        yield call(regular(make, 30, 20), make(30, 3), driver=driver)
        yield call(make(0, 3), make(0, 2), driver=driver)
        yield call(make(0, 3, 2), make(0, 3, 2), driver=driver)
        yield call(make(1, 1), make(1, 1), driver=driver)
    yield regular(make, 5, 3), make(5, 2)
    yield make(3, 0), make(3, 2)
    deficient = torch.ones(5, 3, dtype=make.dtype)
    yield error(torch.diag(torch.tensor([4, 3, 0])).to(make.dtype), make(3, 2), driver="gels")
    for driver in ("gelsd", "gelss", "gelsy"):
        # Only the first singular value is not a rounding error.
        yield call(deficient[:1], make(1, 2), driver=driver)
        yield call(torch.diag(torch.tensor([4, 3, 1])).to(make.dtype), make(3, 2), 0.5, driver=driver)
        yield call(torch.diag(torch.tensor([4, 3, 1])).to(make.dtype), make(3, 2), 0.1, driver=driver)
        yield call(torch.diag(torch.tensor([4, 3, 0])).to(make.dtype), make(3, 2), driver=driver)
    yield error(make(3, 3), make(3, 2), driver="qr")
    yield error(make(3, 3), make(4, 2))
    yield error(make(2, 3, 3), make(3))
    yield error(make(3, 3), make(2, 3, 3))
    yield error(make(2, 3, 3), make(3, 3, 2))
    yield error(make(3), make(3))
    yield error(make(3, 3), make(3, 2, dtype=torch.float64 if make.dtype != torch.float64 else torch.float32))
    if not make.dtype.is_complex:
        yield error(torch.full((3, 3), torch.nan, dtype=make.dtype), make(3, 2))
        yield error(regular(make, 3, 3), torch.full((3, 2), torch.nan, dtype=make.dtype))


def of_matrices(make, tolerances):
    """Yields arguments for pinv and matrix_rank: matrices, before tolerances."""
    for matrix in (make(3, 3), make(4, 3), make(2, 3, 5), make(2, 4, 3).mT, make(1, 1), make(0, 3), make(3, 0),
                   make(2, 0, 0), make(0, 3, 2)):
        yield tolerances(matrix)


def spread(make):
    """Returns matrices with the singular values 4, 1, 1/8."""
    q = torch.linalg.qr(make(2, 3, 3))[0]
    return q @ torch.diag(torch.tensor([4, 1, 0.125])).to(make.dtype) @ q.mH.resolve_conj()


@cases("aten::linalg_pinv aten::linalg_matrix_rank", TYPES, low=-1, high=1, tolerance=LOOSE, reason=WHY)
def pinv(make, name):
    yield from of_matrices(make, lambda matrix: (matrix, 1e-5))
    for tolerance in (0.1, 0.5, 2.0, -1.0, float("nan"), float("inf")):
        yield spread(make), tolerance
        yield spread(make), tolerance, True
    yield error(make(3), 1e-5)
    yield error(make(3, 3, dtype=torch.int64), 1e-5)
    yield error(make(3, 4), 1e-5, True)
    if not make.dtype.is_complex:
        yield error(torch.full((3, 3), torch.nan, dtype=make.dtype), 1e-5)


@cases("aten::pinverse", TYPES, low=-1, high=1, tolerance=LOOSE, reason=WHY)
def pinverse(make):
    yield make(3, 4)
    yield spread(make), 0.1


@cases("aten::linalg_pinv.rcond_tensor aten::linalg_matrix_rank.tol_tensor", TYPES, low=-1, high=1, tolerance=LOOSE,
       reason=WHY)
def pinv_tensor(make):
    yield make(3, 4), torch.tensor(1e-5)
    yield make(0, 4), torch.tensor(1e-5)
    yield spread(make), torch.tensor([0.1, 0.5])
    yield spread(make), torch.tensor([1, 0]), True
    yield spread(make)[0], torch.tensor([0.1, 0.5])
    yield error(spread(make), torch.ones(3))
    yield error(spread(make), torch.ones(2, dtype=torch.complex64))


@cases("aten::linalg_pinv.atol_rtol_float aten::linalg_matrix_rank.atol_rtol_float", TYPES, low=-1, high=1,
       tolerance=LOOSE, reason=WHY)
def pinv_tolerances(make):
    yield make(3, 4)
    yield torch.zeros(3, 3, dtype=make.dtype)
    for options in ({}, {"atol": 0.5}, {"rtol": 0.1}, {"atol": 0.0}, {"atol": 0.2, "rtol": 0.5}):
        yield call(spread(make), **options)
        yield call(spread(make), **options, hermitian=True)


@cases("aten::linalg_pinv.atol_rtol_tensor aten::linalg_matrix_rank.atol_rtol_tensor", TYPES, low=-1, high=1,
       tolerance=LOOSE, reason=WHY)
def pinv_tensor_tolerances(make):
    yield make(3, 4)
    half = torch.tensor([0.5, 0])
    for options in ({}, {"atol": half}, {"rtol": torch.tensor(0.1)}, {"atol": half, "rtol": half.double()},
                    {"atol": torch.tensor([0, 2])}):
        yield call(spread(make), **options)
        yield call(spread(make), **options, hermitian=True)
    yield error(spread(make), atol=torch.ones(3))
    yield error(spread(make), rtol=torch.ones(2, dtype=torch.complex64))


@cases("aten::linalg_cond", TYPES, low=-1, high=1, tolerance=LOOSE, reason=WHY)
def cond(make):
    for p in (None, 1, -1, 2, -2, float("inf"), -float("inf")):
        yield regular(make, 2, 3, 3), p
        yield regular(make, 3, 3), p
        yield make(0, 0), p
        yield make(2, 0, 0), p
        yield make(0, 3, 3), p
        yield torch.ones(1, 1, dtype=make.dtype), p
    for p in (1, -float("inf")):
        yield torch.zeros(2, 2, dtype=make.dtype), p
        yield torch.ones(2, 2, dtype=make.dtype), p
        yield error(make(2, 3), p)
    yield regular(make, 4, 3)
    yield regular(make, 4, 3), -2
    yield error(make(3, 3), 3)
    yield from refuses(make, square=False)


@cases("aten::linalg_cond.p_str", TYPES, low=-1, high=1, tolerance=LOOSE, reason=WHY)
def cond_named(make):
    for p in ("fro", "nuc"):
        yield regular(make, 2, 3, 3), p
        yield regular(make, 3, 3), p
        yield make(0, 0), p
        yield torch.zeros(2, 2, dtype=make.dtype), p
        yield error(make(2, 3), p)
    yield error(make(3, 3), "x")


@cases("aten::linalg_polar", TYPES, **LINALG)
def polar(make):
    for sizes in ((3, 3), (4, 3), (2, 4, 3), (1, 1)):
        yield regular(make, *sizes)
    yield regular(make, 2, 3, 3).mT
    yield make(3, 0)
    yield make(2, 0, 0)
    yield error(make(3, 4))
    yield error(make(0, 3))
    yield from refuses(make, square=False)


@cases("aten::linalg_matrix_sqrth", TYPES, **LINALG)
def matrix_sqrth(make):
    for sizes in ((3, 3), (2, 3, 3), (1, 1), (0, 0), (2, 0, 0)):
        yield hermitian(make, *sizes) + 8 * torch.eye(sizes[-1], dtype=make.dtype)
        yield hermitian(make, *sizes)
    yield make(3, 3)
    yield torch.diag(torch.tensor([4, -1, 9])).to(make.dtype)
    yield from refuses(make)


@cases("aten::linalg_matrix_norm", TYPES, low=-1, high=1, out_dtypes=False, tolerance=LOOSE, reason=WHY)
def matrix_norm(make):
    for order in (1, -1, 2, -2, float("inf"), -float("inf")):
        yield make(3, 4), order
        yield make(2, 3, 4), order
        yield make(2, 3, 4), order, (0, -1), True
        yield make(2, 3, 4), order, (2, 0)
        yield make(0, 3, 3), order
    for sizes in ((0, 3), (3, 0), (2, 3, 0)):
        for order in (1, 2, float("inf")):
            yield make(*sizes), order
    yield error(make(2, 3, 0), -2)
    yield call(make(3, 4), 1, dtype=torch.complex128 if make.dtype.is_complex else torch.float64)
    yield error(make(3, 4), 1, dtype=torch.float64 if make.dtype.is_complex else torch.complex128)
    if make.dtype in (torch.float64, torch.complex128):
        yield error(make(3, 4), 1, dtype=torch.complex64 if make.dtype.is_complex else torch.float32)
    yield error(make(3, 4), 3)
    yield error(make(3, 4), 1, (0, 0))
    yield error(make(3, 4), 1, (0,))
    yield error(make(2, 3, 4), 1, (0, 1, 2))
    yield from (error(*one.args, 1) for one in refuses(make, square=False))


@cases("aten::linalg_matrix_norm.str_ord", TYPES, low=-1, high=1, out_dtypes=False, tolerance=LOOSE, reason=WHY)
def matrix_norm_named(make):
    yield make(2, 3, 4)
    for order in ("fro", "nuc"):
        yield make(3, 4), order
        yield make(2, 3, 4), order, (0, -1)
        yield make(2, 3, 4), order, (0, 1), True
        yield make(0, 3), order
    yield error(make(3, 4), "x")
    yield error(make(3, 4), "fro", (0,))
    yield error(make())


@cases("aten::svd.U", TYPES, **{**LINALG, "magnitudes": True})
def svd_out(make):
    for some, compute in ((True, True), (False, True), (True, False)):
        matrix = make(4, 3) + torch.diag(torch.tensor([9, 6, 3, 1]))[:, :3].to(make.dtype)
        empty = make.dtype
        real = empty.to_real()
        yield call(matrix, some, compute, U=torch.empty(0, dtype=empty), S=torch.empty(0, dtype=real),
                   V=torch.empty(0, dtype=empty))


@cases("aten::chain_matmul", TYPES, low=-2, high=2, out_dtypes=False)
def chain_matmul(make):
    yield [make(2, 3)],
    yield [make(2, 3), make(3, 4), make(4, 2)],
    yield error([])
    yield error([make(3)])
    yield error([make(3), make(3, 2)])
    yield error([make(2, 3), make(2, 3)])


# Triangles and Cholesky factors

@cases("aten::triangular_solve", TYPES, **LINALG)
def triangular_solve(make):
    for upper in (True, False):
        for transpose in (True, False):
            for unit in (True, False):
                yield make(2, 3, 2), regular(make, 2, 3, 3), upper, transpose, unit
    yield make(3, 2), regular(make, 2, 3, 3)
    yield make(2, 3, 2), regular(make, 3, 3)
    yield make(3, 2), regular(make, 3, 3).t()
    yield make(0, 2), make(0, 0)
    yield make(3, 0), make(3, 3)
    yield make(20, 3), regular(make, 20, 20)
    yield error(make(3), make(3, 3))
    yield error(make(4, 2), make(3, 3))
    yield error(make(3, 2), make(3, 4))
    yield error(make(3, 2, dtype=torch.int64), make(3, 3, dtype=torch.int64))


@cases("aten::cholesky_inverse", TYPES, low=-1, high=1, tolerance=LOOSE, reason=WHY)
def cholesky_inverse(make):
    def factors(*sizes):
        matrix = regular(make, *sizes)
        return torch.where(torch.eye(sizes[-1], dtype=torch.bool), matrix.real.to(make.dtype), matrix)
    for upper in (True, False):
        yield factors(3, 3), upper
        yield factors(2, 3, 3), upper
        yield factors(2, 3, 3).mT, upper
        yield factors(1, 1), upper
    yield make(0, 0)
    yield make(2, 0, 0)
    yield factors(20, 20)
    yield error(torch.zeros(3, 3, dtype=make.dtype))
    yield error(torch.stack([factors(3, 3), torch.zeros(3, 3, dtype=make.dtype)]))
    yield from refuses(make)


# Eigenvalues

def ordered(make, *batch):
    """Returns triangles, whose eigenvalues LAPACK finds in order."""
    return make(*batch, 4, 4).triu(1) + torch.diag(torch.tensor([1, -2, 4, 7])).to(make.dtype)


@cases("aten::linalg_eig", TYPES, **{**LINALG, "magnitudes": True})
def eig(make):
    yield ordered(make)
    yield ordered(make, 2)
    yield ordered(make, 2, 2)[:, 1]
    yield make(1, 1)
    yield make(0, 0)
    yield make(2, 0, 0)
    yield make(0, 3, 3)
    if not make.dtype.is_complex:
        yield torch.tensor([[1, -2, 0], [2, 1, 0], [0, 0, 3]], dtype=make.dtype)
        yield error(torch.full((2, 2), torch.nan, dtype=make.dtype))
        yield error(torch.full((2, 2), torch.inf, dtype=make.dtype))
    yield from refuses(make)


@cases("aten::linalg_eigvals aten::_linalg_eigvals", TYPES, **LINALG)
def eigvals(make):
    yield ordered(make)
    yield ordered(make, 2)
    yield ordered(make).mT if make.dtype.is_complex else torch.tensor([[1, -2], [2, 1]], dtype=make.dtype)
    yield make(1, 1)
    yield make(0, 0)
    yield make(0, 3, 3)
    yield from refuses(make)


# QR factors as LAPACK stores them

@cases("aten::geqrf", TYPES, **LINALG)
def geqrf(make):
    for sizes in ((3, 3), (4, 3), (3, 5), (2, 4, 3), (1, 1), (0, 3), (3, 0), (2, 0, 0), (30, 20)):
        yield make(*sizes)
    yield make(2, 4, 3).mT
    yield from refuses(make, square=False)


@cases("aten::linalg_householder_product aten::orgqr", TYPES, **LINALG)
def householder_product(make):
    for sizes in ((3, 3), (4, 3), (2, 4, 3), (1, 1), (3, 0), (0, 0), (2, 0, 0), (30, 20)):
        yield tuple(torch.geqrf(make(*sizes)))
    q, tau = torch.geqrf(make(2, 4, 3))
    yield q, tau[:, :2]
    yield q, tau[:, :0]
    yield q.contiguous(), tau.mT.contiguous().mT
    yield make(4, 2), make(2)
    yield error(q[:, :, :2], tau)
    yield error(q, tau[0])
    yield error(q, tau[:1])
    yield error(q.mT, tau)
    yield error(q, tau.to(torch.complex128 if make.dtype != torch.complex128 else torch.float64))
    yield error(make(3), make(3))


@cases("aten::ormqr", TYPES, **LINALG)
def ormqr(make):
    for transpose in (True, False):
        for sizes in ((4, 3), (3, 5), (4, 4), (2, 4, 3)):
            q, tau = torch.geqrf(make(*sizes))
            batch, rows = sizes[:-2], sizes[-2]
            yield q, tau, make(*batch, rows, 2), True, transpose
            yield q, tau, make(*batch, 2, rows), False, transpose
            yield q.contiguous(), tau, make(*batch, 2, rows).mT, True, transpose
    q, tau = torch.geqrf(make(2, 4, 3))
    yield q[..., :2], tau[..., :2], make(2, 4, 2)
    yield q, tau, make(2, 4, 0)
    yield make(0, 0), make(0), make(0, 3)
    yield tuple(torch.geqrf(make(20, 12))) + (make(20, 5),)
    yield error(q, tau[:, :2], make(2, 4, 2))
    yield error(q, tau, make(2, 3, 2))
    yield error(q, tau, make(4, 2))
    yield error(q, tau, make(3, 4, 2))
    yield error(q, tau[0], make(2, 4, 2))


# LDL factors

@cases("aten::linalg_ldl_factor_ex aten::linalg_ldl_factor", TYPES, **LINALG)
def ldl_factor(make, name):
    for half in (make(3, 3), make(2, 5, 5), make(5, 5).t(), regular(make, 4, 4), make(1, 1), make(0, 0), make(2, 0, 0),
                 make(20, 20)):
        yield half
        yield call(half.mH.resolve_conj() + half, hermitian=True)
    yield torch.tensor([[0, 1, 2], [1, 0, 3], [2, 3, 0]], dtype=make.dtype)
    if name == "aten::linalg_ldl_factor_ex":
        yield torch.zeros(2, 2, dtype=make.dtype)
        yield error(torch.zeros(2, 2, dtype=make.dtype), check_errors=True)
    else:
        yield error(torch.zeros(2, 2, dtype=make.dtype))
    yield from refuses(make)


@cases("aten::linalg_ldl_solve", TYPES, **LINALG)
def ldl_solve(make):
    for is_hermitian in (True, False):
        for sizes in ((3, 3), (2, 5, 5), (1, 1)):
            matrix = hermitian(make, *sizes) if is_hermitian else make(*sizes) + make(*sizes).mT
            data, pivots = torch.linalg.ldl_factor(matrix, hermitian=is_hermitian)
            yield call(data, pivots, make(*sizes[:-1], 2), hermitian=is_hermitian)
    data, pivots = torch.linalg.ldl_factor(regular(make, 2, 3, 3))
    yield data, pivots, make(3, 2)
    yield data[0], pivots[0], make(2, 3, 2)
    yield data, pivots.long(), make(2, 3, 2)
    yield make(0, 0), pivots[0, :0], make(0, 2)
    yield data, pivots, make(2, 3, 0)
    yield error(data, pivots[0], make(2, 3, 2))
    yield error(data, pivots, make(2, 4, 2))
    yield error(data, pivots, make(3))
    yield error(data, pivots.float(), make(2, 3, 2))
    # PyTorch passes such pivots to LAPACK, which reads other memory.
    yield error(data, pivots * 0, make(2, 3, 2))
    yield error(data, pivots + 9, make(2, 3, 2))
    yield error(data[..., :1, :1], -pivots[..., :1], make(2, 1, 2), unchecked=True)


# Products

@cases("aten::linalg_tensorinv", TYPES, **LINALG)
def tensorinv(make):
    yield regular(make, 24, 24).reshape(4, 6, 8, 3)
    yield regular(make, 24, 24).reshape(24, 8, 3), 1
    yield regular(make, 6, 6).reshape(2, 3, 6)
    yield make(0, 0), 1
    yield error(make(3, 3), 0)
    yield error(make(3, 3), -1)
    yield error(make(1, 1), 5)
    yield error(make(4, 6, 8, 2))
    yield error(torch.zeros(4, 4, dtype=make.dtype), 1)


@cases("aten::linalg_tensorsolve", TYPES, **LINALG)
def tensorsolve(make):
    yield regular(make, 24, 24).reshape(6, 4, 2, 3, 4), make(6, 4)
    yield regular(make, 24, 24).reshape(6, 4, 3, 8).movedim(2, 0), make(6, 4), (0,)
    yield regular(make, 24, 24).reshape(6, 4, 3, 2, 4).permute(2, 0, 1, 4, 3), make(6, 4), (0, -1)
    yield regular(make, 3, 3), make(3)
    yield error(make(6, 4, 2, 3), make(6, 4))
    yield error(make(6, 4, 2, 3, 4), make(6, 4), (7,))
    yield error(make(6, 4, 2, 3, 4), make(6, 4), (0, 0))


@cases("aten::nuclear_norm", TYPES, low=-1, high=1, out_dtypes=False, tolerance=LOOSE, reason=WHY)
def nuclear_norm(make):
    yield make(3, 4),
    yield make(2, 3, 4), True
    yield make(0, 3),
    yield error(make(3))


@cases("aten::nuclear_norm.dim", TYPES, low=-1, high=1, out_dtypes=False, tolerance=LOOSE, reason=WHY)
def nuclear_norm_dims(make):
    yield make(3, 4), (0, 1)
    yield make(2, 3, 4), (0, -1)
    yield make(2, 3, 4), (2, 0), True
    yield error(make(3, 4), (0, 2))


@cases("aten::vander", TYPES + [torch.float16, torch.int32, torch.int64, torch.uint8, torch.bool], low=-2, high=2)
def vander_columns(make):
    for increasing in (False, True):
        yield make(3), None, increasing
        yield make(3), 5, increasing
        for columns in (0, 1, 2):
            yield make(3), columns, increasing
    yield make(6)[::2],
    yield make(0), 3
    yield make(0),
    yield error(make(3), -1)
    yield error(make(2, 3))
    yield error(make())


@cases("aten::linalg_vander", TYPES + [torch.int32, torch.int64, torch.uint8], low=-2, high=2)
def vander(make):
    yield make(3)
    yield call(make(2, 3), N=5)
    yield call(make(3), N=2)
    yield call(make(0), N=3)
    yield call(make(2, 3).t(), N=4)
    yield call(make(), N=3)
    yield error(make(3), N=1)
    yield error(make(3), N=-1)
    yield error(make(0))
    yield error(make())
    yield error(torch.ones(3, dtype=torch.bool))
    yield error(torch.ones(3, dtype=torch.float16))


@cases("aten::linalg_multi_dot", TYPES + [torch.int64], low=-2, high=2, out_dtypes=False)
def multi_dot(make):
    yield [make(2, 3), make(3, 4)],
    yield [make(3), make(3, 4), make(4)],
    yield [make(3), make(3)],
    yield [make(4, 3).t(), make(4, 5), make(5, 2)],
    yield [make(2, 3), make(3, 4), make(4, 5), make(5, 1)],
    yield [make(1, 9), make(9, 2), make(2, 8), make(8, 3), make(3)],
    yield [make(3, 0), make(0, 2)],
    yield error([make(3)])
    yield error([make(2, 3), make(2, 3)])
    yield error([make(2, 3), make(3), make(3, 2)])
    yield error([make(1, 2, 3), make(3, 2)])
    yield error([make(2, 3), make(3, 2).to(torch.float16)])


@cases("aten::linalg_matrix_exp aten::matrix_exp", TYPES + [torch.float16, torch.bfloat16], low=-1, high=1,
       out_dtypes=False, tolerance={**LOOSE, torch.float16: (2e-3, 1e-3), torch.bfloat16: (1.6e-2, 1e-2)}, reason=WHY)
def matrix_exp(make, name):
    yield make(3, 3)
    yield make(3, 3).t()
    yield make(2, 4, 4)
    yield make(2, 4, 4).mT
    yield make(1, 1)
    yield make(2, 1, 1)
    yield make(0, 0)
    yield make(2, 0, 0)
    yield make(0, 3, 3)
    yield torch.zeros(3, 3, dtype=make.dtype)
    yield torch.diag(torch.tensor([0.5, -6, 3])).to(make.dtype)
    if make.dtype in TYPES:
        yield make(2, 3, 3) * torch.tensor([1e-3, 6]).to(make.dtype)[:, None, None]
        yield make(20, 20)
        yield torch.tensor([[0, 1], [0, 0]]).to(make.dtype) * 100
        for value in (torch.nan, torch.inf):
            yield torch.stack([torch.full((3, 3), value), torch.eye(3)]).to(make.dtype)
            yield torch.tensor([[value]]).to(make.dtype)
    yield from refuses(make)


@cases("aten::linalg_vecdot", TYPES, low=-1, high=1, out_dtypes=False)
def vecdot(make):
    yield make(2, 4, 3), make(2, 4, 3)
    yield call(make(2, 4, 3), make(2, 4, 3), dim=0)
    yield call(make(2, 4, 3), make(3), dim=1)
    yield make(2, 4, 3), make(3)
    yield make(3), make(3)
    yield make(), make()
    yield make(2, 0), make(2, 0)
    yield make(2, 3), make(2, 1)
    yield error(make(2, 3), make(2, 2))
    yield error(make(2, 3), make(2, 3), dim=2)
    yield error(make(3), make(3, dtype=torch.int64))
    yield error(make(3, dtype=torch.int64), make(3, dtype=torch.int64))


@cases("aten::linalg_diagonal", TYPES, low=-1, high=1)
def diagonal(make):
    yield make(3, 4)
    yield make(2, 3, 4)
    yield call(make(2, 3, 4), offset=1, dim1=0, dim2=2)
    yield error(make(3))


@cases("aten::_linalg_check_errors", [torch.int32])
def check_errors(make):
    good, bad = torch.zeros(2, dtype=torch.int32), torch.tensor([0, 2], dtype=torch.int32)
    yield call(good, "linalg.inv", is_matrix=False)
    yield call(good[0], "linalg.inv", is_matrix=True)
    for name in ("linalg.inv", "linalg.eig", "linalg.cholesky", "linalg.svd", "linalg.lstsq", "linalg.lu_factor",
                 "linalg.solve", "other"):
        yield error(bad, name, is_matrix=False)
        yield error(bad[1], name, is_matrix=True)
    yield error(bad, "linalg.inv", is_matrix=True)
    yield error(good.long(), "linalg.inv", is_matrix=False)
