"""Gradients of layers, which PyTorch's programs call by name."""

import math

import torch

from generator import COMPLEX, FLOATS, call, cases, error

kChannelsLast = torch.channels_last
aten = torch.ops.aten


def other_float(make):
    return torch.float64 if make.dtype != torch.float64 else torch.float32


# == Pools ==

def images(make):
    yield make(2, 3, 7, 6)
    yield make(3, 8, 5)
    yield make(2, 3, 6, 7).contiguous(memory_format=kChannelsLast)
    yield make(2, 2, 10, 8)[:, :, ::2, 1:]
    yield make(0, 3, 6, 5)


kPools = [([2], [], [0]), ([3, 2], [1, 2], [0]), ([3, 3], [2, 2], [1, 1]), ([2, 3], [1], [1, 0]), ([1], [1], [0]),
          ([2], [3], [0]), ([4, 3], [3, 2], [2, 1]), ([3], [5, 4], [1])]


# PyTorch's own out= form writes strided tensors as if they were contiguous.
@cases("aten::avg_pool2d_backward", FLOATS + [torch.int64], reference=aten.avg_pool2d_backward.default,
       out_dtypes=False)
def avg_pool2d_backward(make):
    def gradient(x, kernel, stride, padding, ceil_mode=False, *rest):
        pooled = torch.nn.functional.avg_pool2d(x.double(), kernel, stride or None, padding, ceil_mode)
        return make(*pooled.shape)

    for x in images(make):
        for arguments in kPools:
            for ceil_mode in (False, True):
                for count_include_pad in (False, True):
                    yield gradient(x, *arguments, ceil_mode), x, *arguments, ceil_mode, count_include_pad, None
        for arguments in [([3, 2], [2, 1], [1, 0], True, False, 5), ([3, 2], [2, 1], [0], False, True, -2)]:
            yield gradient(x, *arguments), x, *arguments
    x = make(1, 2, 5, 5)
    yield make(1, 2, 1, 1), x, [5], [1], [0], False, True, None
    yield make(2, 1, 2, 2).transpose(0, 1), x, [2], [2], [0], False, True, None
    yield make(1, 2, 1, 1).expand(1, 2, 4, 4), x, [2], [1], [0], False, True, None
    if make.dtype.is_floating_point:
        holes = make(1, 2, 4, 4)
        holes[0, 0, 1, 1] = math.nan
        holes[0, 1, 2, 0] = -math.inf
        yield holes, x, [2], [1], [0], False, True, None
        yield holes[:, :, :2, :2], x, [2], [2], [0], False, True, None
        yield error(make(1, 2, 2, 2, dtype=other_float(make)), x, [2], [2], [0], False, True, None)
    yield error(make(1, 2, 2, 3), x, [2], [2], [0], False, True, None)
    yield error(make(1, 3, 2, 2), x, [2], [2], [0], False, True, None)
    yield error(make(2, 2, 2, 2), x, [2], [2], [0], False, True, None, unchecked=True)
    yield error(make(1, 2, 2, 2), x, [2], [2], [0], False, True, 0)
    yield error(make(1, 2, 2, 2), x, [2, 2, 2], [2], [0], False, True, None)
    yield error(make(1, 2, 2, 2), x, [2], [0], [0], False, True, None)
    yield error(make(1, 2, 2, 2), x, [2], [2], [2], False, True, None)
    yield error(make(1, 2, 2, 2), x, [6], [2], [0], False, True, None)
    yield error(make(2, 2), make(5, 5), [2], [2], [0], False, True, None)


@cases("aten::_adaptive_avg_pool2d_backward", FLOATS)
def adaptive_avg_pool2d_backward(make):
    for x in images(make):
        for size in [[1, 1], [2, 3], [7, 9], [3, 1], [5, 4], [13, 17]]:
            yield make(*x.shape[:-2], *size), x
    yield make(1, 2, 3, 4).transpose(2, 3), make(1, 2, 9, 1)
    yield make(1, 1, 1, 1).expand(2, 3, 4, 5), make(2, 3, 6, 7)
    holes = make(1, 2, 3, 3)
    holes[0, 0, 1, 1] = math.nan
    holes[0, 1, 2, 0] = -math.inf
    for sizes in [(7, 7), (2, 2), (3, 3)]:
        yield holes, make(1, 2, *sizes)
    x = make(2, 3, 5, 5)
    yield error(make(2, 3, 0, 2), x)
    yield error(make(2, 0, 2, 2), make(2, 0, 5, 5))
    yield error(make(2, 2), make(5, 5))
    yield error(make(3, 2, 2), x)
    yield error(make(2, 2, 2, 2), x, unchecked=True)
    yield error(make(2, 3, 2, 2), make(2, 3, 0, 5), unchecked=True)
    yield error(make(2, 3, 2, 2, dtype=other_float(make)), x)


