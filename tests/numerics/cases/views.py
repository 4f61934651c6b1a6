"""Views."""

import torch

from generator import ALL, cases, error, layouts

SOME = [torch.float32, torch.int64, torch.bool, torch.bfloat16, torch.complex64]


@cases("aten::as_strided aten::as_strided_copy", SOME)
def as_strided(make):
    x = make(12)
    yield x, [2, 3], [3, 1]
    yield x, [2, 3], [1, 2], 4
    yield x, [3], [0]
    yield x, [], []
    yield x, [0, 3], [3, 1]
    yield make(24)[2:], [2, 2], [4, 1], 1
    yield error(x, [2, 3], [3])
    yield error(x, [13], [1])
    yield error(x, [2, 3], [-3, 1])
    yield error(x, [2], [1], -1)
    yield error(x, [-2], [1])
    yield error(x, [2], [2 ** 62], unchecked=True)


@cases("aten::view aten::view_copy aten::reshape aten::_unsafe_view", SOME)
def view(make, name):
    yield make(2, 6), [3, 4]
    yield make(2, 6), [-1]
    yield make(2, 6), [2, -1, 3]
    yield make(2, 6), [2, 1, 6, 1]
    yield make(), [1, 1]
    yield make(1), []
    yield make(0, 3), [3, 0]
    yield make(0, 3), [0, -1]
    yield make(2, 6, 4)[:, :, :2], [12, 2]
    yield make(4, 3).t(), [3, 4]
    yield make(4, 3).t(), [12]  # a view cannot have it
    yield make(2, 3, 4).permute(1, 2, 0), [3, 2, 2, 2]
    yield make(3, 1).expand(3, 4), [3, 2, 2]
    yield error(make(2, 6), [5])
    yield error(make(2, 6), [-1, -1])
    yield error(make(2, 6), [-1, 5])
    yield error(make(2, 6), [-2, -6])
    yield error(make(0, 3), [-1, 0])


@cases("aten::view_as aten::expand_as", SOME)
def view_as(make, name):
    yield make(1, 6), make(6, 1) if name.endswith("view_as") else make(2, 6)
    yield error(make(2, 6), make(5))


@cases("aten::flatten.using_ints", SOME)
def flatten(make):
    yield make(2, 3, 4),
    yield make(2, 3, 4), 1
    yield make(2, 3, 4), 0, 1
    yield make(2, 3, 4), -2, -1
    yield make(),
    yield make(3, 2).t(),
    yield make(2, 0, 4),
    yield make(2, 3), 1, 1
    yield error(make(2, 3, 4), 2, 1)
    yield error(make(2, 3, 4), 3)


@cases("aten::transpose.int aten::transpose_copy.int", SOME)
def transpose(make):
    yield make(2, 3, 4), 0, 2
    yield make(2, 3, 4), -1, 1
    yield make(2, 3), 1, 1
    yield make(), 0, -1
    yield make(0, 3), 0, 1
    yield error(make(2, 3), 0, 2)
    yield error(make(2, 3), -3, 0)


@cases("aten::t aten::t_copy", SOME)
def t(make):
    yield make(2, 3)
    yield make(3)
    yield make()
    yield make(4, 6)[::2, 1:]
    yield error(make(2, 3, 4))


@cases("aten::permute aten::permute_copy", SOME)
def permute(make):
    yield make(2, 3, 4), [2, 0, 1]
    yield make(2, 3, 4), [-1, 0, -2]
    yield make(), []
    yield error(make(2, 3), [0])
    yield error(make(2, 3), [0, 0])
    yield error(make(2, 3), [0, 2])


@cases("aten::select.int aten::select_copy.int", SOME)
def select(make):
    yield make(2, 3, 4), 1, 2
    yield make(2, 3, 4), -1, -4
    yield make(3), 0, 0
    yield make(3, 2).t(), 0, 1
    yield error(make(2, 3), 0, 2)
    yield error(make(2, 3), 1, -4)
    yield error(make(2, 3), 2, 0)
    yield error(make(), 0, 0)


