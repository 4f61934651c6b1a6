"""Gradients of batch norm, losses, embeddings, attention, pads, pools, and of resizing and sampling."""

import math

import torch

from generator import FLOATS, call, cases, error

kChannelsLast = torch.channels_last
aten = torch.ops.aten

kWide = [torch.float32, torch.float64]
# For sums in another order; float16 and bfloat16 use their own precision.
kSums = {"tolerance": {torch.float32: (1e-5, 1e-4)}, "reason": "sums in another order"}


# == Batch norm ==

def statistics(make, channels):
    return make(channels), make(channels, low=0.5, high=2)


kAllMasks = [[a, b, c] for a in (True, False) for b in (True, False) for c in (True, False)]


@cases("aten::native_batch_norm_backward", FLOATS, **kSums)
def native_batch_norm_backward(make):
    for sizes in [(4, 3), (2, 3, 5), (2, 3, 4, 5), (1, 2, 2, 3, 2), (3, 1, 7)]:
        running, saved = statistics(make, sizes[1]), statistics(make, sizes[1])
        for weight in (None, make(sizes[1])):
            yield make(*sizes), make(*sizes), weight, *running, *saved, True, 1e-5, [True] * 3
            yield make(*sizes), make(*sizes), weight, *running, None, None, False, 1e-3, [True] * 3
        yield make(*sizes), make(*sizes), weight, None, None, *saved, True, 1e-5, [True] * 3
    x = (make(4, 3, 2), make(4, 3, 2), make(3), None, None, *statistics(make, 3))
    for mask in kAllMasks:
        yield *x, True, 1e-5, mask
    yield make(2, 4, 3).transpose(1, 2), make(2, 3, 8)[..., ::2], *x[2:], True, 1e-5, [True] * 3
    for format in (kChannelsLast, torch.contiguous_format):
        yield (make(2, 3, 4, 5), make(2, 3, 4, 5).contiguous(memory_format=format), *x[2:], True, 1e-5, [True] * 3)
    yield error(make(4, 3, 3), *x[1:], True, 1e-5, [True] * 3, unchecked=True)
    yield error(*x[:2], make(2), *x[3:], True, 1e-5, [True] * 3, unchecked=True)
    yield error(*x[:5], None, None, True, 1e-5, [True] * 3, unchecked=True)
    yield error(*x[:5], None, None, False, 1e-5, [True] * 3, unchecked=True)
    yield error(*x, True, 1e-5, [True] * 2)


@cases("aten::batch_norm_backward", FLOATS, **kSums)
def batch_norm_backward(make):
    reserve = torch.empty(0, dtype=torch.uint8)
    for sizes in [(4, 3), (2, 3, 4, 5)]:
        running, saved = statistics(make, 3), statistics(make, 3)
        yield make(*sizes), make(*sizes), make(3), *running, *saved, True, 1e-5, [True] * 3, reserve
        yield make(*sizes), make(*sizes), make(3), *running, None, None, False, 1e-5, [True] * 3, reserve


# == Losses ==

def loss_gradients(make, *rest, target=lambda make, *sizes: make(*sizes)):
    for sizes in [(5,), (3, 4), (2, 3, 4), (0, 3), ()]:
        yield make(*sizes), make(*sizes), target(make, *sizes), 0, *rest
        for reduction in (1, 2):
            yield make(), make(*sizes), target(make, *sizes), reduction, *rest
    yield make(4, 3).t(), make(3, 8)[:, ::2], target(make, 3, 4), 0, *rest
    yield make(1, 4).expand(3, 4), make(3, 4), target(make, 3, 4), 0, *rest
    x = make(6)
    yield make(6), x, x.clone(), 0, *rest


@cases("aten::mse_loss_backward", FLOATS, strides=False, forms=False)
def mse_loss_backward(make):
    yield from loss_gradients(make)
    yield make(6), make.moderate()[:6], make(6), 0


