"""Tensors put together of others, split into parts, resized, and changed at chosen elements."""

import torch

from generator import ALL, call, cases, error

SOME = [torch.float32, torch.int64, torch.bool, torch.bfloat16, torch.complex64]
WITHOUT_BFLOAT16 = [dtype for dtype in ALL if dtype != torch.bfloat16]
NUMBERS = [torch.float32, torch.float64, torch.int64]


@cases("aten::block_diag", SOME)
def block_diag(make):
    yield [make(2, 3), make(1, 2)],
    yield [make(3), make(), make(0)],
    yield [make(2, 2), make(2, dtype=torch.float64)],
    yield error([make(2, 2, 2)])


@cases("aten::cartesian_prod", SOME)
def cartesian_prod(make):
    yield [make(2), make(3)],
    yield [make(4)],
    yield [make(2), make(0), make(3)],
    yield error([make(2, 2)])


@cases("aten::combinations", SOME)
def combinations(make):
    yield make(4),
    yield make(4), 3
    yield make(3), 2, True
    yield make(3), 0
    yield make(3), 1
    yield make(2), 3
    yield error(make(2, 2))
    yield error(make(3), -1)


@cases("aten::hsplit.int aten::vsplit.int aten::dsplit.int", SOME)
def split_equally(make, name):
    yield make(4, 4, 4), 2
    yield make(4, 4, 2).permute(2, 1, 0), 2
    if "hsplit" in name:
        yield make(6), 3
    yield error(make(4, 4, 4), 3)
    yield error(make(4, 4, 4), 0)
    yield error(make(), 1)


@cases("aten::hsplit.array aten::vsplit.array aten::dsplit.array", SOME)
def split_at(make):
    yield make(4, 4, 4), [1, 3]
    yield make(4, 4, 4), []
    yield error(make(), [1])


@cases("aten::unsafe_split.Tensor", SOME)
def unsafe_split(make):
    yield make(5, 3), 2
    yield make(5, 3), 2, 1


@cases("aten::unsafe_split_with_sizes", SOME)
def unsafe_split_with_sizes(make):
    yield make(5, 3), [2, 3]


@cases("aten::unsafe_chunk", SOME)
def unsafe_chunk(make):
    yield make(5, 3), 2


@cases("aten::sum_to_size", NUMBERS)
def sum_to_size(make):
    yield make(2, 3, 4), [3, 1]
    yield make(2, 3, 4), [2, 3, 4]
    yield make(2, 3), []
    yield make(), []
    yield error(make(2, 3), [2])


@cases("aten::mH", [torch.float32, torch.int64], forms=False)
def matrix_adjoint(make):
    yield make(2, 3, 4),
    yield error(make(3))


@cases("aten::matrix_H", [torch.float32, torch.int64], forms=False)
def matrix_h(make):
    yield make(2, 3),
    yield error(make(2, 3, 4))


@cases("aten::diag_embed", SOME)
def diag_embed(make):
    yield make(3),
    yield make(2, 3), 1, 0, 2


@cases("aten::resize_", SOME, forms=False)
def resize(make):
    yield make(2, 3), [3, 2]
    yield make(2, 3), [4]
    yield make(2, 3), []
    yield make(3, 2).t(), [2, 2]
    yield error(make(3), [-1])


@cases("aten::resize_as_", SOME, forms=False)
def resize_as(make):
    yield make(2, 3), make(5)
    yield make(6), make(2, 3).t()


@cases("aten::lift_fresh", SOME, forms=False)
def lift_fresh(make):
    yield make(2, 3),


@cases("aten::lift_fresh_copy", SOME, forms=False)
def lift_fresh_copy(make):
    yield make(2, 3),


@cases("aten::put", SOME)
def put(make):
    yield make(3, 4), torch.tensor([0, 5, -1]), make(3)
    yield make(4, 3).t(), torch.tensor([[0, 5], [2, 7]]), make(2, 2)
    yield make(3), torch.tensor([], dtype=torch.int64), make(0)
    yield error(make(3), torch.tensor([3]), make(1))
    yield error(make(3), torch.tensor([0]), make(2))
    yield error(make(3), torch.tensor([0], dtype=torch.int16), make(1))


