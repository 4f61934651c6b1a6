"""Pools of volumes, unpooling, sampling at positions, windows as columns, resizing."""

import math

import torch

from generator import ALL, COMPLEX, FLOATS, WIDE_FLOATS, cases, error

kChannelsLast = torch.channels_last


# == Pools ==

def volumes(make):
    yield make(2, 3, 5, 7, 6)
    yield make(3, 4, 8, 5)
    yield make(2, 6, 7, 8, 5).transpose(1, 4)[:, :, :, ::2, 1:]
    yield make(0, 3, 4, 6, 5)


def wrong_volumes(make):
    yield make(6, 6, 6)
    yield make(2, 0, 6, 6, 6)
    yield make(2, 3, 0, 6, 6)
    yield make(1, 2, 3, 6, 6, 6)


kPoolArguments = [([2],), ([3, 2, 1], [1, 2, 1]), ([3, 3, 2], [2, 2, 1], [1, 1, 0]), ([1, 2, 2],)]


# PyTorch's own out= forms write strided tensors as if they were contiguous, or change their strides.
def written(name):
    return dict(reference=getattr(torch.ops.aten, name).default, out_dtypes=False)


def max_pool3d(make):
    for x in volumes(make):
        for arguments in kPoolArguments:
            yield (x, *arguments)
        yield x, [2, 2, 2], [2, 2, 2], [1, 0, 1], [1, 2, 1], True
        yield x, [3, 2, 2], [], [1], [1], True
        yield x, [2], [3], [0], [1], True
    holes = make(1, 2, 4, 5, 5)
    holes[0, 0, 2, 2, 2] = math.nan
    holes[0, 1] = -math.inf
    yield holes, [2], [1]
    yield make.indices(1, 1, 4, 4, 4, below=3).to(make.dtype), [3], [1]
    for x in wrong_volumes(make):
        yield error(x, [2])
    x = make(2, 3, 5, 5, 5)
    for arguments in [([0],), ([6],), ([2, 2],), ([],), ([2], [0]), ([2], [1, 1]), ([2], [2], [2]), ([2], [2], [-1]),
                      ([2], [2], [0], [0]), ([3], [1], [0], [3])]:
        yield error(x, *arguments)


cases("aten::max_pool3d", FLOATS)(max_pool3d)
cases("aten::max_pool3d_with_indices", FLOATS, **written("max_pool3d_with_indices"))(max_pool3d)


@cases("aten::avg_pool3d", FLOATS + [torch.int64], **written("avg_pool3d"))
def avg_pool3d(make):
    for x in volumes(make):
        for arguments in kPoolArguments:
            yield (x, *arguments)
        for ceil_mode in (False, True):
            for count_include_pad in (False, True):
                yield x, [3, 2, 2], [2, 2, 2], [1, 1, 1], ceil_mode, count_include_pad
        yield x, [3, 2, 2], [2, 1, 1], [1, 0, 1], True, False, 5
        yield x, [3, 2, 2], [2, 1, 1], [0], False, True, -2
    for x in wrong_volumes(make):
        yield error(x, [2])
    x = make(2, 3, 5, 5, 5)
    for arguments in [([0],), ([6],), ([2, 2],), ([2], [0]), ([2], [2], [2]), ([2], [2], [-1]),
                      ([2], [2], [0], False, True, 0)]:
        yield error(x, *arguments)


def adaptive_avg_pool3d_calls(make):
    for x in volumes(make):
        for size in [[1, 1, 1], [2, 3, 2], [7, 9, 6], [3, 1, 4], [2, 0, 2]]:
            yield x, size
    yield error(make(2, 0, 6, 6, 6), [2, 2, 2])
    yield error(make(6, 6, 6), [2, 2, 2])
    yield error(make(2, 3, 0, 6, 6), [2, 2, 2])
    yield error(make(2, 3, 5, 5, 5), [2, 2])
    yield error(make(2, 3, 5, 5, 5), [-1, 2, 2])