@cases("aten::slice.Tensor aten::slice_copy.Tensor", SOME)
def slice_(make):
    x = make(7, 3)
    yield x,
    yield x, 0, 2
    yield x, 0, 2, 5
    yield x, 0, None, -2
    yield x, 0, 1, None, 3
    yield x, -1, 1, 2
    yield x, 0, 5, 2
    yield x, 0, -100, 100
    yield x, 0, 2 ** 62, 2 ** 63 - 1
    yield x, 0, 0, 7, 2 ** 62
    yield error(x, 0, 0, 5, 0)
    yield error(x, 0, 0, 5, -1)
    yield error(x, 2)
    yield error(make(), 0)


@cases("aten::narrow aten::narrow_copy", SOME)
def narrow(make):
    yield make(5, 3), 0, 1, 3
    yield make(5, 3), 0, -2, 2
    yield make(5, 3), 1, 3, 0
    yield error(make(5, 3), 0, 3, 3)
    yield error(make(5, 3), 0, 0, -1)
    yield error(make(5, 3), 0, 6, 0)
    yield error(make(), 0, 0, 0)


@cases("aten::unsqueeze aten::unsqueeze_copy", SOME)
def unsqueeze(make):
    for dim in [0, 1, 2, -1, -3]:
        yield make(2, 3), dim
    yield make(), 0
    yield make(3, 2).t(), 1
    yield error(make(2, 3), 3)
    yield error(make(2, 3), -4)


@cases("aten::squeeze aten::squeeze_copy", SOME)
def squeeze(make):
    yield make(1, 2, 1, 3)
    yield make()
    yield make(1, 1)
    yield make(3, 1, 2).permute(2, 1, 0)


@cases("aten::squeeze.dim aten::squeeze_copy.dim", SOME)
def squeeze_dim(make):
    yield make(1, 2, 1), 0
    yield make(1, 2, 1), 1
    yield make(1, 2, 1), -1
    yield make(), 0
    yield error(make(1, 2), 2)


@cases("aten::squeeze.dims", SOME, forms=False)
def squeeze_dims(make):
    yield make(1, 2, 1), [0, 2]
    yield make(1, 2, 1), [-1]
    yield make(1, 2, 1), [0, 1]
    yield make(1, 2, 1), []
    yield error(make(1, 2), [0, -2])
    yield error(make(1, 2), [2])


@cases("aten::squeeze_.dims", SOME)
def squeeze_dims_in_place(make):
    yield make(1, 2, 1), [0, 2]
    yield make(3, 1, 2).permute(2, 1, 0), [-2]
    yield make(1, 2, 1), [0, 1]
    yield error(make(1, 2), [0, -2])


@cases("aten::expand aten::expand_copy", SOME)
def expand(make):
    yield make(1, 3), [2, 3]
    yield make(1, 3), [4, -1, 3]
    yield make(3), [2, 3]
    yield make(), [2, 2]
    yield make(3, 1), [-1, 4]
    yield make(1, 3), [0, 3]
    yield error(make(2, 3), [3, 3])
    yield error(make(2, 3), [3])
    yield error(make(2, 3), [-1, 2, 3])
    yield error(make(1), [-2])


@cases("aten::unbind.int aten::unbind_copy.int", SOME)
def unbind(make):
    yield make(2, 3),
    yield make(2, 3), 1
    yield make(3, 2).t(), -1
    yield make(0, 3),
    yield error(make(), 0)
    yield error(make(2), 1)


@cases("aten::split.Tensor aten::split_copy.Tensor", SOME)
def split(make):
    yield make(5, 2), 2
    yield make(2, 6), 3, 1
    yield make(3), 7
    yield make(0, 3), 2
    yield make(0, 3), 0
    yield error(make(3), 0)
    yield error(make(3), -1)
    yield error(make(), 1)


@cases("aten::chunk", SOME)
def chunk(make):
    yield make(5, 2), 2
    yield make(2, 7), 3, 1
    yield make(3), 7
    yield make(0, 3), 2
    yield error(make(3), 0)
    yield error(make(), 1)


@cases("aten::as_strided_", SOME, forms=False)
def as_strided_in_place(make):
    yield make(12), [2, 3], [1, 2], 4
    yield make(24)[2:], [2, 2], [4, 1]
    yield error(make(12), [13], [1])
    yield error(make(12), [2, 3], [3])


@cases("aten::swapaxes aten::swapdims", SOME)
def swapaxes(make):
    yield make(2, 3, 4), 0, 2
    yield make(2, 3, 4), -1, 1
    yield make(), 0, 0
    yield error(make(2, 3), 0, 2)


