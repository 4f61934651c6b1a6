"""Losses of pairs, margins and sequences; products of three tensors; bags and segments; random activations at rest."""

import math

import torch

from generator import FLOATS, WIDE_FLOATS, call, cases, error

# float16 and bfloat16 are rounded after each step, as in PyTorch.
kSteps = dict(tolerance={torch.float16: (1e-2, 1e-2), torch.bfloat16: (5e-2, 1e-1), torch.float32: (1e-5, 1e-5)},
              reason="results of each step are rounded")


# PyTorch's own out= forms do not write the result of no samples, and refuse or resize strided tensors.
def written(name):
    return dict(reference=getattr(torch.ops.aten, name).default, out_dtypes=False)


def signs(make, *sizes):
    return (make.mask(*sizes).long() * 2 - 1).to(make.dtype)


@cases("aten::poisson_nll_loss", FLOATS, low=0.1, high=3, **kSteps)
def poisson_nll_loss(make):
    for reduction in range(3):
        for log_input in (False, True):
            for full in (False, True):
                yield make(3, 4), make(3, 4), log_input, full, 1e-8, reduction
    yield make(3, 1), make(4), True, False, 1e-3, 0
    yield make(0, 2), make(0, 2), True, True, 1e-3, 1
    yield error(make(3, 4), make(3, 5), True, False, 1e-8, 1)


@cases("aten::margin_ranking_loss", FLOATS, **kSteps)
def margin_ranking_loss(make):
    for reduction in range(3):
        yield make(5), make(5), signs(make, 5), 0.0, reduction
        yield make(2, 5), make(2, 5), signs(make, 2, 5), 0.5, reduction
    yield make(0), make(0), make(0)
    yield make(5), make(2, 5), signs(make, 5)
    yield error(make(5), make(2, 4), signs(make, 5))


@cases("aten::cosine_embedding_loss", WIDE_FLOATS, **kSteps)
def cosine_embedding_loss(make):
    for reduction in range(3):
        yield make(5, 4), make(5, 4), signs(make, 5), 0.2, reduction
        yield make(4), make(4), signs(make), 0.0, reduction
    yield error(make(5, 4), make(4), signs(make, 5))
    yield error(make(5, 4), make(5, 4), signs(make, 5, 1))


@cases("aten::hinge_embedding_loss", FLOATS, **kSteps)
def hinge_embedding_loss(make):
    for reduction in range(3):
        yield make(3, 4), signs(make, 3, 4), 1.0, reduction
        yield make(3, 4), signs(make, 3, 4), 2.5, reduction
        yield make(), signs(make), 1.0, reduction


@cases("aten::triplet_margin_loss", WIDE_FLOATS, **kSteps)
def triplet_margin_loss(make):
    for reduction in range(3):
        for p in (1, 2, 3):
            for swap in (False, True):
                yield make(5, 4), make(5, 4), make(5, 4), 1.0, p, 1e-6, swap, reduction
    yield make(4), make(4), make(4), 0.5
    yield error(make(5, 4), make(4), make(5, 4))


@cases("aten::soft_margin_loss", FLOATS, **kSteps)
def soft_margin_loss(make):
    for reduction in range(3):
        yield make(3, 4), signs(make, 3, 4), reduction
    yield make(0, 4), make(0, 4)
    yield error(make(3, 4), make(3, 5))


@cases("aten::multi_margin_loss", WIDE_FLOATS, **written("multi_margin_loss"))
def multi_margin_loss(make):
    for reduction in range(3):
        for p in (1, 2):
            yield make(4, 5), make.indices(4, below=5), p, 1.0, None, reduction
            yield make(4, 5), make.indices(4, below=5), p, 0.3, make(5, low=0, high=2), reduction
            yield make(5), make.indices(below=5), p, 1, None, reduction
            yield make(5), make.indices(1, below=5), p, 1, None, reduction
    # PyTorch does not write the sum of no losses.
    yield call(make(0, 5), make.indices(0, below=5), 1, 1, None, 2, options={"reference": lambda x, *_: x.sum()})
    yield error(make(4, 5), make.indices(3, below=5))
    yield error(make(4, 5), make.indices(4, below=5), 3)
    yield error(make(4, 5), make.indices(4, below=5) + 5)
    yield error(make(4, 5), make.indices(4, below=5) - 5)
    yield error(make(4, 5), make.indices(4, below=5), 1, 1, make(4))
    yield error(make(2, 4, 5), make.indices(2, below=5))