cases("aten::_adaptive_avg_pool3d", FLOATS)(adaptive_avg_pool3d_calls)
cases("aten::adaptive_avg_pool3d", FLOATS, **written("adaptive_avg_pool3d"))(adaptive_avg_pool3d_calls)


@cases("aten::adaptive_max_pool3d", FLOATS, **written("adaptive_max_pool3d"))
def adaptive_max_pool3d(make):
    for x in volumes(make):
        for size in [[1, 1, 1], [2, 3, 2], [7, 9, 6], [3, 1, 4]]:
            yield x, size
    for x in wrong_volumes(make):
        yield error(x, [2, 2, 2])
    yield error(make(2, 3, 5, 5, 5), [2, 2])
    yield error(make(2, 3, 5, 5, 5), [-1, 2, 2])


def fractional_max_pool(make, rank):
    sizes = [8, 9, 7][:rank]
    samples = lambda n, c: make(n, c, rank, low=0, high=0.999)
    yield make(2, 3, *sizes), [2] * rank, [4, 5, 3][:rank], samples(2, 3)
    yield make(3, *sizes), [3, 2, 2][:rank], [4, 1, 5][:rank], samples(1, 3)
    yield make(2, 3, *sizes), [1] * rank, [7, 6, 3][:rank], samples(2, 3)
    yield error(make(2, 3, *sizes), [5] * rank, [5] * rank, samples(2, 3))
    yield error(make(2, 3, *sizes), [2] * rank, [4] * rank, samples(2, 2))
    yield error(make(*sizes), [2] * rank, [4] * rank, samples(1, 1))
    yield error(make(2, 3, *sizes), [2, 2, 2, 2], [4] * rank, samples(2, 3))


# In low precision, PyTorch rounds the positions of windows at each step.
@cases("aten::fractional_max_pool2d", WIDE_FLOATS, **written("fractional_max_pool2d"))
def fractional_max_pool2d(make):
    yield from fractional_max_pool(make, 2)


@cases("aten::fractional_max_pool3d", WIDE_FLOATS, **written("fractional_max_pool3d"))
def fractional_max_pool3d(make):
    yield from fractional_max_pool(make, 3)


@cases("aten::max_unpool2d", FLOATS + [torch.int64], **written("max_unpool2d"))
def max_unpool2d(make):
    def places(n, c, h, w, of):
        return torch.stack([torch.randperm(of)[:h * w].view(h, w) for _ in range(n * c)]).view(n, c, h, w)
    yield make(2, 3, 3, 2), places(2, 3, 3, 2, 42), [7, 6]
    yield make(3, 3, 2), places(1, 3, 3, 2, 20)[0], [4, 5]
    yield make(2, 3, 2, 3).transpose(2, 3), places(2, 3, 3, 2, 42), [6, 7]
    yield make(0, 3, 3, 2), torch.zeros(0, 3, 3, 2, dtype=torch.int64), [7, 6]
    yield error(make(2, 3, 3, 2), places(2, 3, 3, 2, 42), [4, 6])
    yield error(make(2, 3, 3, 2), places(2, 3, 3, 2, 6) - 1, [4, 6])
    yield error(make(2, 3, 3, 2), places(2, 3, 2, 3, 42), [7, 6])
    yield error(make(2, 3, 3, 2), places(2, 3, 3, 2, 42).int(), [7, 6])
    yield error(make(2, 3, 3, 2), places(2, 3, 3, 2, 42), [7])
    yield error(make(3, 2), places(1, 1, 3, 2, 6)[0, 0], [7, 6])


@cases("aten::max_unpool3d", FLOATS, **written("max_unpool3d"))
def max_unpool3d(make):
    def places(n, c, d, h, w, of):
        return torch.stack([torch.randperm(of)[:d * h * w].view(d, h, w) for _ in range(n * c)]).view(n, c, d, h, w)
    x, at = make(2, 3, 2, 3, 2), places(2, 3, 2, 3, 2, 126)
    yield x, at, [3, 7, 6], [2, 2, 2], [0, 0, 0]
    yield x[0], at[0], [3, 7, 6], [2, 2, 2], [0, 0, 0]
    yield error(x, at, [3, 5, 6], [2, 2, 2], [0, 0, 0])
    yield error(x, at, [3, 7], [2, 2, 2], [0, 0, 0])
    yield error(x, at, [3, 7, 6], [2, 0, 2], [0, 0, 0])
    yield error(x, at, [3, 7, 6], [2, 2], [0, 0, 0])
    yield error(x, at[:, :2], [3, 7, 6], [2, 2, 2], [0, 0, 0])