@cases("aten::put", [torch.float32, torch.int64])
def put_accumulated(make):
    yield make(3, 4), torch.tensor([0, 5, 5]), make(3), True


@cases("aten::index_reduce", NUMBERS)
def index_reduce(make):
    for reduce in ("prod", "mean", "amax", "amin"):
        yield make(3, 4), 0, torch.tensor([0, 2, 0]), make(3, 4), reduce
        yield call(make(3, 4), 1, torch.tensor([1, 1]), make(3, 2), reduce, include_self=False)
    yield error(make(3, 4), 0, torch.tensor([0]), make(1, 4), "sum")
    yield error(make(3, 4), 0, torch.tensor([3]), make(1, 4), "prod")
    yield error(make(3, 4), 0, torch.tensor([0, 1]), make(1, 4), "prod")


@cases("aten::nonzero_static", SOME)
def nonzero_static(make):
    x = make(3, 4).clone()
    x[0] = 0
    yield call(x, size=3)
    yield call(x, size=20)
    yield call(x, size=14, fill_value=7)
    yield call(x, size=0)
    yield error(x, size=-1)


@cases("aten::isreal", ALL)
def isreal(make):
    yield make(2, 3),
    yield make(0),


# PyTorch refuses real numbers.
@cases("aten::_conj aten::_conj_copy", [torch.complex64, torch.complex128])
def conj(make):
    yield make(2, 3)
    yield make(3, 4).t()
    yield make()


@cases("aten::_neg_view aten::_neg_view_copy", [torch.float32, torch.int64, torch.complex64])
def neg_view(make):
    yield make(2, 3)
    yield make(3, 4).t()


@cases("aten::_conj_physical", [torch.complex64, torch.complex128])
def conj_physical(make):
    yield make(2, 3),


@cases("aten::frexp.Tensor", [torch.float32, torch.float64, torch.float16, torch.bfloat16], upcast=False)
def frexp(make):
    yield make(2, 3),
    yield make.special(),
    yield torch.tensor([0.0, -0.0, 1e-40, -3e-42, 1.0, 0.5, -8.0]).to(make.dtype),


@cases("aten::can_cast", [torch.float32])
def can_cast(make):
    for source in (torch.float32, torch.int64, torch.complex64, torch.bool):
        for target in (torch.float32, torch.int64, torch.complex64, torch.bool):
            yield source, target


@cases("aten::linspace.Tensor_Tensor aten::linspace.Tensor_Scalar aten::linspace.Scalar_Tensor "
       "aten::logspace.Tensor_Tensor aten::logspace.Tensor_Scalar aten::logspace.Scalar_Tensor", [torch.float32, torch.float64])
def spaces(make, name):
    first, second = name.split(".")[1].split("_")[:2]
    start, end = (torch.tensor(1.0) if first == "Tensor" else 1.0), (torch.tensor(3.0) if second == "Tensor" else 3.0)
    yield start, end, 5
    yield call(start, end, 4, dtype=make.dtype)
    yield start, end, 0
    if first == "Tensor":
        yield error(torch.tensor([1.0]), end, 3)


@cases("aten::new_empty_strided", [torch.float32])
def new_empty_strided(make):
    yield error(make(3), [2, 2], [1])


@cases("aten::_chunk_cat", SOME)
def chunk_cat(make):
    yield [make(3, 4), make(5, 2)], 0, 2
    yield [make(3, 4).t(), make(4, 2)], 1, 2
    yield [make(2, 2, 3), make(2, 3, 2)], -2, 4
    yield [make(2)], 0, 1
    yield error([make(2, 2, 3), make(2, 3, 2)], -1, 2)
    yield error([make(2), make(0)], 0, 2)
    yield error([make(2), make(2, dtype=torch.float64)], 0, 2)
    yield error([make(2), make()], 0, 2)
    yield error([], 0, 2)
    yield error([make(2)], 0, 0)