@cases("aten::smooth_l1_loss_backward", FLOATS, strides=False, forms=False)
def smooth_l1_loss_backward(make):
    for beta in (1.0, 0.5, 0.0):
        yield from loss_gradients(make, beta)
    whole = torch.arange(-3, 4).to(make.dtype)
    for beta in (1.0, 2.0, 0.0):
        yield make(7), whole, torch.zeros_like(whole), 0, beta


@cases("aten::huber_loss_backward", FLOATS, strides=False, forms=False)
def huber_loss_backward(make):
    for delta in (1.0, 0.5):
        yield from loss_gradients(make, delta)
    whole = torch.arange(-3, 4).to(make.dtype)
    for delta in (1.0, 2.0):
        yield make(7), whole, torch.zeros_like(whole), 0, delta


@cases("aten::soft_margin_loss_backward", FLOATS, strides=False, forms=False)
def soft_margin_loss_backward(make):
    yield from loss_gradients(make, target=lambda make, *sizes: torch.sign(make(*sizes)))


@cases("aten::binary_cross_entropy_backward", FLOATS, strides=False, forms=False)
def binary_cross_entropy_backward(make):
    p = lambda *sizes: make(*sizes, low=0.05, high=0.95)
    for sizes in [(5,), (3, 4), (2, 3, 4), (0, 3), ()]:
        for weight in (None, make(*sizes)):
            yield make(*sizes), p(*sizes), p(*sizes), weight, 0
            for reduction in (1, 2):
                yield make(), p(*sizes), p(*sizes), weight, reduction
    yield make(3, 4), p(3, 4), p(3, 4), make(4), 0
    if make.dtype in kWide:
        sure = torch.tensor([0, 1, 0, 1, 0.5], dtype=make.dtype)
        yield make(5), sure, torch.tensor([0, 1, 1, 0, 0.5], dtype=make.dtype), None, 0


def class_gradients(make, sizes, of_target):
    classes = sizes[1] if len(sizes) > 1 else sizes[0]
    target = make.indices(*of_target, below=classes)
    for weight in (None, make(classes, low=0.5, high=2)):
        for reduction in (0, 1, 2):
            for ignore_index in (-100, 1):
                grad = make(*of_target) if reduction == 0 and len(sizes) > 1 else make()
                yield grad, make(*sizes), target, weight, reduction, ignore_index, torch.tensor(2.5, dtype=make.dtype)


@cases("aten::nll_loss_backward", FLOATS, strides=False, forms=False)
def nll_loss_backward(make):
    yield from class_gradients(make, (4, 3), (4,))
    yield from class_gradients(make, (3,), ())
    yield from class_gradients(make, (5,), (1,))
    weight = torch.tensor(1.0, dtype=make.dtype)
    yield make(0), make(0, 3), torch.zeros(0, dtype=torch.int64), None, 0, -100, weight
    yield error(make(3), make(4, 3), make.indices(4, below=3), None, 0, -100, weight)
    yield error(make(), make(4, 3), make.indices(3, below=3), None, 1, -100, weight)


@cases("aten::nll_loss2d_backward", FLOATS, strides=False, forms=False)
def nll_loss2d_backward(make):
    yield from class_gradients(make, (2, 3, 4, 5), (2, 4, 5))
    yield from class_gradients(make, (1, 2, 1, 3), (1, 1, 3))


@cases("aten::multi_margin_loss_backward", kWide, strides=False, forms=False)
def multi_margin_loss_backward(make):
    for p in (1, 2):
        for margin in (1, 0.5):
            for weight in (None, make(4, low=0.5, high=2)):
                for reduction in (0, 1, 2):
                    yield (make(3) if reduction == 0 else make(), make(3, 4), make.indices(3, below=4), p, margin,
                           weight, reduction)
                yield make(), make(4), make.indices(1, below=4), p, margin, weight, 1
    yield make(), torch.tensor([[0.5, -0.5, 1.5]], dtype=make.dtype), torch.tensor([0]), 1, 1, None, 1
    yield error(make(), make(3, 4), make.indices(3, below=4), 3, 1, None, 1)
    yield error(make(), make(3, 4), make.indices(2, below=4), 1, 1, None, 1)