# == Sampling ==

kSampling = dict(tolerance={torch.float32: (1e-4, 1e-4), torch.float16: (2e-3, 1e-3), torch.bfloat16: (2e-2, 1e-2)},
                 reason="positions lose some digits when coordinates from -1 to 1 are scaled")


def sampling_calls(make, rank):
    sizes = [5, 7, 4][:rank]
    out = [4, 3, 5][:rank]
    for mode in range(3):
        for padding in range(3):
            for align_corners in (False, True):
                # Half positions are ambiguous in low precision.
                yield make(2, 3, *sizes), make(2, *out, rank, low=-1.9, high=1.9), mode, padding, align_corners
    yield make(1, 2, *[1] * rank), make(1, *out, rank, low=-1.5, high=1.5), 0, 2, True
    yield make(2, 3, *sizes[::-1]).transpose(2, rank + 1), make(2, *out, rank, low=-1, high=1), 0, 0, True
    yield make(0, 3, *sizes), make(0, *out, rank), 0, 0, False
    yield make(2, 0, *sizes), make(2, *out, rank), 0, 0, False
    far = make(1, *out, rank, low=-1, high=1)
    far.view(-1)[rank] = -1e20
    far.view(-1)[2 * rank] = 1e20
    for padding in (0, 1):
        yield make(1, 2, *sizes), far.clone(), 0, padding, False
        yield make(1, 2, *sizes), far.clone(), 1, padding, True
        far.view(-1)[0] = math.inf
    yield error(make(2, 3, *sizes), make(1, *out, rank), 0, 0, False)
    yield error(make(2, 3, *sizes), make(2, *out, rank + 1), 0, 0, False)
    yield error(make(2, 3, *sizes), make(2, *out), 0, 0, False)
    yield error(make(2, 3, *[0] * rank), make(2, *out, rank), 0, 0, False)


@cases("aten::grid_sampler aten::grid_sampler_2d", [torch.float32, torch.float64, torch.bfloat16], **kSampling)
def grid_sampler_2d(make):
    yield from sampling_calls(make, 2)


@cases("aten::grid_sampler aten::grid_sampler_3d", [torch.float32, torch.float64, torch.bfloat16], **kSampling)
def grid_sampler_3d(make):
    yield from sampling_calls(make, 3)
    yield error(make(2, 3, 4, 4, 4), make(2, 2, 2, 2, 3), 3, 0, False, unchecked=True)


@cases("aten::affine_grid_generator", FLOATS)
def affine_grid_generator(make):
    for align_corners in (False, True):
        yield make(2, 2, 3), [2, 3, 4, 5], align_corners
        yield make(1, 2, 3), [1, 1, 1, 3], align_corners
        yield make(2, 3, 4), [2, 3, 4, 1, 5], align_corners
        yield make(2, 4, 3).transpose(1, 2), [2, 3, 2, 3, 5], align_corners
        yield error(make(2, 2, 3), [3, 3, 4, 5], align_corners)
        yield error(make(2, 3, 4), [2, 3, 4, 5], align_corners)
        yield error(make(2, 2, 3), [2, 3, 4], align_corners)


# == Windows as columns ==

kColumnTypes = FLOATS + COMPLEX + [torch.bool]


