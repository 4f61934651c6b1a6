"""Convolutions, pools, interpolation, losses of classes, attention."""

import math

import torch

from generator import ALL, COMPLEX, FLOATS, INTS, call, cases, error

kChannelsLast = torch.channels_last

# For float32 sums of up to some hundred products in another order; float16 and bfloat16 use their own precision.
kSums = {torch.float32: (1e-5, 1e-4)}
kSumsReason = "sums of many products in another order"


# == Convolution ==

def convolution_calls(make, rank, transposed=False):
    """Yields arguments of aten::convolution for [rank] spatial dimensions."""
    def weight(out, ins, kernel, groups=1):
        return make(ins, out // groups, *kernel) if transposed else make(out, ins // groups, *kernel)

    def arguments(input, weight, bias=None, stride=1, padding=0, dilation=1, output_padding=0, groups=1):
        spread = lambda value: value if isinstance(value, list) else [value] * rank
        return call(input, weight, bias, spread(stride), spread(padding), spread(dilation), transposed,
                    spread(output_padding), groups)

    sizes = [7, 6, 5][:rank]
    kernel = [3, 2, 2][:rank]
    yield arguments(make(2, 3, *sizes), weight(4, 3, kernel))
    yield arguments(make(2, 3, *sizes), weight(4, 3, kernel), make(4))
    yield arguments(make(1, 4, *sizes), weight(6, 4, kernel, 2), make(6), groups=2)
    yield arguments(make(2, 4, *sizes), weight(4, 4, kernel, 4), make(4), stride=2, padding=1, groups=4)
    yield arguments(make(2, 4, *sizes), weight(8, 4, kernel, 4), None, padding=1, groups=4)
    yield arguments(make(2, 2, *sizes), weight(3, 2, kernel), make(3), stride=[2, 1, 2][:rank], padding=[1, 0, 1][:rank],
                    dilation=[1, 2, 1][:rank])
    yield arguments(make(2, 2, *sizes), weight(3, 2, kernel), None, stride=[3, 2, 1][:rank], padding=1, dilation=2)
    yield arguments(make(2, 5, *sizes), weight(3, 5, [1] * rank), make(3))
    yield arguments(make(2, 5, *sizes), weight(3, 5, [1] * rank), make(3), stride=2)
    yield arguments(make(0, 3, *sizes), weight(4, 3, kernel), make(4))
    yield arguments(make(2, 3, *kernel), weight(1, 3, kernel))
    yield arguments(make(*sizes, 3, 2).permute(rank + 1, rank, *range(rank)), weight(4, 3, kernel))
    yield arguments(make(2, 6, *sizes)[:, ::2], weight(4, 6, kernel)[::2] if transposed else weight(4, 6, kernel)[:, ::2])
    if transposed:
        yield arguments(make(2, 3, *sizes), weight(4, 3, kernel), make(4), stride=2, output_padding=1)
        yield arguments(make(2, 4, *sizes), weight(4, 4, kernel, 2), make(4), stride=3, padding=1, output_padding=2, groups=2)
        yield arguments(make(1, 2, *sizes), weight(2, 2, kernel), dilation=3, output_padding=1)
    if make.dtype == torch.float32:
        small = lambda *sizes: make(*sizes, low=-0.5, high=0.5)
        yield arguments(small(1, 16, *[12] * rank), small(16, 16, *[3] * rank), small(16), padding=1)
        yield arguments(small(2, 8, *[9] * rank), small(8, 8, *[5] * rank), small(8), stride=2, padding=2)


def convolution_errors(make, transposed=False):
    def wrong(input, weight, bias=None, stride=[1, 1], padding=[0, 0], dilation=[1, 1], output_padding=[0, 0], groups=1):
        return error(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)

    x = make(2, 4, 5, 5)
    w = make(4, 4, 3, 3)
    yield wrong(make(2, 3, 5, 5), w)
    yield wrong(x, w, make(3))
    yield wrong(x, w, make(4, 1))
    yield wrong(x, w, stride=[0, 1])
    yield wrong(x, w, stride=[-1, 1])
    yield wrong(x, w, padding=[-1, 0])
    yield wrong(x, w, dilation=[0, 1])
    yield wrong(x, w, groups=0)
    yield wrong(x, w, groups=3)
    yield wrong(x, w, stride=[1, 1, 1])
    yield wrong(make(4, 5, 5), w)
    yield wrong(x, make(4, 4, 3))
    yield wrong(x, make(4, 4, 3, 3, dtype=torch.float64 if make.dtype != torch.float64 else torch.float32))
    if transposed:
        yield wrong(x, w, output_padding=[1, 0])
        yield wrong(x, w, output_padding=[-1, 0])
        yield wrong(x, w, padding=[9, 9])
    else:
        yield wrong(x, make(4, 4, 6, 3))
        yield wrong(x, w, dilation=[3, 1])


@cases("aten::convolution", FLOATS + [torch.int64, torch.int32, torch.uint8] + COMPLEX, tolerance=kSums, reason=kSumsReason)
def convolution(make):
    for rank in (1, 2, 3):
        yield from convolution_calls(make, rank)
    x = make(2, 3, 7, 6)
    w = make(4, 3, 3, 2)
    for a, b in [(x.contiguous(memory_format=kChannelsLast), w), (x, w.contiguous(memory_format=kChannelsLast))]:
        yield call(a, b, make(4), [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
        yield call(a, b, None, [2, 1], [1, 1], [1, 2], False, [0, 0], 1)
    if make.dtype.is_floating_point:
        yield from convolution_errors(make)


@cases("aten::convolution", FLOATS, tolerance=kSums, reason=kSumsReason)
def convolution_transposed(make):
    for rank in (1, 2, 3):
        yield from convolution_calls(make, rank, transposed=True)
    yield from convolution_errors(make, transposed=True)


def by_rank(name, make):
    rank = next(rank for rank in (1, 2, 3) if f"{rank}d" in name)
    return rank, [6, 7, 5][:rank], [3, 2, 3][:rank]


@cases("aten::conv1d aten::conv2d aten::conv3d", FLOATS, tolerance=kSums, reason=kSumsReason)
def conv(make, name):
    rank, sizes, kernel = by_rank(name, make)
    yield make(2, 4, *sizes), make(6, 4, *kernel)
    yield make(2, 4, *sizes), make(6, 4, *kernel), make(6), [2] * rank, [1] * rank, [1] * rank, 1
    yield make(2, 4, *sizes), make(6, 2, *kernel), make(6), [1], [1], [1], 2
    yield make(4, *sizes), make(6, 4, *kernel), make(6)
    yield make(4, *sizes), make(6, 4, *kernel), None, [1] * rank, [2] * rank
    yield error(make(*sizes), make(6, 4, *kernel))
    yield error(make(2, 4, *sizes), make(6, 3, *kernel))
    yield error(make(2, 4, *sizes), make(6, 4, *kernel[1:]))


@cases("aten::conv1d.padding aten::conv2d.padding aten::conv3d.padding", FLOATS, tolerance=kSums, reason=kSumsReason)
def conv_padding(make, name):
    rank, sizes, kernel = by_rank(name, make)
    for padding in ["same", "valid"]:
        yield make(2, 4, *sizes), make(6, 4, *kernel), make(6), [1] * rank, padding
        yield make(2, 4, *sizes), make(6, 2, *kernel), None, [1] * rank, padding, [2] * rank, 2
        yield make(4, *sizes), make(6, 4, *kernel), make(6), [1] * rank, padding
    yield make(2, 4, *sizes), make(6, 4, *[4] * rank), None, [1] * rank, "same"
    yield make(2, 4, *sizes), make(6, 4, *kernel), None, [2] * rank, "valid"
    yield error(make(2, 4, *sizes), make(6, 4, *kernel), None, [2] * rank, "same")
    yield error(make(2, 4, *sizes), make(6, 4, *kernel), None, [1] * rank, "full")


@cases("aten::conv_transpose1d aten::conv_transpose2d.input aten::conv_transpose3d.input", FLOATS, tolerance=kSums,
       reason=kSumsReason)
def conv_transpose(make, name):
    rank, sizes, kernel = by_rank(name, make)
    yield make(2, 4, *sizes), make(4, 6, *kernel)
    yield make(2, 4, *sizes), make(4, 3, *kernel), make(6), [2] * rank, [1] * rank, [1] * rank, 2, [1] * rank
    yield make(4, *sizes), make(4, 6, *kernel), make(6)
    yield make(2, 4, *sizes), make(4, 6, *kernel), None, [1] * rank, [1] * rank, [0] * rank, 1, [2] * rank
    yield error(make(2, 4, *sizes), make(3, 6, *kernel))
    yield error(make(2, 4, *sizes), make(4, 6, *kernel), None, [2] * rank, [0] * rank, [2] * rank)


# == Pools ==

def images(make):
    """Yields inputs of pools and interpolation, in the layouts that matter."""
    yield make(2, 3, 7, 6)
    yield make(3, 8, 5)
    if make.dtype != torch.float16:  # expected results come from float32, whose out= is not the one that is resized
        yield make(2, 3, 6, 7).contiguous(memory_format=kChannelsLast)
    yield make(2, 7, 6, 4)[:, :, ::2, 1:]
    yield make(0, 3, 6, 5)


def wrong_pictures(make):
    yield make(6, 6)
    yield make(2, 0, 6, 6)
    yield make(2, 3, 0, 6)
    yield make(1, 2, 3, 6, 6)


kPoolArguments = [([2],), ([3, 2], [1, 2]), ([3, 3], [2, 2], [1, 1])]


@cases("aten::max_pool2d_with_indices aten::max_pool2d", FLOATS)
def max_pool2d(make):
    for x in images(make):
        for arguments in kPoolArguments:
            yield (x, *arguments)
        yield x, [2, 2], [2, 2], [1, 0], [2, 1], True
        yield x, [3, 2], [], [1], [1], True
        yield x, [2], [3], [0], [1], True
    holes = make(1, 2, 5, 5)
    holes[0, 0, 2, 2] = math.nan
    holes[0, 1] = -math.inf
    yield holes, [2], [1]
    yield make.indices(1, 1, 4, 4, below=3).to(make.dtype), [3], [1]
    for x in wrong_pictures(make):
        yield error(x, [2])
    x = make(2, 3, 5, 5)
    yield error(x, [0])
    yield error(x, [6])
    yield error(x, [2, 2, 2])
    yield error(x, [])
    yield error(x, [2], [0])
    yield error(x, [2], [1, 1, 1])
    yield error(x, [2], [2], [2])
    yield error(x, [2], [2], [-1])
    yield error(x, [2], [2], [0], [0])
    yield error(x, [3], [1], [0], [3])


@cases("aten::max_pool1d aten::max_pool1d_with_indices", FLOATS)
def max_pool1d(make):
    for x in [make(2, 3, 9), make(3, 8), make(2, 9, 3).transpose(1, 2), make(0, 3, 6)]:
        yield x, [2]
        yield x, [3], [1], [1]
        yield x, [3], [2], [1], [2], True
        yield x, [2], [3], [0], [1], True
    yield error(make(6), [2])
    yield error(make(2, 0, 6), [2])
    yield error(make(2, 3, 6), [7])
    yield error(make(2, 3, 6), [2], [2], [2])
    yield error(make(2, 3, 6), [2], [0])


@cases("aten::avg_pool2d", FLOATS + [torch.int64])
def avg_pool2d(make):
    for x in images(make):
        for arguments in kPoolArguments:
            yield (x, *arguments)
        for ceil_mode in (False, True):
            for count_include_pad in (False, True):
                yield x, [3, 2], [2, 2], [1, 1], ceil_mode, count_include_pad
        yield x, [3, 2], [2, 1], [1, 0], True, False, 5
        yield x, [3, 2], [2, 1], [0], False, True, -2
    yield make(1, 40, 6, 6).contiguous(memory_format=kChannelsLast), [2]
    for x in wrong_pictures(make):
        yield error(x, [2])
    x = make(2, 3, 5, 5)
    yield error(x, [0])
    yield error(x, [6])
    yield error(x, [2, 2, 2])
    yield error(x, [2], [0])
    yield error(x, [2], [2], [2])
    yield error(x, [2], [2], [-1])
    yield error(x, [2], [2], [0], False, True, 0)


@cases("aten::avg_pool1d", FLOATS)
def avg_pool1d(make):
    for x in [make(2, 3, 9), make(3, 8), make(2, 9, 3).transpose(1, 2)]:
        yield x, [2]
        yield x, [3], [1], [1]
        yield x, [3], [2], [1], True, False
    yield error(make(6), [2])
    yield error(make(2, 3, 6), [7])
    yield error(make(2, 3, 6), [2], [2], [2])


def adaptive_avg_pool2d_calls(make):
    for x in images(make):
        for size in [[1, 1], [2, 3], [7, 9], [3, 1], [0, 2]]:
            yield x, size
    yield make(2, 0, 6, 6), [2, 2]
    yield error(make(6, 6), [2, 2])
    yield error(make(2, 3, 0, 6), [2, 2])
    yield error(make(1, 2, 3, 6, 6), [2, 2])
    yield error(make(2, 3, 5, 5), [2])
    yield error(make(2, 3, 5, 5), [-1, 2])


cases("aten::_adaptive_avg_pool2d", FLOATS)(adaptive_avg_pool2d_calls)
cases("aten::adaptive_avg_pool2d", FLOATS, forms=False)(adaptive_avg_pool2d_calls)


# PyTorch gives every out= the strides of the result, so only empty ones are compared.
@cases("aten::adaptive_avg_pool2d.out", FLOATS)
def adaptive_avg_pool2d_out(make):
    for size in [[1, 1], [2, 3], [7, 9]]:
        yield call(make(2, 3, 7, 6), size, out=torch.empty(0, dtype=make.dtype))
    yield error(make(2, 3, 7, 6), [2, 3], out=torch.empty(0, dtype=torch.int64))
    yield error(make(2, 3, 7, 6), [2, -3], out=torch.empty(0, dtype=make.dtype))


@cases("aten::adaptive_max_pool2d", FLOATS)
def adaptive_max_pool2d(make):
    for x in images(make):
        for size in [[1, 1], [2, 3], [7, 9], [3, 1]]:
            yield x, size
    for x in wrong_pictures(make):
        yield error(x, [2, 2])
    yield error(make(2, 3, 5, 5), [2])
    yield error(make(2, 3, 5, 5), [-1, 2])


@cases("aten::adaptive_avg_pool1d aten::adaptive_max_pool1d", FLOATS)
def adaptive_pool1d(make):
    for x in [make(2, 3, 9), make(3, 8), make(2, 9, 3).transpose(1, 2), make(0, 3, 5)]:
        for size in [[1], [4], [11]]:
            yield x, size
    yield error(make(6), [2])
    yield error(make(2, 3, 6), [2, 2])


# == Interpolation ==

@cases("aten::upsample_nearest2d aten::upsample_nearest1d", FLOATS + [torch.uint8])
def upsample_nearest(make, name):
    if "1d" in name:
        for x in [make(2, 3, 9), make(2, 9, 3).transpose(1, 2), make(0, 3, 5)]:
            for size in [[9], [4], [20]]:
                yield x, size
        yield make(2, 3, 9), [20], 2.3
        yield make(2, 3, 9), [4], 0.5
        yield error(make(3, 9), [4])
        yield error(make(2, 3, 9), [0])
        yield error(make(2, 3, 9), [4, 4])
        return
    for x in [x for x in images(make) if x.dim() == 4]:
        for size in [[7, 6], [3, 9], [14, 12], [1, 1]]:
            yield x, size
        yield x, [int(x.size(2) * 1.5), int(x.size(3) * 2.4)], 1.5, 2.4
    yield error(make(3, 9, 9), [4, 4])
    yield error(make(2, 3, 9, 9), [0, 4])
    yield error(make(2, 3, 9, 9), [-1, 4])
    yield error(make(2, 3, 9, 9), [4])
    yield error(make(2, 0, 9, 9), [4, 4])


@cases("aten::upsample_bilinear2d aten::upsample_linear1d", FLOATS)
def upsample_linear(make, name):
    for align_corners in (False, True):
        if "1d" in name:
            for x in [make(2, 3, 9), make(2, 9, 3).transpose(1, 2), make(0, 3, 5)]:
                for size in [[9], [4], [20], [1]]:
                    yield x, size, align_corners
            yield make(2, 3, 9), [20], align_corners, 2.3
            yield error(make(3, 9), [4], align_corners)
            yield error(make(2, 3, 9), [0], align_corners)
            continue
        for x in [x for x in images(make) if x.dim() == 4]:
            for size in [[7, 6], [3, 9], [14, 12], [1, 1]]:
                yield x, size, align_corners
            yield x, [int(x.size(2) * 1.5), int(x.size(3) * 2.4)], align_corners, 1.5, 2.4
        yield error(make(3, 9, 9), [4, 4], align_corners)
        yield error(make(2, 3, 9, 9), [0, 4], align_corners)
        yield error(make(2, 3, 9, 9), [4], align_corners)
        yield error(make(2, 0, 9, 9), [4, 4], align_corners)


# PyTorch rounds after each dimension on some CPUs, and fails at some sizes.
@cases("aten::upsample_bilinear2d", [torch.uint8], low=0, high=256, out_dtypes=False,
       reference=lambda x, *args: torch.ops.aten.upsample_bilinear2d(x.float(), *args).round().to(torch.uint8))
def upsample_bytes(make):
    for x in [make(2, 3, 5, 7), make(2, 3, 5, 7).contiguous(memory_format=torch.channels_last)]:
        yield x, [15, 21], False  # weights are thirds, so that no number is in the middle of two
        yield x, [13, 19], True


@cases("aten::upsample_nearest1d.vec aten::upsample_nearest2d.vec aten::upsample_linear1d.vec "
       "aten::upsample_bilinear2d.vec", FLOATS)
def upsample_vec(make, name):
    rank = 1 if "1d" in name else 2
    flags = [[]] if "nearest" in name else [[False], [True]]
    x = make(2, 3, *[7, 6][:rank])
    for flag in flags:
        yield x, [5, 9][:rank], *flag, None
        yield x, None, *flag, [1.7, 2.0][:rank]
        yield x, None, *flag, [0.6, 0.5][:rank]
        yield error(x, [5, 9][:rank], *flag, [1.7, 2.0][:rank])
        yield error(x, None, *flag, None)
        yield error(x, None, *flag, [0.01, 1.0][:rank])
        yield error(x, None, *flag, [2.0] * 3)


# == Losses of classes ==

def samples(make, *sizes):
    """Returns log-probabilities [N, C, ...], like the output of a network."""
    return make(*sizes, low=-3, high=0)


@cases("aten::nll_loss_forward", FLOATS)
def nll_loss_forward(make):
    for reduction in (0, 1, 2):
        target = make.indices(4, below=3)
        yield samples(make, 4, 3), target, None, reduction, -100
        yield samples(make, 4, 3), target, make(3, low=0, high=2), reduction, -100
        yield samples(make, 3, 4).t(), target, make(6, low=0, high=2)[::2], reduction, int(target[1])
        yield samples(make, 3), make.indices(below=3), make(3, low=0, high=2), reduction, -100
        yield samples(make, 0, 3), make.indices(0, below=3), None, reduction, -100
        yield samples(make, 4, 3), target.to(torch.uint8), None, reduction, -100
        yield samples(make, 2, 3), torch.tensor([7, 7]), None, reduction, 7
    x = samples(make, 4, 3)
    target = make.indices(4, below=3)
    yield error(x, torch.tensor([0, 1, 3, 0]), None, 1, -100)
    yield error(x, torch.tensor([0, 1, -1, 0]), None, 0, -100)
    yield error(x, make.indices(3, below=3), None, 1, -100)
    yield error(x, make.indices(4, 1, below=3), None, 1, -100)
    yield error(x, target.int(), None, 1, -100)
    yield error(x, target.float(), None, 1, -100)
    yield error(x, target, make(2), 1, -100)
    yield error(x, target, make(3, 1), 1, -100)
    yield error(samples(make, 2, 3, 4), target, None, 1, -100)
    yield error(x, target, None, 3, -100, unchecked=True)


@cases("aten::nll_loss aten::nll_loss_nd", FLOATS)
def nll_loss(make, name):
    for reduction in (0, 1, 2):
        yield samples(make, 4, 3), make.indices(4, below=3), None, reduction
        yield samples(make, 4, 3), make.indices(4, below=3), make(3, low=0, high=2), reduction, 1
        yield samples(make, 3), make.indices(below=3), None, reduction
        if name.endswith("nd"):
            yield samples(make, 2, 3, 4), make.indices(2, 4, below=3), make(3, low=0, high=2), reduction
            yield samples(make, 2, 3, 4, 2), make.indices(2, 4, 2, below=3), None, reduction
            yield samples(make, 2, 3, 2, 2, 3), make.indices(2, 2, 2, 3, below=3), None, reduction, 0
    yield error(samples(make, 4, 3), make.indices(2, below=3))
    if name.endswith("nd"):
        yield error(make(), make.indices(below=1))
        yield error(samples(make, 2, 3, 4), make.indices(2, 3, below=3))


@cases("aten::nll_loss2d_forward", FLOATS)
def nll_loss2d_forward(make):
    for reduction in (0, 1, 2):
        target = make.indices(2, 4, 5, below=3)
        yield samples(make, 2, 3, 4, 5), target, None, reduction, -100
        yield samples(make, 2, 3, 4, 5), target, make(3, low=0, high=2), reduction, 1
        yield samples(make, 2, 4, 5, 3).permute(0, 3, 1, 2), target, None, reduction, -100
        yield samples(make, 0, 3, 4, 5), make.indices(0, 4, 5, below=3), None, reduction, -100
    x = samples(make, 2, 3, 4, 5)
    yield error(x, make.indices(2, 5, 4, below=3), None, 1, -100)
    yield error(x, make.indices(2, 4, below=3), None, 1, -100)
    yield error(x, make.indices(2, 4, 5, below=3), make(2), 1, -100)
    yield error(x, make.indices(2, 4, 5, below=3) + 3, None, 1, -100)
    yield error(samples(make, 2, 3, 4), make.indices(2, 4, 5, below=3), None, 1, -100)


@cases("aten::nll_loss2d", FLOATS)
def nll_loss2d(make):
    for reduction in (0, 1, 2):
        yield samples(make, 2, 3, 4, 5), make.indices(2, 4, 5, below=3), make(3, low=0, high=2), reduction


@cases("aten::cross_entropy_loss", FLOATS)
def cross_entropy_loss(make):
    weight = make(3, low=0.5, high=2)
    for reduction in (0, 1, 2):
        for smoothing in (0.0, 0.2):
            for given in (None, weight):
                yield make(4, 3), make.indices(4, below=3), given, reduction, -100, smoothing
                yield make(5, 3), torch.tensor([0, 1, 2, 1, 0]), given, reduction, 1, smoothing
                yield make(2, 3, 4), make.indices(2, 4, below=3), given, reduction, -100, smoothing
                yield make(2, 3, 4, 2), make.indices(2, 4, 2, below=3), given, reduction, 2, smoothing
                yield make(4, 3), make(4, 3, low=0, high=1), given, reduction, -100, smoothing
                yield make(2, 3, 4), make(2, 3, 4, low=0, high=1), given, reduction, -100, smoothing
                yield make(3), make(3, low=0, high=1), given, reduction, -100, smoothing
        yield make(3), make.indices(below=3), None, reduction
        yield make(0, 3), make(0, 3), None, reduction
    x = make(4, 3)
    yield error(x, make.indices(4, 3, below=3))
    yield error(x, make(4, 3), None, 1, 0)
    yield error(x, make(4, 3), make(2))
    yield error(x, make.indices(4, below=3), None, 1, -100, 1.5)
    yield error(x, make.indices(3, below=3))
    yield error(x, make.indices(4, below=3) + 3)


@cases("aten::_convolution_mode", FLOATS, tolerance=kSums, reason=kSumsReason)
def convolution_mode(make):
    for sizes in ([7], [7, 6], [4, 5, 3]):
        rank = len(sizes)
        for padding in ["same", "valid"]:
            yield make(2, 4, *sizes), make(6, 4, *[3] * rank), make(6), [1] * rank, padding, [1] * rank, 1
        yield make(2, 4, *sizes), make(6, 2, *[2] * rank), None, [1] * rank, "same", [1] * rank, 2
    yield error(make(4, 7), make(6, 4, 3), None, [1], "same", [1], 1)
    yield error(make(2, 4, 7), make(6, 4, 3), None, [2], "same", [1], 1)
    yield error(make(2, 4, 7), make(6, 4, 3), None, [1], "full", [1], 1)


@cases("aten::_safe_softmax", FLOATS)
def safe_softmax(make):
    x = make(3, 4)
    x[1] = -math.inf
    x[2, 1] = -math.inf
    yield x, 1
    yield x, 0
    yield make(2, 3, 4), -2
    yield make(2, 3, 4), 1, torch.float64
    yield make(2, 0), 1
    yield make(), 0
    yield torch.ones(2, 3, dtype=torch.int64), 1, torch.float32
    yield error(make(2, 3), 2)


@cases("aten::_softmax_backward_data aten::_log_softmax_backward_data", FLOATS, low=-2, high=2)
def softmax_backward(make, name):
    function = torch.log_softmax if "log" in name else torch.softmax
    for shape, dim in (((3, 4), 1), ((3, 4), 0), ((2, 3, 5), -2), ((), 0), ((2, 0), 1)):
        yield make(*shape), function(make(*shape), dim), dim, make.dtype
    yield make(4, 3).t(), function(make(3, 4), 1), 1, make.dtype
    yield error(make(2, 3), make(2, 1), 1, make.dtype, unchecked="log" in name)
    yield error(make(2, 3), make(2, 3), 2, make.dtype)


@cases("aten::_prelu_kernel", FLOATS)
def prelu_kernel(make):
    yield make(2, 3), make(3)
    yield make(2, 3, 4).transpose(0, 1), make(2, 1)
    yield make(2, 3), make()
    yield make.moderate(), make()
    yield error(make(2, 3), make(2))
    yield error(make(2, 3), make(3, dtype=torch.float64 if make.dtype != torch.float64 else torch.float32))


@cases("aten::native_dropout_backward", FLOATS)
def native_dropout_backward(make):
    yield make(2, 3), make.mask(2, 3), 2.0
    yield make(3, 2).t(), make.mask(2, 3), 1.25
    yield error(make(2, 3), make.mask(2, 2), 2.0)


# == Attention ==

@cases("aten::scaled_dot_product_attention", FLOATS, low=-2, high=2, tolerance={
    torch.float32: (1e-5, 1e-5)}, reason="a product of sums in another order")
def scaled_dot_product_attention(make):
    def heads(length, width, *batch):
        return make(*batch, length, width)

    yield heads(5, 4), heads(6, 4), heads(6, 3)
    yield heads(5, 4, 2, 3), heads(6, 4, 2, 3), heads(6, 4, 2, 3)
    yield heads(5, 4, 2), heads(5, 4, 2), heads(5, 4, 2), None, 0.0, True
    yield heads(3, 4, 2), heads(5, 4, 2), heads(5, 4, 2), None, 0.0, True
    yield heads(5, 4, 2, 3), heads(3, 4, 2, 3), heads(3, 2, 2, 3), None, 0.0, True
    yield heads(5, 4, 2, 3), heads(6, 4, 2, 3), heads(6, 4, 2, 3), make(5, 6)
    yield heads(5, 4, 2, 3), heads(6, 4, 2, 3), heads(6, 4, 2, 3), make.mask(2, 1, 5, 6)
    hides = make.mask(5, 6)
    hides[2] = False
    yield heads(5, 4, 2, 3), heads(6, 4, 2, 3), heads(6, 4, 2, 3), hides
    yield call(heads(5, 4, 2), heads(6, 4, 2), heads(6, 4, 2), scale=0.3)
    # The result has the layout of the query.
    yield make(2, 5, 3, 4).transpose(1, 2), make(2, 6, 3, 4).transpose(1, 2), make(2, 6, 3, 4).transpose(1, 2)
    yield call(heads(5, 4, 2, 6), heads(7, 4, 2, 2), heads(7, 3, 2, 2), enable_gqa=True)
    yield call(heads(5, 4, 6), heads(7, 4, 2, 2), heads(7, 3, 2, 2), enable_gqa=True)
    yield call(heads(5, 4, 2, 6), heads(5, 4, 2, 2), heads(5, 3, 2, 2), is_causal=True, enable_gqa=True)
    yield call(heads(5, 4, 2, 6), heads(7, 4, 2, 1), heads(7, 3, 2, 3), make(5, 7), enable_gqa=True)
    yield heads(0, 4, 2), heads(6, 4, 2), heads(6, 4, 2)
    yield heads(5, 4, 2), heads(0, 4, 2), heads(0, 4, 2)
    # Several blocks of queries and of keys, the last ones not whole.
    for queries, keys in [(13, 40), (100, 70), (70, 300), (200, 33)]:
        yield heads(queries, 8, 1, 2), heads(keys, 8, 1, 2), heads(keys, 8, 1, 2)
        yield heads(queries, 8, 1, 2), heads(keys, 8, 1, 2), heads(keys, 8, 1, 2), None, 0.0, True
    yield heads(70, 4, 1, 1), heads(600, 4, 1, 1), heads(600, 4, 1, 1), None, 0.0, True
    yield heads(20, 4, 2, 2), heads(300, 4, 2, 2), heads(300, 4, 2, 2), make(20, 300)
    hides = make.mask(20, 300)
    hides[3:6] = False
    hides[7, :260] = False
    yield heads(20, 4, 2, 2), heads(300, 4, 2, 2), heads(300, 4, 2, 2), hides
    yield heads(20, 4, 2, 2), heads(300, 4, 2, 2), heads(300, 4, 2, 2), make.mask(2, 1, 1, 300)
    yield heads(20, 4, 2, 2), heads(30, 4, 2, 2), heads(30, 4, 2, 2), make(1, 2, 20, 1)
    yield heads(20, 4, 3, 2), heads(30, 4, 3, 2), heads(30, 4, 3, 2), make(30, 20).t()
    yield heads(20, 4, 3), heads(30, 4, 3), heads(30, 4, 3), make(3, 1, 30)
    # One query, and as few that keys are read in place.
    yield heads(1, 64, 1, 2), heads(301, 64, 1, 2), heads(301, 64, 1, 2)
    yield heads(1, 5, 1, 2), heads(9, 5, 1, 2), heads(9, 5, 1, 2), make(1, 9)
    yield heads(7, 33, 2, 1), heads(270, 33, 2, 1), heads(270, 33, 2, 1)
    yield heads(7, 16, 2, 1), heads(270, 16, 2, 1), heads(270, 16, 2, 1), None, 0.0, True
    yield call(heads(1, 16, 1, 4), heads(30, 16, 1, 2), heads(30, 16, 1, 2), enable_gqa=True)
    # Widths that are more and less than those of tiles, and more dimensions.
    yield heads(20, 70, 1, 2), heads(30, 70, 1, 2), heads(30, 70, 1, 2), None, 0.0, True
    yield heads(9, 1, 1, 2), heads(30, 1, 1, 2), heads(30, 1, 1, 2)
    yield heads(9, 4, 2, 1, 3), heads(11, 4, 2, 1, 3), heads(11, 4, 2, 1, 3), None, 0.0, True
    yield heads(9, 4, 2, 3), heads(11, 4, 1, 3), heads(11, 4, 1, 3)
    yield heads(9, 4, 2, 3), heads(11, 4), heads(11, 4)
    yield make(2, 2, 4, 20).mT, make(2, 2, 4, 30).mT, make(2, 2, 4, 30).mT
    yield make(2, 2, 4, 3).mT, make(2, 2, 4, 30).mT, make(2, 2, 4, 30).mT
    yield call(make(2, 20, 36).chunk(3, 2)[0].view(2, 20, 3, 4).transpose(1, 2),
               make(2, 20, 36).chunk(3, 2)[1].view(2, 20, 3, 4).transpose(1, 2),
               make(2, 20, 36).chunk(3, 2)[2].view(2, 20, 3, 4).transpose(1, 2), None, 0.0, True)
    far = make(2, 2, 9, 4)
    far[0, 1, 5] = 300.0
    yield far, heads(11, 4, 2, 2), heads(11, 4, 2, 2)
    far = far.clone()
    far[0, 0, 3] = math.nan
    yield heads(9, 4, 2, 2), far, heads(9, 4, 2, 2)
    yield error(heads(5, 4, 2), heads(6, 4, 2), heads(6, 4, 2), make(5, 6), 0.0, True)
    yield error(heads(5, 4, 2), heads(6, 3, 2), heads(6, 4, 2))
    yield error(heads(5, 4, 2), heads(6, 4, 2), heads(5, 4, 2), unchecked=True)  # PyTorch reads past the end
    yield error(heads(5, 4, 2), heads(6, 4, 2), heads(6, 4, 2), make(4, 6))
    yield error(make(4), heads(6, 4), heads(6, 4))
    yield error(heads(5, 4, 2), heads(6, 4, 2), heads(6, 4, 2), make.indices(5, 6, below=2))


@cases("aten::_scaled_dot_product_attention_math", FLOATS, low=-2, high=2, tolerance={
    torch.float32: (1e-5, 1e-5)}, reason="a product of sums in another order", strides=False)
def attention_of_products(make):
    yield make(5, 4), make(6, 4), make(6, 3)
    yield make(2, 3, 5, 4), make(2, 3, 6, 4), make(2, 3, 6, 4), make(5, 6)
    yield make(2, 3, 4), make(2, 5, 4), make(2, 5, 4), None, 0.0, True
    hides = make.mask(5, 6)
    hides[2] = False
    yield make(2, 5, 4), make(2, 6, 4), make(2, 6, 4), hides
    yield make(2, 5, 4), make(2, 6, 4), make(2, 6, 4), None, 0.5, False, make.mask(2, 5, 6)
    yield call(make(2, 5, 4), make(2, 6, 4), make(2, 6, 4), scale=0.3)
    yield call(make(2, 6, 5, 4), make(2, 2, 7, 4), make(2, 2, 7, 3), enable_gqa=True)
    yield error(make(2, 5, 4), make(2, 6, 4), make(2, 6, 4), make(5, 6), 0.0, True)
    yield error(make(2, 5, 4), make(2, 6, 3), make(2, 6, 4))


@cases("aten::_scaled_dot_product_flash_attention_for_cpu", FLOATS, low=-2, high=2, tolerance={
    torch.float32: (1e-5, 1e-5), torch.float16: (1e-3, 1e-4), torch.bfloat16: (1.6e-2, 1e-4)},
    reason="a product of sums in another order; PyTorch rounds the scores of halves")
def attention_with_sums(make):
    yield make(2, 3, 5, 4), make(2, 3, 6, 4), make(2, 3, 6, 4)
    yield make(2, 3, 5, 4), make(2, 3, 6, 4), make(2, 3, 6, 4), 0.0, True
    yield call(make(2, 3, 5, 4), make(2, 3, 6, 4), make(2, 3, 6, 4), attn_mask=make(5, 6), scale=0.3)
    yield call(make(2, 3, 5, 4), make(2, 3, 6, 4), make(2, 3, 6, 4), attn_mask=make(2, 1, 5, 6))
    yield make(1, 2, 100, 8), make(1, 2, 300, 8), make(1, 2, 300, 8)
    yield make(1, 2, 100, 8), make(1, 2, 70, 8), make(1, 2, 70, 8), 0.0, True
    yield make(2, 5, 3, 4).transpose(1, 2), make(2, 6, 3, 4).transpose(1, 2), make(2, 6, 3, 4).transpose(1, 2)
    hides = make(5, 300)
    hides[2] = -math.inf
    hides[3, :280] = -math.inf
    yield call(make(1, 2, 5, 4), make(1, 2, 300, 4), make(1, 2, 300, 4), attn_mask=hides)
    yield call(make(1, 2, 13, 4), make(1, 2, 300, 4), make(1, 2, 300, 4), 0.0, True, attn_mask=make(13, 300))
    yield error(make(3, 5, 4), make(3, 6, 4), make(3, 6, 4))
    yield error(make(2, 3, 5, 4), make(2, 3, 6, 4), make(2, 3, 6, 4), 0.5)
    yield error(make(2, 3, 5, 4), make(2, 3, 6, 4), make(2, 3, 6, 3))
    yield error(make(2, 3, 5, 4), make(2, 3, 6, 4), make(2, 3, 6, 4), attn_mask=make.mask(5, 6))
    yield error(make(2, 3, 5, 4), make(2, 3, 6, 4), make(2, 3, 6, 4), attn_mask=make(1, 5, 6))