def multilabel_margin_loss(make):
    labels = torch.tensor([[3, 0, -1, 1], [1, 2, 3, 0], [-1, 2, 2, 2], [2, -1, -1, -1]])
    for reduction in range(3):
        yield make(4, 4), labels, reduction
        yield make(4), labels[0], reduction
    yield error(make(4, 4), labels[:3], 1)
    yield error(make(4, 4), labels + 4, 1)
    yield error(make(2, 4, 4), labels, 1)


cases("aten::multilabel_margin_loss", WIDE_FLOATS, **written("multilabel_margin_loss"))(multilabel_margin_loss)
cases("aten::multilabel_margin_loss_forward", WIDE_FLOATS,
      **written("multilabel_margin_loss_forward"))(multilabel_margin_loss)


@cases("aten::log_sigmoid_forward", FLOATS, **written("log_sigmoid_forward"))
def log_sigmoid_forward(make):
    yield make(3, 4),
    yield make(),
    yield make(0, 2),
    yield make(4, 3).t(),


# == Sequences ==

def probabilities(make, steps, batch, classes):
    return torch.log_softmax(make(steps, batch, classes), 2)


kChains = dict(tolerance={torch.float32: (1e-4, 1e-4)}, reason="sums of many steps")


def ctc_calls(make, wrap):
    labels = lambda *sizes: make.indices(*sizes, below=4) + 1
    for rest in [(0, 0, False), (0, 1, False), (0, 2, True)]:
        yield probabilities(make, 8, 3, 5), labels(3, 3), wrap([8, 8, 8]), wrap([3, 3, 3]), *rest
        yield probabilities(make, 8, 3, 5), labels(3, 4), wrap([8, 6, 7]), wrap([3, 0, 4]), *rest
        yield probabilities(make, 8, 3, 5), labels(6), wrap([8, 6, 7]), wrap([3, 1, 2]), *rest
        yield probabilities(make, 4, 2, 5), torch.tensor([[1, 1, 1], [2, 2, 3]]), wrap([4, 4]), wrap([3, 3]), *rest
        yield probabilities(make, 6, 2, 5), labels(2, 2).int() - 1, wrap([6, 6]), wrap([2, 1]), 4, *rest[1:]
        yield probabilities(make, 5, 2, 5), labels(0), wrap([5, 4]), wrap([0, 0]), *rest
    x = probabilities(make, 8, 2, 5)
    yield error(x, labels(2, 3), wrap([8]), wrap([3, 3]))
    yield error(x, labels(2, 3), wrap([8, 9]), wrap([3, 3]))
    yield error(x, labels(2, 3), wrap([8, 8]), wrap([3, 4]))
    yield error(x, labels(2, 3), wrap([8, 8]), wrap([3, 3]), 5)
    yield error(x, labels(2, 3), wrap([8, 8]), wrap([3, -1]))
    yield error(x, labels(4), wrap([8, 8]), wrap([3, 2]))
    yield error(x, labels(2, 3).float(), wrap([8, 8]), wrap([3, 3]), unchecked=True)


@cases("aten::ctc_loss.IntList", WIDE_FLOATS, **kChains)
def ctc_loss(make):
    yield from ctc_calls(make, list)
    yield probabilities(make, 8, 1, 5)[:, 0], make.indices(3, below=4) + 1, [8], [3], 0, 0
    yield probabilities(make, 8, 1, 5)[:, 0], make.indices(3, below=4) + 1, [8], [3], 0, 1


@cases("aten::ctc_loss.Tensor", WIDE_FLOATS, **kChains)
def ctc_loss_tensor(make):
    yield from ctc_calls(make, lambda lengths: torch.tensor(lengths))


# PyTorch writes only the forward probabilities that the losses depend on.
@cases("aten::_ctc_loss aten::_ctc_loss.Tensor", WIDE_FLOATS, **kChains)
def ctc_forward(make, name):
    wrap = torch.tensor if "Tensor" in name else list
    yield probabilities(make, 8, 3, 5), make.indices(3, 3, below=4) + 1, wrap([8, 8, 8]), wrap([3, 3, 3])
    yield probabilities(make, 6, 1, 5), make.indices(2, below=4), wrap([6]), wrap([2]), 4