@cases("aten::multilabel_margin_loss_backward", kWide, strides=False, forms=False)
def multilabel_margin_loss_backward(make):
    for labels in ([[0, 2, -1, 1], [3, -1, 0, 0], [-1, 0, 1, 2]], [[0, 1, 2, 3]], [1, -1, 2, 0], [[2, 2, -1, 0]]):
        target = torch.tensor(labels)
        x = make(*target.shape)
        for reduction in (0, 1, 2):
            loss, is_target = aten.multilabel_margin_loss_forward(x, target, reduction)
            yield make(*loss.shape), x, target, reduction, is_target


def ctc(make, steps, classes, targets, input_lengths, target_lengths, blank=0, zero_infinity=False, as_tensors=False):
    probabilities = torch.log_softmax(make(steps, len(input_lengths), classes), 2)
    lengths = (input_lengths, target_lengths)
    losses, alpha = torch.ops.aten._ctc_loss(probabilities, targets, *lengths, blank, zero_infinity)
    if as_tensors:
        lengths = tuple(torch.tensor(each) for each in lengths)
    return (make(len(input_lengths)), probabilities, targets, *lengths, losses, alpha, blank, zero_infinity)


def ctc_gradients(make, as_tensors):
    kind = {"as_tensors": as_tensors}
    yield ctc(make, 5, 3, torch.tensor([[1, 2], [2, 2]]), [5, 4], [2, 2], **kind)
    yield ctc(make, 6, 4, torch.tensor([1, 2, 3, 3, 1]), [6, 4, 5], [2, 3, 0], **kind)
    yield ctc(make, 6, 4, torch.tensor([[1, 2, 3], [0, 0, 1]]), [6, 5], [3, 2], blank=2, **kind)
    yield ctc(make, 2, 3, torch.tensor([[1, 1, 1], [1, 2, 0]]), [2, 2], [3, 2], zero_infinity=True, **kind)
    yield ctc(make, 4, 3, torch.tensor([[1], [2]], dtype=torch.int32), [3, 4], [1, 1], **kind)
    yield ctc(make, 3, 2, torch.zeros(2, 0, dtype=torch.int64), [3, 2], [0, 0], **kind)


@cases("aten::_ctc_loss_backward", kWide, strides=False, forms=False)
def ctc_loss_backward(make):
    yield from ctc_gradients(make, as_tensors=False)


@cases("aten::_ctc_loss_backward.Tensor", kWide, strides=False, forms=False)
def ctc_loss_backward_tensor(make):
    yield from ctc_gradients(make, as_tensors=True)


# == Activations, embeddings, attention ==

@cases("aten::_prelu_kernel_backward", FLOATS, strides=False)
def prelu_kernel_backward(make):
    yield make(2, 3), make(2, 3), make(2, 3)
    yield make(2, 3, 4), make(2, 3, 4), make(1, 3, 1)
    yield make(3), torch.tensor([0, -0.0, -1], dtype=make.dtype), make(3)
    yield make(0, 3), make(0, 3), make(1, 3)


@cases("aten::embedding_backward", FLOATS)
def embedding_backward(make):
    for padding in (-1, 1):
        for scaled in (False, True):
            yield make(6, 4), torch.tensor([1, 0, 1, 4, 1, 0]), 5, padding, scaled, False
    yield make(2, 3, 4), torch.tensor([[0, 1, 2], [2, 2, 3]]), 5, 1, False, False


def bags(make, mode, weights=None, padding=-1):
    indices, offsets = torch.tensor([1, 2, 0, 1, 1, 4]), torch.tensor([0, 2, 2, 5])
    weight = make(5, 3)
    _, *found = aten._embedding_bag(weight, indices, offsets, False, mode, False, weights, False, padding)
    return weight, indices, offsets, found


kBags = torch.tensor([0, 0, 2, 2, 2, 3])