# PyTorch has complex numbers of two bfloat16, which boxcar lacks.
@cases("aten::result_type.Tensor", WITHOUT_BFLOAT16, forms=False)
def result_type(make):
    for other in WITHOUT_BFLOAT16:
        yield make(2), torch.ones(2, dtype=other)
        yield make(2), torch.tensor(1, dtype=other)
        yield make(), torch.tensor(1, dtype=other)


@cases("aten::result_type.Scalar aten::result_type.Scalar_Tensor", WITHOUT_BFLOAT16, forms=False)
def result_type_number(make, name):
    for number in (2, 1.5, 2j):
        for x in (make(2), make()):
            yield (number, x) if name.endswith("Scalar_Tensor") else (x, number)


@cases("aten::result_type.Scalar_Scalar", [torch.float32], forms=False)
def result_type_numbers(make):
    for first in (2, 1.5, 2j):
        for second in (2, 1.5, 2j):
            yield first, second


@cases("aten::_assert_async", SOME, forms=False)
def assert_async(make):
    yield torch.ones(1, 1, dtype=make.dtype),
    yield error(torch.zeros((), dtype=make.dtype))
    yield error(make(2))
    yield error(make(0))


@cases("aten::_assert_async.msg", [torch.float32, torch.bool], forms=False)
def assert_async_text(make):
    yield torch.ones((), dtype=make.dtype), "holds"
    yield error(torch.zeros(1, dtype=make.dtype), "does not hold {}")


@cases("aten::_functional_assert_async.msg", [torch.float32, torch.bool], forms=False, gradients=False)
def functional_assert_async(make):
    yield torch.ones((), dtype=make.dtype), "holds", torch.ones(2, 3).t()
    yield error(torch.zeros(1, dtype=make.dtype), "does not hold {}", torch.ones(2))
    yield error(make(2), "too many", torch.ones(2))


@cases("aten::_assert_scalar", [torch.float32], forms=False)
def assert_scalar(make):
    for number in (1, -2.5, float("nan"), 1j):
        yield number, "holds"
    for number in (0, 0.0, -0.0, 0j):
        yield error(number, "does not hold {}")


@cases("aten::_functional_assert_scalar", [torch.float32], forms=False, gradients=False)
def functional_assert_scalar(make):
    yield 3, "holds", make(2, 3)
    yield 0.5, "holds", make(0)
    yield error(0, "does not hold {}", make(2))


@cases("aten::_assert_tensor_metadata", [torch.float32, torch.int64], forms=False)
def assert_metadata(make):
    yield make(2, 3),
    yield call(make(2, 3), [2, 3], [3, 1], make.dtype, device=torch.device("cpu"), layout=torch.strided)
    yield error(make(2, 3), [3, 2])
    yield error(make(2, 3), [2])
    yield error(make(2, 3), None, [1, 1])
    yield error(make(2, 3), None, None, torch.bool)
    yield error(make(2, 3), device=torch.device("meta"))


@cases("aten::set_", SOME, forms=False)
def set_to_nothing(make):
    yield make(2, 3),
    yield make(),


@cases("aten::set_.source_Tensor", SOME, forms=False)
def set_to_tensor(make):
    yield make(2), make(3, 4)[1:, ::2]
    yield make(2), make()
    yield make(0), make(0, 2)
    # PyTorch keeps the dtype and reads memory of another.
    yield error(make(2), make(2, dtype=torch.float64), unchecked=True)


@cases("aten::set_.source_Tensor_storage_offset", SOME, forms=False)
def set_to_part(make):
    yield make(2), make(3, 4), 1, [2, 2], [1, 2]
    yield make(2), make(3, 4)[1:], 1, [2, 3]
    yield make(2), make(3, 4), 12, [0]
    yield error(make(2), make(3, 4).t(), 0, [2])
    yield error(make(2), make(3, 4), -1, [2])
    yield error(make(2), make(3, dtype=torch.float64), 0, [2], unchecked=True)