# == Products and distances ==

@cases("aten::pdist aten::_pdist_forward", WIDE_FLOATS, tolerance={torch.float32: (1e-5, 1e-5)}, reason="sums")
def pdist(make, name):
    for p in (0.0, 1.0, 1.5, 2.0, math.inf):
        yield make(5, 3), p
    if "forward" not in name:
        yield make(4, 6).t(), 2.0
    yield make(1, 3),
    yield call(make(0, 3), options={"gradients": False})  # PyTorch crashes at them
    yield call(make(2, 0), options={"gradients": False})
    yield error(make(3), 2.0)
    yield error(make(3, 4), -1.0, unchecked=True)


@cases("aten::bilinear", WIDE_FLOATS, low=-1, high=1, tolerance={torch.float32: (1e-5, 1e-5)}, reason="sums")
def bilinear(make):
    yield make(4, 3), make(4, 5), make(2, 3, 5), make(2)
    yield make(4, 3), make(4, 5), make(2, 3, 5)
    yield make(2, 4, 3), make(2, 4, 5), make(6, 3, 5), make(6)
    yield make(0, 3), make(0, 5), make(2, 3, 5), make(2)
    yield error(make(4, 3), make(3, 5), make(2, 3, 5))
    yield error(make(4, 3), make(4, 5), make(2, 5, 3))
    yield error(make(4, 3), make(4, 5), make(2, 3, 5), make(3))
    yield error(make(4, 3), make(1, 4, 5), make(2, 3, 5))


@cases("aten::_trilinear", WIDE_FLOATS + [torch.int8], low=-1, high=1, tolerance={torch.float32: (1e-5, 1e-5)}, reason="sums")
def trilinear(make):
    yield make(4, 3), make(2, 3, 5), make(4, 5), [1, 3], [0], [1, 2], [2, 3]
    yield make(4, 3), make(2, 3, 5), make(4, 5), [1, 3], [0], [1, 2], [2, 3], 0
    yield make(4, 3), make(4, 3), make(4, 3), [], [], [], [0]


# == Bags and segments ==

kIndexTypes = (torch.int64, torch.int32)


@cases("aten::_embedding_bag aten::_embedding_bag_forward_only", FLOATS, **kSteps)
def embedding_bag_forward(make):
    for mode in range(3):
        for kind in kIndexTypes:
            indices = torch.tensor([1, 2, 4, 0, 2, 3], dtype=kind)
            yield make(5, 3), indices, torch.tensor([0, 2, 2, 5], dtype=kind), False, mode
            yield make(5, 3), indices, torch.tensor([0, 2, 2, 5], dtype=kind), False, mode, False, None, False, 2
            yield make(5, 3), indices, torch.tensor([0, 4, 6], dtype=kind), False, mode, False, None, True
        yield make(5, 3), torch.zeros(0, dtype=torch.int64), torch.tensor([0]), False, mode
        yield make(5, 3), torch.zeros(0, dtype=torch.int64), torch.tensor([0, 0, 0]), False, mode
        yield make(3, 5).t(), torch.tensor([1, 1, 4]), torch.tensor([0, 1]), False, mode, False, None, False, 1
    indices = torch.tensor([1, 2, 4, 0, 2, 3])
    yield make(5, 3), indices, torch.tensor([0, 2, 2, 5]), False, 0, False, make(6)
    yield make(5, 3), indices, torch.tensor([0, 2, 2, 5]), False, 0, False, make(6), False, 4
    yield error(make(5, 3), indices, torch.tensor([0, 7]))
    yield error(make(5, 3), indices, torch.tensor([1, 2]))
    yield error(make(5, 3), indices + 3, torch.tensor([0, 2]))
    yield error(make(5, 3), indices - 1, torch.tensor([0, 2]))
    yield error(make(5, 3), indices, torch.tensor([[0, 2]]))
    yield error(make(5, 3), indices, torch.tensor([0, 2]), False, 1, False, make(6))
    yield error(make(5, 3), indices, torch.tensor([0, 2]), False, 0, False, make(5))
    yield error(make(5, 3), indices.float(), torch.tensor([0, 2]))