@cases("aten::_embedding_bag_backward", FLOATS, strides=False)
def embedding_bag_backward(make):
    for mode in (0, 1, 2):
        for padding in (-1, 1):
            _, indices, offsets, found = bags(make, mode, None, padding)
            yield make(4, 3), indices, offsets, *found, 5, False, mode, False, None, padding
    weights = make(6)
    _, indices, offsets, found = bags(make, 0, weights)
    yield make(4, 3), indices, offsets, *found, 5, False, 0, False, weights, -1
    yield make(4, 3), indices, offsets, *found, 5, True, 0, False, None, -1


@cases("aten::_embedding_bag_dense_backward", FLOATS, strides=False)
def embedding_bag_dense_backward(make):
    for mode in (0, 1, 2):
        for padding in (-1, 1):
            _, indices, _, found = bags(make, mode, None, padding)
            yield make(4, 3), indices, kBags, *found[1:], 5, False, mode, None, padding
    weights = make(6)
    _, indices, _, found = bags(make, 0, weights)
    yield make(4, 3), indices, kBags, *found[1:], 5, False, 0, weights, -1


@cases("aten::_embedding_bag_per_sample_weights_backward", FLOATS)
def embedding_bag_per_sample_weights_backward(make):
    for padding in (-1, 1):
        weight, indices, offsets, found = bags(make, 0, make(6), padding)
        yield make(4, 3), weight, indices, offsets, kBags, 0, padding
    yield error(make(4, 3), weight, indices, offsets, kBags, 1, -1)


@cases("aten::_scaled_dot_product_flash_attention_for_cpu_backward", FLOATS, strides=False,
       tolerance={torch.float32: (1e-4, 1e-5), torch.float16: (2e-2, 1e-2), torch.bfloat16: (2e-1, 6e-2)},
       reason="PyTorch rounds between the products, in blocks")
def attention_for_cpu_backward(make):
    def gradients(queries, keys, is_causal=False, mask=None, scale=None):
        sizes = lambda length: (2, 3, length, 4)
        q, k, v = make(*sizes(queries)), make(*sizes(keys)), make(*sizes(keys))
        out, sums = aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, is_causal, attn_mask=mask,
                                                                     scale=scale)
        return call(make(*sizes(queries)), q, k, v, out, sums, 0.0, is_causal, attn_mask=mask, scale=scale)

    yield gradients(5, 5)
    yield gradients(3, 6, scale=0.7)
    yield gradients(5, 5, is_causal=True)
    yield gradients(5, 4, mask=make(5, 4))
    mask = make(2, 1, 5, 4)
    mask[:, :, :, 1] = -math.inf
    yield gradients(5, 4, mask=mask)
    yield gradients(100, 300)
    yield gradients(100, 70, is_causal=True)
    yield gradients(70, 300, is_causal=True)
    yield gradients(20, 270, mask=make(20, 270))
    yield gradients(1, 40)


# == Pads ==

def pad_gradients(make, rank, pads, reflects):
    for pad in pads:
        for sizes in [(2, 3, 5, 6, 4)[:rank + 2], (2, 5, 6, 4)[:rank + 1]]:
            x = make(*sizes)
            name = f"{'reflection' if reflects else 'replication'}_pad{rank}d"
            padded = getattr(aten, name)(x, pad)
            yield make(*padded.shape), x, pad
    yield error(make(*[2] * (rank + 2)), x, pad)


def declare_pads(name, rank, reflects):
    pads = {1: [[2, 1], [0, 3], [-1, 2]], 2: [[2, 1, 3, 0], [0, 1, 1, 1], [1, -1, -2, 1]],
            3: [[1, 2, 0, 1, 1, 1], [2, 1, 2, 0, 1, 2]]}[rank]

    @cases(name, FLOATS + [torch.complex64], strides=False, forms=False)
    def gradients(make):
        yield from pad_gradients(make, rank, pads if reflects else pads + [[5, 4] * rank], reflects)


for rank in (1, 2, 3):
    declare_pads(f"aten::reflection_pad{rank}d_backward", rank, True)
    declare_pads(f"aten::replication_pad{rank}d_backward", rank, False)