@cases("aten::im2col", kColumnTypes, **written("im2col"))
def im2col(make):
    for x in [make(2, 3, 6, 7), make(3, 6, 5), make(2, 6, 7, 3).permute(0, 3, 1, 2), make(0, 3, 6, 6)]:
        yield x, [2, 3], [1, 1], [0, 0], [1, 1]
        yield x, [3, 3], [1, 1], [1, 1], [2, 2]
        yield x, [2, 2], [2, 1], [1, 2], [1, 3]
        yield x, [1, 1], [1, 1], [0, 0], [1, 1]
    x = make(2, 3, 5, 5)
    for arguments in [([6, 1], [1, 1], [0, 0], [1, 1]), ([0, 1], [1, 1], [0, 0], [1, 1]),
                      ([2, 2], [0, 1], [0, 0], [1, 1]), ([2, 2], [1, 1], [-1, 0], [1, 1]),
                      ([2, 2], [1, 1], [0, 0], [0, 1]), ([2, 2, 2], [1, 1], [0, 0], [1, 1])]:
        yield error(x, *arguments)
    yield error(make(5, 5), [2, 2], [1, 1], [0, 0], [1, 1])
    yield error(make(2, 0, 5, 5), [2, 2], [1, 1], [0, 0], [1, 1])


@cases("aten::col2im", kColumnTypes, **written("col2im"))
def col2im(make):
    yield make(2, 3 * 6, 5 * 5), [6, 7], [2, 3], [1, 1], [0, 0], [1, 1]
    yield make(3 * 6, 5 * 5), [6, 7], [2, 3], [1, 1], [0, 0], [1, 1]
    yield make(2, 9, 3 * 4), [6, 7], [3, 3], [1, 1], [1, 1], [2, 2]
    yield make(2, 4, 6 * 4), [6, 7], [2, 2], [2, 1], [1, 2], [1, 3]
    yield make(2, 20, 12).transpose(1, 2), [5, 6], [2, 2], [1, 1], [0, 0], [1, 1]
    x = make(2, 12, 20)
    for arguments in [([5, 5], [2, 2], [1, 1], [0, 0], [1, 1]), ([5, 6], [5, 1], [1, 1], [0, 0], [1, 1]),
                      ([5, 6], [2, 0], [1, 1], [0, 0], [1, 1]), ([5, 6], [2, 2], [0, 1], [0, 0], [1, 1]),
                      ([5, 6], [2, 2], [1, 1], [-1, 0], [1, 1]), ([5, 6], [2, 2], [1, 1], [0, 0], [0, 1]),
                      ([-5, 6], [2, 2], [1, 1], [0, 0], [1, 1])]:
        yield error(x, *arguments)
    yield error(make(1, 2, 12, 20), [5, 6], [2, 2], [1, 1], [0, 0], [1, 1])


@cases("aten::channel_shuffle", ALL)
def channel_shuffle(make):
    yield make(2, 6, 3, 4), 3
    yield make(2, 6, 3, 4), 1
    yield make(2, 6, 5), 2
    yield make(2, 3, 6, 2).transpose(1, 2), 2
    yield make(2, 6, 3, 4).contiguous(memory_format=kChannelsLast), 3
    yield make(0, 6, 3, 4), 3
    yield error(make(2, 6), 3)
    yield error(make(2, 6, 3), 4)
    yield error(make(2, 6, 3), 0)
    yield error(make(2, 6, 3), -2)


# == Resizing ==

def resized_inputs(make, rank):
    sizes = [7, 6, 5][:rank]
    yield make(2, 3, *sizes)
    yield make(2, *sizes, 3).transpose(1, rank + 1)[:, :, ::2] if rank < 2 else make(2, 3, *sizes)[:, :, ::2]
    yield make(0, 3, *sizes)
    if rank == 2 and make.dtype not in (torch.float16, torch.bfloat16):
        yield make(2, 3, 6, 7).contiguous(memory_format=kChannelsLast)
    if rank == 3 and make.dtype not in (torch.float16, torch.bfloat16):
        yield make(2, 3, 4, 5, 6).contiguous(memory_format=torch.channels_last_3d)


def rank_of(name):
    return next(rank for rank in (1, 2, 3) if f"{rank}d" in name)


