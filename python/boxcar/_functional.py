"""The functions of torch.nn.functional. Those that are not here are operators of the same name."""

from boxcar import _core

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def _operator(name):
    found = _core._operators("aten::" + name)
    if found is None:
        raise AttributeError(f"boxcar.nn.functional has no {name}")
    return found


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return globals().setdefault(name, _operator(name))


def _named(function, name):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"PyTorch's {name}(), by the operator aten::{name}."
    return function


# ---- Losses ----

def _reduction(reduction, size_average=None, reduce=None):
    if size_average is not None or reduce is not None:  # as before PyTorch 1.0
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    if reduction not in _REDUCTIONS:
        raise ValueError(f"`reduction` must be none, mean or sum, not {reduction!r}")
    return _REDUCTIONS[reduction]


def _loss(name, tensors, *more, operator=None):
    """A loss whose operator takes the reduction as a number; `more` are its parameters, in order, with defaults."""
    names = [each[0] for each in more]

    def loss(*args, **kwargs):
        given, rest = args[:tensors], args[tensors:]
        if len(rest) > len(more):
            raise TypeError(f"{name}() takes {tensors + len(more)} arguments, not {len(args)}")
        values = dict(more) | dict(zip(names, rest)) | kwargs
        number = _reduction(*(values.pop(each, None) for each in ("reduction", "size_average", "reduce")))
        own = {each: value for each, value in values.items() if value is not None}
        return _operator(operator or name)(*given, reduction=number, **own)
    return _named(loss, name)


_OLD = ("size_average", None), ("reduce", None), ("reduction", "mean")
mse_loss = _loss("mse_loss", 2, *_OLD)
l1_loss = _loss("l1_loss", 2, *_OLD)
smooth_l1_loss = _loss("smooth_l1_loss", 2, *_OLD, ("beta", 1.0))
huber_loss = _loss("huber_loss", 2, ("reduction", "mean"), ("delta", 1.0))
soft_margin_loss = _loss("soft_margin_loss", 2, *_OLD)
hinge_embedding_loss = _loss("hinge_embedding_loss", 2, ("margin", 1.0), *_OLD)
margin_ranking_loss = _loss("margin_ranking_loss", 3, ("margin", 0), *_OLD)
cosine_embedding_loss = _loss("cosine_embedding_loss", 3, ("margin", 0), *_OLD)
multi_margin_loss = _loss("multi_margin_loss", 2, ("p", 1), ("margin", 1.0), ("weight", None), *_OLD)
multilabel_margin_loss = _loss("multilabel_margin_loss", 2, *_OLD)
triplet_margin_loss = _loss("triplet_margin_loss", 3, ("margin", 1.0), ("p", 2), ("eps", 1e-6), ("swap", False), *_OLD)
binary_cross_entropy = _loss("binary_cross_entropy", 2, ("weight", None), *_OLD)
binary_cross_entropy_with_logits = _loss("binary_cross_entropy_with_logits", 2, ("weight", None), *_OLD,
                                         ("pos_weight", None))
cross_entropy = _loss("cross_entropy", 2, ("weight", None), ("size_average", None), ("ignore_index", -100), ("reduce", None),
                      ("reduction", "mean"), ("label_smoothing", 0.0), operator="cross_entropy_loss")
nll_loss = _loss("nll_loss", 2, ("weight", None), ("size_average", None), ("ignore_index", -100), ("reduce", None),
                 ("reduction", "mean"), operator="nll_loss_nd")