# == Pools ==

kVolumePools = [([2], [], [0]), ([3, 2, 2], [1, 2, 1], [0]), ([3, 3, 2], [2, 2, 2], [1, 1, 1]), ([2], [3], [0])]


@cases("aten::avg_pool3d_backward", FLOATS, strides=False, forms=False)
def avg_pool3d_backward(make):
    for x in (make(2, 3, 5, 6, 4), make(3, 5, 4, 6)):
        for arguments in kVolumePools:
            for ceil_mode in (False, True):
                for rest in [(True, None), (False, None), (True, 5)]:
                    pooled = torch.nn.functional.avg_pool3d(x.double(), arguments[0], arguments[1] or None,
                                                            arguments[2], ceil_mode)
                    yield make(*pooled.shape), x, *arguments, ceil_mode, *rest
    yield error(make(2, 3, 2, 2, 2), make(2, 3, 5, 6, 4), [2], [2], [0], False, True, None)
    yield error(make(2, 3, 2, 3, 2), make(2, 3, 5, 6, 4), [2], [2], [0], False, True, 0)


@cases("aten::max_pool3d_with_indices_backward", FLOATS, strides=False, forms=False)
def max_pool3d_backward(make):
    for x in (make(2, 3, 5, 6, 4), make(3, 5, 4, 6)):
        for arguments in kVolumePools:
            for dilation, ceil_mode in [([1], False), ([1], True), ([2, 1, 1], False)]:
                if arguments[0] == [3, 3, 2] and dilation != [1]:
                    continue
                pooled, indices = aten.max_pool3d_with_indices(x, *arguments, dilation, ceil_mode)
                yield make(*pooled.shape), x, *arguments, dilation, ceil_mode, indices


@cases("aten::_adaptive_avg_pool3d_backward", FLOATS, strides=False)
def adaptive_avg_pool3d_backward(make):
    for x in (make(2, 3, 5, 6, 4), make(3, 5, 4, 6)):
        for output in ([2, 3, 4], [1, 1, 1], [5, 7, 3], [8, 2, 4]):
            yield make(*x.shape[:-3], *output), x


def adaptive_max_gradients(make, rank):
    for x in (make(2, 3, *[5, 6, 4][:rank]), make(3, *[5, 4, 6][:rank])):
        for output in ([2, 3, 4], [1, 1, 1], [5, 7, 3]):
            pooled, indices = getattr(aten, f"adaptive_max_pool{rank}d")(x, output[:rank])
            yield make(*pooled.shape), x, indices


@cases("aten::adaptive_max_pool2d_backward", FLOATS, strides=False, forms=False)
def adaptive_max_pool2d_backward(make):
    yield from adaptive_max_gradients(make, 2)


@cases("aten::adaptive_max_pool3d_backward", FLOATS, strides=False, forms=False)
def adaptive_max_pool3d_backward(make):
    yield from adaptive_max_gradients(make, 3)


def fractional_max_gradients(make, rank):
    for x in (make(2, 3, *[5, 6, 7][:rank]), make(3, *[5, 8, 6][:rank])):
        samples = make(x.shape[0] if x.dim() == rank + 2 else 1, 3, rank, low=0, high=1)
        kernel, output = [2, 2, 3][:rank], [3, 4, 2][:rank]
        pooled, indices = getattr(aten, f"fractional_max_pool{rank}d")(x, kernel, output, samples)
        yield make(*pooled.shape), x, kernel, output, indices


@cases("aten::fractional_max_pool2d_backward", kWide, strides=False, forms=False)
def fractional_max_pool2d_backward(make):
    yield from fractional_max_gradients(make, 2)


@cases("aten::fractional_max_pool3d_backward", kWide, strides=False, forms=False)
def fractional_max_pool3d_backward(make):
    yield from fractional_max_gradients(make, 3)


# == Resizing and sampling ==