@cases("aten::max_pool2d_with_indices_backward", FLOATS, out_dtypes=False,
       reference=aten.max_pool2d_with_indices_backward.default)
def max_pool2d_backward(make):
    def arguments(x, kernel, stride, padding, dilation, ceil_mode):
        indices = torch.nn.functional.max_pool2d(x.float(), kernel, stride or None, padding, dilation, ceil_mode,
                                                 return_indices=True)[1]
        return make(*indices.shape), x, kernel, stride, padding, dilation, ceil_mode, indices

    for x in images(make):
        for kernel, stride, padding in kPools:
            yield arguments(x, kernel, stride, padding, [1], False)
        yield arguments(x, [2, 2], [2, 2], [1, 0], [2, 1], True)
        yield arguments(x, [3, 2], [], [1], [1], True)
        yield arguments(x, [2], [1], [0], [2, 3], False)
    same = arguments(torch.ones(1, 2, 5, 5, dtype=make.dtype), [3], [1], [0], [1], False)
    yield same
    good = arguments(make(2, 3, 5, 5), [2], [2], [0], [1], False)
    for place, value in [(0, make(2, 3, 2, 1)), (0, make(2, 2, 2, 2)), (0, make(2, 3, 2, 2, dtype=other_float(make))),
                         (2, [0]), (2, [2, 2, 2]), (3, [0]), (4, [2]), (4, [-1]), (5, [0]), (7, good[7].int()),
                         (7, good[7][..., :1])]:
        yield error(*good[:place], value, *good[place + 1:])
    yield error(make(2, 2), make(5, 5), [2], [2], [0], [1], False, torch.zeros(2, 2, dtype=torch.int64))
    for wrong in (25, -1):  # PyTorch writes to memory of others
        yield error(*good[:7], torch.full((2, 3, 2, 2), wrong), unchecked=True)


# == Convolution ==

kGradientSums = dict(tolerance={torch.float32: (1e-5, 1e-4), torch.float16: (2e-3, 1e-3)},
                     reason="sums of many products in another order")