ctc_loss = _loss("ctc_loss", 4, ("blank", 0), ("reduction", "mean"), ("zero_infinity", False))
poisson_nll_loss = _loss("poisson_nll_loss", 2, ("log_input", True), ("full", False), ("size_average", None), ("eps", 1e-8),
                         ("reduce", None), ("reduction", "mean"))


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """The divergence of Kullback and Leibler; reduction="batchmean" divides by the first size, as the definition does."""
    if reduction == "batchmean":
        return _operator("kl_div")(input, target, 2, log_target=log_target) / input.shape[0]
    return _operator("kl_div")(input, target, _reduction(reduction, size_average, reduce), log_target=log_target)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """The negative log likelihood of `target` under normal distributions with the means `input` and variances `var`."""
    if isinstance(var, (int, float)):
        var = _operator("full_like")(input, var)
    elif tuple(var.shape) != tuple(input.shape) and tuple(input.shape[:-1]) == tuple(var.shape):
        var = var.unsqueeze(-1)
    if (var < 0).any():
        raise ValueError("gaussian_nll_loss(): `var` has negative elements")
    var = var.detach().clamp(min=eps) + (var - var.detach())
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.9189385332046727  # half the logarithm of 2 pi
    return (loss, loss.mean(), loss.sum())[_reduction(reduction)] if reduction != "none" else loss


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over classes of binary cross entropies with logits."""
    log_sigmoid = _operator("log_sigmoid")
    loss = -(target * log_sigmoid(input) + (1 - target) * log_sigmoid(-input))
    loss = (loss if weight is None else loss * weight).mean(-1)
    number = _reduction(reduction, size_average, reduce)
    return loss if number == 0 else loss.mean() if number == 1 else loss.sum()


# ---- Activations and dropout: an argument `inplace` ----

def _inplace(name, *, operator=None):
    plain = operator or name

    def function(input, *args, inplace=False, **kwargs):
        if args and isinstance(args[-1], bool) and name in _ONLY_INPLACE:  # relu(x, True)
            *args, inplace = args
        return _operator(plain + "_" if inplace else plain)(input, *args, **kwargs)
    return _named(function, name)


_ONLY_INPLACE = ("relu", "relu6", "selu", "silu", "mish", "hardswish", "hardsigmoid")
relu, relu6, selu, silu = _inplace("relu"), _inplace("relu6"), _inplace("selu"), _inplace("silu")
mish, hardswish, hardsigmoid = _inplace("mish"), _inplace("hardswish"), _inplace("hardsigmoid")
elu, celu, leaky_relu = _inplace("elu"), _inplace("celu"), _inplace("leaky_relu")
hardtanh, threshold, rrelu = _inplace("hardtanh"), _inplace("threshold"), _inplace("rrelu")


def logsigmoid(input):
    """The logarithm of the sigmoid."""
    return _operator("log_sigmoid")(input)


def softsign(input):
    """input / (1 + |input|)"""
    return input / (input.abs() + 1)


def tanhshrink(input):
    """input - tanh(input)"""
    return input - input.tanh()


def _dropout(name, operator, p):
    def function(input, p=p, training=True, inplace=False):
        if not 0 <= p <= 1:
            raise ValueError(f"{name}(): `p` must be from 0 to 1, not {p}")
        return _operator(operator + "_" if inplace else operator)(input, p, training)
    return _named(function, name)


dropout = _dropout("dropout", "dropout", 0.5)
alpha_dropout = _dropout("alpha_dropout", "alpha_dropout", 0.5)
feature_alpha_dropout = _dropout("feature_alpha_dropout", "feature_alpha_dropout", 0.5)
dropout1d, dropout2d, dropout3d = (_dropout(f"dropout{n}d", "feature_dropout", 0.5) for n in (1, 2, 3))


# ---- Softmax ----

def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """The softmax along `dim`."""
    return _operator("softmax")(input, _dimension(input, dim), dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """The logarithm of the softmax along `dim`."""
    return _operator("log_softmax")(input, _dimension(input, dim), dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """The softmax of -input along `dim`."""
    return softmax(-input, dim, dtype=dtype)


def _dimension(input, dim):
    return (0 if input.dim() in (0, 1, 3) else 1) if dim is None else dim


# ---- Layers ----

def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """The rows of `weight` at the indices of `input`."""
    if padding_idx is not None and padding_idx < 0:
        padding_idx += weight.shape[0]
    if max_norm is not None:
        with _core._scope("no_grad"):
            _operator("embedding_renorm_")(weight.detach(), input, max_norm, norm_type)
    return _operator("embedding")(weight, input, -1 if padding_idx is None else padding_idx, scale_grad_by_freq, sparse)


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean",
                  sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):
    """Sums, means or maxima of the rows of `weight` that each bag of `input` names."""
    modes = ("sum", "mean", "max")
    if mode not in modes:
        raise ValueError(f"embedding_bag(): `mode` is one of {modes}, not {mode!r}")
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError("embedding_bag(): `offsets` must be None where `input` has two dimensions")
        offsets = _operator("arange")(0, input.numel(), input.shape[1], dtype=input.dtype, device=input.device)
        input = input.reshape(-1)
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if max_norm is not None:
        with _core._scope("no_grad"):
            _operator("embedding_renorm_")(weight.detach(), input, max_norm, norm_type)
    return _operator("embedding_bag")(weight, input, offsets, scale_grad_by_freq, modes.index(mode), sparse,
                                      per_sample_weights, include_last_offset, padding_idx)[0]


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """input, divided by its norm along `dim`."""
    norm = _operator("linalg_vector_norm")(input, p, dim, True).clamp(min=eps).expand_as(input)
    return input / norm if out is None else _operator("div")(input, norm, out=out)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """Normalizes each channel, by the statistics of the batch or by the running ones."""
    return _operator("batch_norm")(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1,
                  eps=1e-5):
    """Normalizes each channel of each sample."""
    return _operator("instance_norm")(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, False)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Normalizes groups of channels of each sample."""
    return _operator("group_norm")(input, num_groups, weight, bias, eps, False)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The patches of images as columns."""
    return _operator("im2col")(input, *(_sizes(each, 2) for each in (kernel_size, dilation, padding, stride)))


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Images from their patches, which are added where they overlap."""
    return _operator("col2im")(input, *(_sizes(each, 2) for each in (output_size, kernel_size, dilation, padding, stride)))