def wrong_resizes(make, rank, *rest):
    yield error(make(3, *[9] * rank), [4] * rank, *rest)
    yield error(make(2, 3, *[9] * rank), [0] + [4] * (rank - 1), *rest)
    yield error(make(2, 3, *[9] * rank), [4] * (rank + 1), *rest)
    yield error(make(2, 0, *[9] * rank), [4] * rank, *rest)


@cases("aten::_upsample_nearest_exact1d aten::_upsample_nearest_exact2d aten::_upsample_nearest_exact3d "
       "aten::upsample_nearest3d", FLOATS + [torch.uint8])
def upsample_nearest(make, name):
    rank = rank_of(name)
    for x in resized_inputs(make, rank):
        for size in [[7, 6, 5], [3, 9, 4], [14, 12, 10], [1, 1, 1], [10, 4, 13]]:
            yield x, size[:rank]
        factors = [1.5, 2.4, 0.7][:rank]
        yield (x, [int(n * f) for n, f in zip(x.shape[2:], factors)], *factors)
    yield from wrong_resizes(make, rank)


@cases("aten::upsample_bicubic2d aten::upsample_trilinear3d", FLOATS,
       tolerance={torch.float32: (1e-5, 1e-4), torch.float16: (2e-3, 1e-3), torch.bfloat16: (2e-2, 1e-2)},
       reason="positions and weights are rounded in another order")
def upsample_smooth(make, name):
    rank = rank_of(name)
    for align_corners in (False, True):
        for x in resized_inputs(make, rank):
            for size in [[7, 6, 5], [3, 9, 4], [14, 12, 10], [1, 1, 1], [10, 4, 13]]:
                yield x, size[:rank], align_corners
            factors = [1.5, 2.4, 0.7][:rank]
            yield (x, [int(n * f) for n, f in zip(x.shape[2:], factors)], align_corners, *factors)
        yield from wrong_resizes(make, rank, align_corners)


@cases("aten::_upsample_bilinear2d_aa aten::_upsample_bicubic2d_aa", [torch.float32, torch.float64],
       tolerance={torch.float32: (1e-5, 1e-4)}, reason="positions and weights are rounded in another order")
def upsample_antialiased(make):
    for align_corners in (False, True):
        for x in resized_inputs(make, 2):
            for size in [[7, 6], [3, 9], [14, 12], [1, 1], [10, 4], [2, 2]]:
                yield x, size, align_corners
            yield x, [int(x.shape[2] * 0.6), int(x.shape[3] * 1.5)], align_corners, 0.6, 1.5
        yield from wrong_resizes(make, 2, align_corners)


def vec_calls(make, name, *rest):
    rank = rank_of(name)
    x = make(2, 3, *[7, 6, 5][:rank])
    yield x, [3, 9, 4][:rank], *rest, None
    yield x, None, *rest, [1.5, 2.4, 0.7][:rank]
    yield error(x, None, *rest, None)
    yield error(x, [3, 9, 4][:rank], *rest, [1.5, 2.4, 0.7][:rank])
    yield error(x, None, *rest, [0.01, 2.4, 0.7][:rank])


@cases("aten::_upsample_nearest_exact1d.vec aten::_upsample_nearest_exact2d.vec aten::_upsample_nearest_exact3d.vec "
       "aten::upsample_nearest3d.vec", FLOATS)
def upsample_nearest_vec(make, name):
    yield from vec_calls(make, name)


@cases("aten::upsample_bicubic2d.vec aten::upsample_trilinear3d.vec", FLOATS,
       tolerance={torch.float32: (1e-5, 1e-4), torch.float16: (2e-3, 1e-3), torch.bfloat16: (2e-2, 1e-2)},
       reason="positions and weights are rounded in another order")
def upsample_smooth_vec(make, name):
    for align_corners in (False, True):
        yield from vec_calls(make, name, align_corners)


@cases("aten::_upsample_bilinear2d_aa.vec aten::_upsample_bicubic2d_aa.vec", [torch.float32, torch.float64],
       tolerance={torch.float32: (1e-5, 1e-4)}, reason="positions and weights are rounded in another order")
def upsample_antialiased_vec(make, name):
    for align_corners in (False, True):
        yield from vec_calls(make, name, align_corners)