@cases("aten::movedim.int aten::moveaxis.int", SOME)
def movedim_int(make):
    yield make(2, 3, 4), 0, 2
    yield make(2, 3, 4), -1, 0
    yield make(2, 3, 4, 5), 2, -4
    yield make(), 0, -1
    yield error(make(2, 3), 0, 2)
    yield error(make(2, 3), -3, 0)


@cases("aten::movedim.intlist aten::moveaxis.intlist", SOME)
def movedim(make):
    yield make(2, 3, 4), [0, 1], [2, 0]
    yield make(2, 3, 4, 5), [-1, 0], [0, -1]
    yield make(2, 3, 4), [], []
    yield make(), [0], [0]
    yield error(make(2, 3), [0, 1], [0])
    yield error(make(2, 3), [0, 0], [0, 1])
    yield error(make(2, 3), [0, 1], [1, -1])
    yield error(make(2, 3), [2], [0])


@cases("aten::numpy_T", SOME)
def numpy_transpose(make):
    yield make(2, 3)
    yield make(2, 3, 4)
    yield make(3)
    yield make()


# For complex numbers PyTorch returns a view with a conjugate bit, which boxcar does not have.
@cases("aten::adjoint", [dtype for dtype in SOME if not dtype.is_complex])
@cases("aten::mT", SOME)
def matrix_transpose(make):
    yield make(2, 3)
    yield make(2, 3, 4)
    yield make(4, 6, 2)[:, ::2]
    yield error(make(3))


@cases("aten::unflatten.int", SOME)
def unflatten(make):
    yield make(6, 4), 0, [2, 3]
    yield make(6, 4), -1, [-1, 2]
    yield make(6, 4), 1, [4, 1]
    yield make(3, 6).t(), 0, [3, 2]
    yield error(make(6, 4), 0, [4, 2])
    yield error(make(6, 4), 0, [-1, -1])
    yield error(make(6, 4), 2, [2, 3])
    yield error(make(6, 4), 0, [])


@cases("aten::ravel", SOME)
def ravel(make):
    yield from layouts(make)


@cases("aten::reshape_as", SOME)
def reshape_as(make):
    yield make(2, 6), make(3, 4)
    yield make(4, 3).t(), make(12)
    yield error(make(2, 6), make(5))


@cases("aten::broadcast_to", SOME)
def broadcast_to(make):
    yield make(1, 3), [2, 3]
    yield make(), [2, 2]
    yield error(make(2, 3), [3, 3])
    yield error(make(2, 3), [3])


@cases("aten::broadcast_tensors", SOME)
def broadcast_tensors(make):
    yield [make(2, 1), make(3)],
    yield [make(), make(2, 3)],
    yield [make(0, 1), make(4)],
    yield [make(2, 3)],
    yield error([make(2, 3), make(4)])


@cases("aten::atleast_1d aten::atleast_2d aten::atleast_3d", SOME)
def atleast(make):
    yield make()
    yield make(3)
    yield make(3, 2).t()
    yield make(2, 3, 4)
    yield make(1, 2, 3, 4)


@cases("aten::atleast_1d.Sequence aten::atleast_2d.Sequence aten::atleast_3d.Sequence", SOME)
def atleast_each(make):
    yield [make(), make(3), make(2, 3), make(2, 3, 4)],


@cases("aten::unfold aten::unfold_copy", SOME)
def unfold(make):
    yield make(7), 0, 3, 2
    yield make(2, 7), 1, 2, 1
    yield make(2, 7), -2, 2, 5
    yield make(3, 4).t(), 0, 4, 1
    yield make(), 0, 1, 1
    yield make(7), 0, 0, 1
    yield make(7), 0, 7, 3
    yield make(2, 0), 0, 1, 1
    yield error(make(7), 0, 8, 1)
    yield error(make(7), 0, 3, 0)
    yield error(make(7), 0, 3, -1)
    yield error(make(7), 1, 3, 1)
    yield error(make(7), 0, -1, 1)


@cases("aten::diagonal aten::diagonal_copy", SOME)
def diagonal(make):
    for offset in [0, 1, -1, 3, -3, 100, -100, 2 ** 62]:
        yield make(3, 4), offset
    yield make(3, 4, 5), 1, 0, 2
    yield make(3, 4, 5), 0, -1, -2
    yield make(4, 3).t(), -1
    yield make(0, 3)
    yield error(make(3, 4), 0, 1, 1)
    yield error(make(3, 4), 0, 0, 2)
    yield error(make(3))