def _pool_with_indices(name, rank):
    def pool(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        stride = [] if stride is None else stride
        operator = _operator(f"max_pool{rank}d_with_indices" if return_indices else f"max_pool{rank}d")
        return operator(input, kernel_size, stride, padding, dilation, ceil_mode)
    return _named(pool, name)


max_pool1d, max_pool2d, max_pool3d = (_pool_with_indices(f"max_pool{rank}d", rank) for rank in (1, 2, 3))


def _sizes(size, rank):
    return [size] * rank if isinstance(size, int) else list(size)


def _max_unpool(rank):
    def unpool(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        kernel, padding = _sizes(kernel_size, rank), _sizes(padding, rank)
        stride = _sizes(stride, rank) if stride is not None and stride != [] else kernel
        if output_size is None:
            output_size = [(size - 1) * step + width - 2 * pad
                           for size, step, width, pad in zip(input.shape[-rank:], stride, kernel, padding)]
        output_size = list(output_size)[-rank:]
        if rank == 3:
            return _operator("max_unpool3d")(input, indices, output_size, stride, padding)
        if rank == 2:
            return _operator("max_unpool2d")(input, indices, output_size)
        return _operator("max_unpool2d")(input.unsqueeze(-1), indices.unsqueeze(-1), [*output_size, 1]).squeeze(-1)
    return _named(unpool, f"max_unpool{rank}d")


max_unpool1d, max_unpool2d, max_unpool3d = map(_max_unpool, (1, 2, 3))


def _fractional_max(rank):
    def pool(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"fractional_max_pool{rank}d() takes either `output_size` or `output_ratio`")
        if output_size is None:
            ratios = [output_ratio] * rank if isinstance(output_ratio, (int, float)) else output_ratio
            output_size = [int(size * ratio) for size, ratio in zip(input.shape[-rank:], ratios)]
        if _random_samples is None:
            batch = 1 if input.dim() == rank + 1 else input.shape[0]
            shape = [batch, input.shape[-rank - 1], rank]
            _random_samples = _operator("rand")(shape, dtype=input.dtype, device=input.device)
        results = _operator(f"fractional_max_pool{rank}d")(input, _sizes(kernel_size, rank), _sizes(output_size, rank),
                                                           _random_samples)
        return results if return_indices else results[0]
    return _named(pool, f"fractional_max_pool{rank}d")


fractional_max_pool2d, fractional_max_pool3d = map(_fractional_max, (2, 3))


def _adaptive(input, output_size, rank):
    """PyTorch takes None for a size of the input."""
    sizes = [None] * rank if output_size is None else _sizes(output_size, rank)
    return [own if size is None else size for size, own in zip(sizes, input.shape[-rank:])]


def _adaptive_max(rank):
    def pool(input, output_size, return_indices=False):
        results = _operator(f"adaptive_max_pool{rank}d")(input, _adaptive(input, output_size, rank))
        return results if return_indices else results[0]
    return _named(pool, f"adaptive_max_pool{rank}d")


def _adaptive_avg(rank):
    def pool(input, output_size):
        return _operator(f"adaptive_avg_pool{rank}d")(input, _adaptive(input, output_size, rank))
    return _named(pool, f"adaptive_avg_pool{rank}d")


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = map(_adaptive_max, (1, 2, 3))
adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = map(_adaptive_avg, (1, 2, 3))


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The values of images at the places in `grid`, whose corners are -1 and 1."""
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    if mode not in modes or padding_mode not in paddings:
        raise ValueError(f"grid_sample(): `mode` is one of {modes} and `padding_mode` one of {paddings}")
    return _operator("grid_sampler")(input, grid, modes.index(mode), paddings.index(padding_mode), bool(align_corners))


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                antialias=False):
    """Images of another size, which is given, or is `scale_factor` times theirs."""
    rank = input.dim() - 2
    names = {"nearest": f"upsample_nearest{rank}d", "nearest-exact": f"_upsample_nearest_exact{rank}d"}
    names |= {("linear", 1): "upsample_linear1d", ("bilinear", 2): "upsample_bilinear2d",
              ("bicubic", 2): "upsample_bicubic2d", ("trilinear", 3): "upsample_trilinear3d"}
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate() takes either `size` or `scale_factor`")
    sizes = [size] * rank if isinstance(size, int) else size
    scales = [float(scale_factor)] * rank if isinstance(scale_factor, (int, float)) else scale_factor
    if mode == "area":
        if sizes is None:
            sizes = [int(own * scale) for own, scale in zip(input.shape[2:], scales)]
        return globals()[f"adaptive_avg_pool{rank}d"](input, sizes)
    if recompute_scale_factor and scales is not None:
        sizes, scales = [int(own * scale) for own, scale in zip(input.shape[2:], scales)], None
    sizes, scales = (None if each is None else list(each) for each in (sizes, scales))
    if mode.startswith("nearest"):
        return _operator(names[mode])(input, sizes, scales)
    name = names.get((mode, rank))
    if name is None:
        raise NotImplementedError(f"interpolate(): mode '{mode}' is not for inputs of {input.dim()} dimensions")
    return _operator(f"_{name}_aa" if antialias else name)(input, sizes, bool(align_corners), scales)


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate(mode="nearest")"""
    return interpolate(input, size, scale_factor)


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate(mode="bilinear", align_corners=True)"""
    return interpolate(input, size, scale_factor, "bilinear", True)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Divides each channel by what its neighbours have."""
    squares = input.mul(input).unsqueeze(1)
    rank = input.dim() - 2
    flat = squares.reshape(input.shape[0], 1, input.shape[1], -1)
    padded = _operator("pad")(flat, [0, 0, size // 2, (size - 1) // 2])
    mean = _operator("avg_pool2d")(padded, [size, 1], stride=1).reshape(input.shape) if rank >= 0 else squares
    return input / (mean * alpha + k).pow(beta)