@cases("aten::embedding_bag", WIDE_FLOATS)
def embedding_bag(make):
    for mode in range(3):
        yield make(5, 3), torch.tensor([1, 2, 4, 0, 2, 3]), torch.tensor([0, 2, 2, 5]), False, mode


@cases("aten::embedding_bag.padding_idx", WIDE_FLOATS)
def embedding_bag_padding_idx(make):
    for mode in range(3):
        for padding in (None, 2, -1):
            yield (make(5, 3), torch.tensor([1, 2, 4, 0, 2, 3]), torch.tensor([0, 2, 2, 5]), False, mode, False, None,
                   False, padding)
        yield make(5, 3), torch.tensor([1, 2, 4, 0]), torch.tensor([0, 2, 4]), False, mode, False, None, True, None
    yield error(make(5, 3), torch.tensor([1, 2]), torch.tensor([0]), False, 0, False, None, False, 5)
    yield error(make(5, 3), torch.tensor([1, 2]), torch.tensor([0]), False, 0, False, None, False, -6)


@cases("aten::embedding_renorm_", WIDE_FLOATS)
def embedding_renorm(make):
    for norm in (1.0, 2.0, math.inf):
        yield make(5, 3), torch.tensor([1, 3, 1, 0]), 1.5, norm
        yield make(5, 3), torch.tensor([[1, 3], [4, 4]]), 3.0, norm
    yield make(5, 3), torch.zeros(0, dtype=torch.int64), 1.0, 2.0
    yield error(make(5, 3), torch.tensor([1, 5]), 1.0, 2.0)
    yield error(make(5), torch.tensor([1, 4]), 1.0, 2.0)


@cases("aten::segment_reduce", FLOATS, **kSteps)
def segment_reduce(make):
    for reduce in ("sum", "mean", "max", "min", "prod"):
        for initial in (None, 2.0):
            arguments = dict(initial=initial)
            for kind in kIndexTypes:
                yield call(make(6), reduce, lengths=torch.tensor([2, 0, 3, 1], dtype=kind), **arguments)
                yield call(make(6, 3), reduce, offsets=torch.tensor([0, 2, 2, 5, 6], dtype=kind), **arguments)
            yield call(make(2, 4, 3), reduce, lengths=torch.tensor([[1, 3], [4, 0]]), axis=1, **arguments)
            yield call(make(3, 4).t(), reduce, lengths=torch.tensor([4]), unsafe=True, **arguments)
        holes = make(4)
        holes[1] = math.nan
        yield call(holes, reduce, lengths=torch.tensor([3, 1]))
    yield call(make(0, 2), "sum", lengths=torch.tensor([0, 0]))
    yield error(make(6), "median", lengths=torch.tensor([6]))
    yield error(make(6), "sum")
    yield error(make(6), "sum", lengths=torch.tensor([2, 3]))
    yield error(make(6), "sum", lengths=torch.tensor([-1, 7]))
    yield error(make(6), "sum", lengths=torch.tensor([6.0]))
    yield error(make(6), "sum", lengths=torch.tensor([6]), indices=torch.tensor([0]))


# == Random activations that are not in training ==

@cases("aten::rrelu", FLOATS)
def rrelu(make):
    yield make(3, 4),
    yield make(3, 4), 0.1, 0.5
    yield make(0),
    yield error(make(3), 0.5, 0.1)


@cases("aten::rrelu_with_noise", WIDE_FLOATS)
def rrelu_with_noise(make):
    yield make(3, 4), make(3, 4)
    yield make(3, 4), make(3, 4), 0.1, 0.5, False
    yield error(make(3, 4), make(3, 5), 0.1, 0.5, False)


@cases("aten::rrelu_with_noise_functional", WIDE_FLOATS)
def rrelu_with_noise_functional(make):
    yield make(3, 4), make(3, 4)
    yield make(3, 4), make(3, 4), 0.1, 0.5, False
    yield error(make(3, 4), make(3, 5), 0.1, 0.5, False, unchecked=True)


@cases("aten::alpha_dropout aten::feature_alpha_dropout", FLOATS)
def alpha_dropout(make):
    yield make(3, 4), 0.5, False
    yield make(3, 4), 0.0, True
    yield make(3, 4), 1.0, True
    yield make(0, 4), 0.5, True
    yield error(make(3, 4), 1.5, True)
    yield error(make(3, 4), -0.5, True)