@cases("aten::view.dtype aten::view_copy.dtype", ALL)
def view_dtype(make):
    for dtype in [torch.float32, torch.int64, torch.uint8, torch.int16, torch.complex64]:
        yield make(2, 8), dtype
        yield make(8, 3).t(), dtype
        yield make(2, 16)[:, 8:], dtype
    yield make(2, 3), torch.float64
    yield make(4, 6)[:, 1:5], torch.int32
    yield make(), torch.int64
    yield make(0, 8), torch.uint8


@cases("aten::split.sizes aten::split_with_sizes aten::split_with_sizes_copy", SOME)
def split_sizes(make):
    yield make(5, 2), [2, 3]
    yield make(2, 6), [1, 0, 5], 1
    yield make(2, 6), [6], -1
    yield make(0, 3), []
    yield error(make(5), [2, 2])
    yield error(make(5), [6, -1])
    yield error(make(5), [2, 3], 1)


@cases("aten::tensor_split.sections", SOME)
def tensor_split_sections(make):
    yield make(7, 2), 3
    yield make(2, 7), 2, 1
    yield make(2), 4
    yield make(0, 3), 2
    yield error(make(3), 0)
    yield error(make(3), -1)
    yield error(make(), 1)
    yield error(make(3), 2, 1)


@cases("aten::tensor_split.indices", SOME)
def tensor_split_indices(make):
    yield make(7, 2), [1, 4]
    yield make(2, 7), [3], 1
    yield make(7), [5, 2, -1, 100]
    yield make(7), []
    yield error(make(), [1])


@cases("aten::tensor_split.tensor_indices_or_sections", SOME)
def tensor_split_tensor(make):
    yield make(7, 2), torch.tensor(3)
    yield make(7, 2), torch.tensor([1, 4])
    yield make(2, 7), torch.tensor([1, 9, 4])[::2], 1
    yield error(make(7), torch.tensor([1.0]))
    yield error(make(7), torch.tensor([[1]]))


@cases("aten::narrow.Tensor", SOME)
def narrow_tensor(make):
    yield make(5, 3), 0, torch.tensor(1), 3
    yield make(5, 3), 1, torch.tensor(-2, dtype=torch.int32), 2
    yield error(make(5, 3), 0, torch.tensor([1]), 2)
    yield error(make(5, 3), 0, torch.tensor(1.0), 2)
    yield error(make(5, 3), 0, torch.tensor(3), 3)


@cases("aten::view_as_real_copy", [torch.complex64, torch.complex128, torch.float32])
def view_as_real_copy(make):
    yield make(2, 3),
    yield make(3, 2).t(),


@cases("aten::view_as_complex_copy", [torch.float32, torch.float64, torch.int64])
def view_as_complex_copy(make):
    yield make(3, 2),
    yield make(2, 3, 2)[:, 1],
    yield error(make(3))


@cases("aten::_reshape_alias", SOME)
def reshape_alias(make):
    yield make(3, 4), [4, 3], [3, 1]
    yield make(3, 4)[1:], [2, 2], [1, 2]
    yield make(4, 3).t(), [12], [1]
    yield make(0, 2), [2, 0], [1, 1]
    yield error(make(3, 4), [4, 3], [1])
    yield error(make(3, 4), [4, 4], [4, 1], unchecked=True)  # PyTorch leaves the storage


@cases("aten::unfold_backward", [torch.float32, torch.float64, torch.int64, torch.bfloat16])
def unfold_backward(make):
    yield make(3, 2, 4), [3, 5], 1, 4, 1
    yield make(3, 2, 2), [7, 2], 0, 2, 3
    yield make(3, 2, 2), [7, 2], -2, 2, 2
    yield make(2, 3, 2).transpose(0, 1), [7, 2], 0, 2, 2
    yield make(7, 0), [6], 0, 0, 1
    yield make(1), [], 0, 1, 1
    yield make(1, 2, 4), [3, 5], 1, 4, 1
    yield error(make(3, 2, 4), [5, 5], 1, 4, 1)
    yield error(make(3, 2, 4), [3, 4], 1, 4, 1, unchecked=True)  # PyTorch leaves out what does not fit