def convolution_backward_calls(make, rank, transposed):
    """Yields arguments for convolutions over [rank] spatial dimensions."""
    def arguments(input, weight, stride=1, padding=0, dilation=1, output_padding=0, groups=1,
                  mask=(True, True, True), options=None, change=lambda gradient: gradient):
        spread = lambda value: value[:rank] if isinstance(value, list) else [value] * rank
        numbers = [spread(stride), spread(padding), spread(dilation), transposed, spread(output_padding), groups]
        result = aten.convolution(input.double(), weight.double(), None, *numbers)
        return call(change(make(*result.shape)), input, weight, [result.shape[1]], *numbers, list(mask),
                    options=options)

    def weight(out, ins, kernel, groups=1):
        return make(ins, out // groups, *kernel) if transposed else make(out, ins // groups, *kernel)

    sizes = [7, 6, 5][:rank]
    kernel = [3, 2, 2][:rank]
    yield arguments(make(2, 3, *sizes), weight(4, 3, kernel))
    yield arguments(make(1, 4, *sizes), weight(6, 4, kernel, 2), groups=2)
    yield arguments(make(2, 4, *sizes), weight(4, 4, kernel, 4), stride=2, padding=1, groups=4)
    yield arguments(make(2, 4, *sizes), weight(8, 4, kernel, 4), padding=1, groups=4)
    yield arguments(make(2, 2, *sizes), weight(3, 2, kernel), stride=[2, 1, 2], padding=[1, 0, 1], dilation=[1, 2, 1])
    yield arguments(make(2, 2, *sizes), weight(3, 2, kernel), stride=[3, 2, 1], padding=1, dilation=2)
    yield arguments(make(2, 4, *sizes), weight(6, 4, kernel, 2), stride=[4, 5, 3], groups=2)
    yield arguments(make(2, 5, *sizes), weight(3, 5, [1] * rank))
    yield arguments(make(2, 5, *sizes), weight(3, 5, [1] * rank), stride=2)
    yield arguments(make(1, 1, *[2] * rank), weight(1, 1, [1] * rank), stride=[3, 4, 5],
                    padding=0 if transposed else 2)
    yield arguments(make(2, 3, *kernel), weight(1, 3, kernel))
    yield arguments(make(0, 3, *sizes), weight(4, 3, kernel))
    yield arguments(make(*sizes, 3, 2).permute(rank + 1, rank, *range(rank)), weight(4, 3, kernel),
                    options={"strides": False})
    yield arguments(make(2, 6, *sizes)[:, ::2], weight(4, 3, kernel), stride=2,
                    change=lambda gradient: gradient.transpose(0, 1).contiguous().transpose(0, 1))
    for mask in [(False, False, False), (True, False, False), (False, True, False), (False, False, True)]:
        yield arguments(make(2, 3, *sizes), weight(4, 3, kernel), mask=mask)
    if transposed:
        yield arguments(make(2, 3, *sizes), weight(4, 3, kernel), stride=2, output_padding=1)
        yield arguments(make(2, 4, *sizes), weight(4, 4, kernel, 2), stride=3, padding=1, output_padding=2, groups=2)
        yield arguments(make(1, 2, *sizes), weight(2, 2, kernel), dilation=3, output_padding=2)
        yield arguments(make(1, 2, *sizes), weight(2, 2, kernel), stride=2, dilation=3, output_padding=2)
    if rank == 2:
        yield arguments(make(2, 3, 7, 6).contiguous(memory_format=kChannelsLast), weight(4, 3, kernel), stride=2)
        yield arguments(make(2, 3, 7, 6), weight(4, 3, kernel).contiguous(memory_format=kChannelsLast), padding=1)
        yield arguments(make(2, 3, 7, 6), weight(4, 3, kernel),
                        change=lambda gradient: gradient.contiguous(memory_format=kChannelsLast))


@cases("aten::convolution_backward", FLOATS, **kGradientSums)
def convolution_backward(make):
    for rank in (1, 2, 3):
        for transposed in (False, True):
            yield from convolution_backward_calls(make, rank, transposed)
    good = [make(2, 4, 3, 3), make(2, 3, 5, 5), make(4, 3, 3, 3), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1,
            [True, True, True]]
    yield tuple(good)
    yield (*good[:3], [9], [1], [0], [1], False, [0], 1, [True, True, True])
    for place, value in [(0, make(2, 4, 3, 2)), (0, make(2, 5, 3, 3)), (0, make(2, 4, 3)), (1, make(3, 5, 5)),
                         (1, make(2, 4, 5, 5)), (0, make(2, 4, 3, 3, dtype=other_float(make))), (4, [0, 1]),
                         (4, [1, 1, 1]), (5, [-1, 0]), (6, [0, 1]), (8, [1, 0]), (9, 0), (9, 2), (10, [True, False])]:
        yield error(*good[:place], value, *good[place + 1:])
    yield error(make(3, 4, 3, 3), *good[1:], unchecked=True)
    yield error(make(2, 4, 1, 1), make(2, 3, 0, 1), make(4, 3, 1, 1), None, [1, 1], [1, 0], [1, 1], False, [0, 0], 1,
                [True, True, True])


# == Normalisation ==

def statistics(make, *sizes, **options):
    return make(*sizes, **options), make(*sizes, low=0.5, high=2, **options)


kAllMasks = [[a, b, c] for a in (True, False) for b in (True, False) for c in (True, False)]


@cases("aten::native_layer_norm_backward", FLOATS, tolerance={torch.float32: (1e-5, 1e-4)},
       reason="sums in another order")
def native_layer_norm_backward(make):
    for sizes, shape in [((4, 8), [8]), ((2, 3, 5), [3, 5]), ((2, 3, 5), [5]), ((3, 67), [67]), ((6,), [6]),
                         ((0, 6), [6]), ((4, 0), [0]), ((2, 3, 4), [2, 3, 4])]:
        kept = sizes[:len(sizes) - len(shape)] + (1,) * len(shape)
        yield make(*sizes), make(*sizes), shape, *statistics(make, *kept), make(*shape), make(*shape), [True] * 3
    x = (make(4, 8), make(4, 8), [8], *statistics(make, 4, 1))
    for mask in kAllMasks:
        yield *x, make(8), make(8), mask
    yield *x, None, None, [True, False, False]
    yield *x, make(8), None, [True, True, False]
    yield *x, None, make(8), [True, False, True]
    yield make(8, 4).t(), make(8, 4).t(), [8], *statistics(make, 4, 1), make(8), make(8), [True] * 3
    yield make(4, 8), make(4, 16)[:, ::2], [8], *statistics(make, 4), make(8), make(8), [True] * 3
    yield make(1, 8).expand(4, 8), make(4, 8), [8], *statistics(make, 4), make(8), make(8), [True] * 3
    # PyTorch does not check these.
    yield error(make(3, 8), *x[1:], make(8), make(8), [True] * 3, unchecked=True)
    yield error(*x[:3], make(5, 1), x[4], make(8), make(8), [True] * 3, unchecked=True)
    yield error(*x, None, make(8), [True] * 3, unchecked=True)
    yield error(*x, make(8), None, [True] * 3, unchecked=True)
    yield error(*x, make(7), make(8), [True] * 3)
    yield error(*x[:2], [7], *x[3:], make(7), make(7), [True] * 3)
    yield error(*x[:2], [], *x[3:], make(), make(), [True] * 3)
    yield error(*x, make(8), make(8), [True] * 2)
    yield error(make(4, 8, dtype=other_float(make)), *x[1:], make(8), make(8), [True] * 3)


@cases("aten::native_group_norm_backward", FLOATS, tolerance={torch.float32: (1e-5, 1e-4)},
       reason="sums in another order")
def native_group_norm_backward(make):
    for sizes, groups in [((2, 6, 4), 3), ((2, 6, 4), 1), ((2, 6, 3, 4), 6), ((3, 4), 2), ((0, 6, 4), 3),
                          ((1, 4, 2, 3, 2), 2)]:
        length = math.prod(sizes[2:])
        for weight in (None, make(sizes[1])):
            yield (make(*sizes), make(*sizes), *statistics(make, sizes[0], groups), weight, *sizes[:2], length, groups,
                   [True] * 3)
    x = (make(2, 6, 4), make(2, 6, 4), *statistics(make, 2, 3))
    for mask in kAllMasks:
        yield *x, make(6), 2, 6, 4, 3, mask
    yield make(2, 4, 6).transpose(1, 2), make(2, 6, 8)[..., ::2], *statistics(make, 6), make(6), 2, 6, 4, 3, [True] * 3
    for format in (kChannelsLast, torch.contiguous_format):
        yield (make(2, 6, 4, 5), make(2, 6, 4, 5).contiguous(memory_format=format), *statistics(make, 2, 3), make(6), 2,
               6, 20, 3, [True] * 3)
    yield error(*x, make(6), 2, 6, 4, 4, [True] * 3)
    yield error(*x, make(6), 3, 6, 4, 3, [True] * 3)
    yield error(*x, make(5), 2, 6, 4, 3, [True] * 3)
    yield error(*x, make(6), 2, 6, 4, 0, [True] * 3, unchecked=True)
    yield error(*x, make(6), 2, 6, 4, 3, [True] * 4)
    yield error(*x[:2], make(2, 4), x[3], make(6), 2, 6, 4, 3, [True] * 3)
    yield error(make(2, 6, 3), *x[1:], make(6), 2, 6, 4, 3, [True] * 3)
    yield error(make(2, 6, 4, dtype=other_float(make)), *x[1:], make(6), 2, 6, 4, 3, [True] * 3)


# == Embeddings ==

@cases("aten::embedding_dense_backward", FLOATS + COMPLEX + [torch.int64, torch.int32])
def embedding_dense_backward(make):
    for scaled in (False, True) if make.dtype.is_floating_point else (False,):
        for padding in (-1, 0, 1, 9, -3):
            yield make(6, 4), torch.tensor([1, 0, 1, 4, 1, 0]), 5, padding, scaled
        yield make(2, 3, 4), torch.tensor([[0, 1, 2], [2, 2, 3]], dtype=torch.int32), 5, 1, scaled
        yield make(4), torch.tensor(1), 5, -1, scaled
        yield make(0, 4), torch.zeros(0, dtype=torch.int64), 5, 1, scaled
        yield make(0, 4), torch.zeros(0, dtype=torch.int64), 0, 1, scaled
        yield make(3, 0), torch.tensor([0, 1, 2]), 5, -1, scaled
        yield make(4, 3).t(), torch.tensor([[0, 5], [1, 5], [1, 5]])[:, 0], 2, -1, scaled
    if make.dtype.is_floating_point:
        rows = make(3, 2)
        rows[1, 0] = math.nan
        rows[2] = math.inf
        yield rows, torch.tensor([0, 1, 2]), 3, 1, False
    yield error(make(3, 4), torch.tensor([0, 1, 7]), 5, -1, False, unchecked=True)  # PyTorch leaves these out
    yield error(make(3, 4), torch.tensor([0, 1, -2]), 5, -1, False, unchecked=True)
    yield error(make(2, 2, 4), torch.tensor([[0, 1, 2], [0, 1, 2]]), 5, 1, False)
    yield error(make(3, 4), torch.tensor([0.0, 1.0, 1.0]), 5, -1, False)
    yield error(make(3, 4), torch.tensor([0, 1, 2]), -5, -1, False)
    yield error(make(), torch.tensor(1), 5, -1, False)