kResized = {1: [((7,), (4,)), ((3,), (8,)), ((5,), (5,)), ((1,), (3,)), ((4,), (1,))],
            2: [((7, 4), (4, 9)), ((3, 5), (6, 10)), ((4, 4), (4, 4)), ((1, 3), (3, 1)), ((9, 7), (2, 3))],
            3: [((3, 4, 5), (5, 3, 5)), ((2, 2, 3), (4, 4, 6)), ((1, 3, 2), (2, 1, 2))]}


def resizing_gradients(make, rank, *aligned, ignores_scales=False):
    for size, output in kResized[rank]:
        for align_corners in aligned or [()]:
            yield make(2, 3, *output), output, (2, 3, *size), *align_corners, *[None] * rank
    size, output = kResized[rank][0]
    scaled = [to / of * 1.1 for of, to in zip(size, output)]
    if not ignores_scales:
        yield make(1, 2, *output), output, (1, 2, *size), *(aligned[-1] if aligned else ()), *scaled
    yield error(make(1, 2, *output), output, (2, 2, *size), *(aligned[-1] if aligned else ()), *[None] * rank)
    yield error(make(1, 2, *output), output, size, *(aligned[-1] if aligned else ()), *[None] * rank)


def declare_resizing(name, rank, *aligned):
    @cases(name, kWide + ([] if aligned else [torch.bfloat16]), strides=False, forms=False, **kSums)
    def gradients(make):
        # PyTorch's gradient is not that of its upsample_nearest3d where scales are given: it ignores them.
        yield from resizing_gradients(make, rank, *aligned, ignores_scales="nearest3d" in name)


for rank in (1, 2, 3):
    declare_resizing(f"aten::upsample_nearest{rank}d_backward", rank)
    declare_resizing(f"aten::_upsample_nearest_exact{rank}d_backward", rank)
for name, rank in [("upsample_linear1d", 1), ("upsample_bilinear2d", 2), ("upsample_bicubic2d", 2),
                   ("upsample_trilinear3d", 3), ("_upsample_bilinear2d_aa", 2), ("_upsample_bicubic2d_aa", 2)]:
    declare_resizing(f"aten::{name}_backward", rank, (True,), (False,))


def grid_gradients(make, rank, modes):
    sizes = [5, 4, 3][:rank]
    places = [3, 4, 2][:rank]
    for mode in modes:
        for padding in (0, 1, 2):
            for align_corners in (False, True):
                grid = make(2, *places, rank, low=-1.6, high=1.6)
                yield (make(2, 3, *places), make(2, 3, *sizes), grid, mode, padding, align_corners, [True, True])
    # Whole positions, the borders among them.
    ones = [1] * (rank - 1)
    whole = torch.linspace(-1, 1, 5).to(make.dtype).reshape(1, 5, *ones, 1).expand(1, 5, *ones, rank)
    for padding in (0, 1, 2):
        yield (make(1, 2, 5, *ones), make(1, 2, *[5] * rank), whole, 0, padding, True, [True, True])
    yield make(2, 3, *places), make(2, 3, *sizes), grid, 0, 0, False, [False, True]
    yield error(make(2, 2, *places), make(2, 3, *sizes), grid, 0, 0, False, [True, True], unchecked=True)
    yield error(make(2, 3, *places), make(2, 3, *sizes), grid, 0, 5, False, [True, True], unchecked=True)


@cases("aten::grid_sampler_2d_backward", kWide, strides=False, forms=False, **kSums)
def grid_sampler_2d_backward(make):
    yield from grid_gradients(make, 2, (0, 1, 2))


@cases("aten::grid_sampler_3d_backward", kWide, strides=False, forms=False, **kSums)
def grid_sampler_3d_backward(make):
    yield from grid_gradients(make, 3, (0, 1, 2))


@cases("aten::affine_grid_generator_backward", kWide, **kSums)
def affine_grid_generator_backward(make):
    for size in ([2, 3, 4, 5], [1, 1, 1, 1], [2, 3, 2, 3, 4]):
        for align_corners in (False, True):
            yield make(size[0], *size[2:], len(size) - 2), size, align_corners
