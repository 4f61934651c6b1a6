#!/usr/bin/env python3
"""Writes the script that compares dtypes under autocast with PyTorch's: `autocast_dtypes.py > tests/scripts/scope/autocast_has_the_dtypes_of_pytorch.ops`.

Run it in the environment of `./dev setup models`. Each sample is a call that Python and scripts both read. It runs in regions
of bfloat16 and float16, on arguments of several dtypes; where PyTorch raises an error, nothing is compared.
"""

import math

import torch

# Calls of `aten` with tensors of two dtypes, `a` and `b`: x(sizes, dtype) has numbers between 0 and 1, spd(dtype) is a
# symmetric positive definite matrix, and row(n) counts.
SAMPLES = """
addbmm(x([2, 2], a), x([3, 2, 4], b), x([3, 4, 2], b))
addmm(x([2, 2], a), x([2, 4], b), x([4, 2], b))
baddbmm(x([3, 2, 2], a), x([3, 2, 4], b), x([3, 4, 2], b))
bmm(x([3, 2, 4], a), x([3, 4, 2], b))
conv1d(x([2, 3, 8], a), x([4, 3, 3], b), x([4], b))
conv1d(x([2, 3, 8], a), x([4, 3, 3], b), None, [1], "same", [1])
conv2d(x([2, 3, 8, 8], a), x([4, 3, 3, 3], b), x([4], b))
conv2d(x([2, 3, 8, 8], a), x([4, 3, 3, 3], b), None, [1], "same", [1])
conv3d(x([1, 2, 4, 4, 4], a), x([2, 2, 3, 3, 3], b), x([2], b))
conv3d(x([1, 2, 4, 4, 4], a), x([2, 2, 3, 3, 3], b), None, [1], "same", [1])
conv_transpose1d(x([2, 3, 8], a), x([3, 4, 3], b), x([4], b))
conv_transpose2d(x([2, 3, 8, 8], a), x([3, 4, 3, 3], b), x([4], b))
conv_transpose3d(x([1, 2, 4, 4, 4], a), x([2, 2, 3, 3, 3], b), x([2], b))
linalg_vecdot(x([3, 4], a), x([3, 4], b))
linear(x([3, 4], a), x([2, 4], b), x([2], b))
matmul(x([3, 4], a), x([4, 2], b))
mm(x([3, 4], a), x([4, 2], b))
prelu(x([3, 4], a), x([1], b))
scaled_dot_product_attention(x([1, 2, 4, 8], a), x([1, 2, 4, 8], b), x([1, 2, 4, 8], b))
_lu_with_info(spd(a))
adaptive_avg_pool3d(x([1, 2, 4, 4, 4], a), [2, 2, 2])
adaptive_max_pool3d(x([1, 2, 4, 4, 4], a), [2, 2, 2])
avg_pool3d(x([1, 2, 4, 4, 4], a), [2, 2, 2])
binary_cross_entropy(x([3, 4], a) / 2, x([3, 4], b) / 2)
binary_cross_entropy_with_logits(x([3, 4], a), x([3, 4], b))
cdist(x([3, 4], a), x([5, 4], b))
cholesky_inverse(spd(a))
cholesky_solve(x([4, 2], a), spd(b))
cosine_embedding_loss(x([3, 4], a), x([3, 4], b), x([3], b).sign())
cross_entropy_loss(x([3, 4], a), row(3))
cross_entropy_loss(x([3, 4], a), x([3, 4], b))
ctc_loss(x([6, 2, 5], a), row(4).reshape(2, 2) + 1, [6, 6], [2, 2])
ctc_loss(x([6, 2, 5], a), row(4).reshape(2, 2) + 1, row(2) + 5, row(2) + 1)
fft_fft(x([4, 8], a))
fft_fft2(x([4, 8], a))
fft_fftn(x([4, 8], a))
fft_hfft(x([4, 8], a))
fft_ifft(x([4, 8], a))
fft_ifft2(x([4, 8], a))
fft_ifftn(x([4, 8], a))
fft_ihfft(x([4, 8], a))
fft_irfft(x([4, 8], a))
fft_irfft2(x([4, 8], a))
fft_irfftn(x([4, 8], a))
fft_rfft(x([4, 8], a))
fft_rfft2(x([4, 8], a))
fft_rfftn(x([4, 8], a))
fractional_max_pool2d(x([1, 2, 6, 6], a), [2, 2], [3, 3], x([1, 2, 2], b) / 2)
fractional_max_pool3d(x([1, 2, 6, 6, 6], a), [2, 2, 2], [3, 3, 3], x([1, 2, 3], b) / 2)
geqrf(x([4, 3], a))
grid_sampler(x([1, 2, 4, 4], a), x([1, 3, 3, 2], b), 0, 0, False)
grid_sampler_2d(x([1, 2, 4, 4], a), x([1, 3, 3, 2], b), 0, 0, False)
grid_sampler_3d(x([1, 2, 4, 4, 4], a), x([1, 3, 3, 3, 3], b), 0, 0, False)
hinge_embedding_loss(x([3, 4], a), x([3, 4], b).sign())
huber_loss(x([3, 4], a), x([3, 4], b))
inverse(spd(a))
kl_div(x([3, 4], a), x([3, 4], b))
l1_loss(x([3, 4], a), x([3, 4], b))
linalg_cholesky(spd(a))
linalg_cholesky_ex(spd(a))
linalg_cond(spd(a))
linalg_cond(spd(a), "fro")
linalg_eig(spd(a))
linalg_eigh(spd(a))
linalg_eigvals(spd(a))
linalg_eigvalsh(spd(a))
linalg_householder_product(x([4, 3], a), x([3], b))
linalg_inv(spd(a))
linalg_inv_ex(spd(a))
linalg_lstsq(x([4, 3], a), x([4, 2], b))
linalg_matrix_rank(spd(a), 0.1)
linalg_matrix_rank(spd(a), atol=0.1, rtol=0.1)
linalg_matrix_rank(spd(a), x([], b))
linalg_matrix_rank(spd(a), atol=x([], b), rtol=x([], b))
linalg_matrix_sqrth(spd(a))
linalg_qr(x([4, 3], a))
linalg_solve(spd(a), x([4, 2], b))
linalg_svd(x([4, 3], a))
linalg_svdvals(x([4, 3], a))
linalg_tensorinv(spd(a), 1)
linalg_tensorsolve(spd(a), x([4], b))
lu_solve(x([4, 2], a), spd(b), (row(4) + 1).to(int32))
margin_ranking_loss(x([3], a), x([3], b), x([3], b).sign())
max_pool3d(x([1, 2, 4, 4, 4], a), [2, 2, 2])
max_unpool2d(x([1, 1, 2, 2], a), row(4).reshape(1, 1, 2, 2), [4, 4])
max_unpool3d(x([1, 1, 2, 2, 2], a), row(8).reshape(1, 1, 2, 2, 2), [4, 4, 4], [2, 2, 2], [0, 0, 0])
mse_loss(x([3, 4], a), x([3, 4], b))
multi_margin_loss(x([3, 4], a), row(3))
multilabel_margin_loss(x([3, 4], a), row(12).reshape(3, 4) % 4)
multilabel_margin_loss_forward(x([3, 4], a), row(12).reshape(3, 4) % 4, 1)
nanquantile(x([3, 4], a), x([2], b) / 2)
nanquantile(x([3, 4], a), 0.5)
nll_loss(x([3, 4], a), row(3))
nll_loss2d(x([2, 4, 3, 3], a), row(18).reshape(2, 3, 3) % 4)
orgqr(x([4, 3], a), x([3], b))
ormqr(x([4, 3], a), x([3], a), x([4, 2], b))
pinverse(x([4, 3], a))
poisson_nll_loss(x([3, 4], a), x([3, 4], b), True, False, 1e-08, 1)
polar(x([3, 4], a), x([3, 4], b))
prod(x([3, 4], a))
prod(x([3, 4], a), 1)
quantile(x([3, 4], a), x([2], b) / 2)
quantile(x([3, 4], a), 0.5)
reflection_pad1d(x([1, 2, 8], a), [1, 1])
reflection_pad2d(x([1, 2, 8, 8], a), [1, 1, 1, 1])
replication_pad1d(x([1, 2, 8], a), [1, 1])
replication_pad2d(x([1, 2, 8, 8], a), [1, 1, 1, 1])
replication_pad3d(x([1, 2, 4, 4, 4], a), [1, 1, 1, 1, 1, 1])
smooth_l1_loss(x([3, 4], a), x([3, 4], b))
soft_margin_loss(x([3, 4], a), x([3, 4], b).sign())
stft(x([2, 32], a), 8, 4, 8, x([8], b), False, True, True)
stft(x([2, 32], a), 8, 4, 8, x([8], b), True, "reflect", False, True, True)
svd(x([4, 3], a))
trace(x([4, 4], a))
triangular_solve(x([4, 2], a), spd(b))
triplet_margin_loss(x([3, 4], a), x([3, 4], b), x([3, 4], b) / 2)
view_as_complex(x([3, 2], a))
cat([x([3, 4], a), x([3, 4], b)])
index_copy(x([3, 4], a), 0, row(2), x([2, 4], b))
stack([x([3, 4], a), x([3, 4], b)])
add(x([3, 4], a), x([3, 4], b))
addcmul(x([3, 4], a), x([3, 4], b), x([3, 4], b))
addmv(x([3], a), x([3, 4], b), x([4], b))
addr(x([3, 4], a), x([3], b), x([4], b))
atan2(x([3, 4], a), x([3, 4], b))
batch_norm(x([3, 4], a), x([4], b), x([4], b), x([4], b), x([4], b), False, 0.1, 1e-05, False)
bilinear(x([3, 4], a), x([3, 2], a), x([5, 4, 2], b))
chain_matmul([x([3, 4], a), x([4, 2], b), x([2, 3], b)])
convolution(x([2, 3, 8], a), x([4, 3, 3], b), None, [1], [0], [1], False, [0], 1)
corrcoef(x([3, 4], a))
cosine_similarity(x([3, 4], a), x([3, 4], b))
cov(x([3, 4], a))
cumsum(x([3, 4], a), 0)
dist(x([3, 4], a), x([3, 4], b))
dot(x([4], a), x([4], b))
einsum("ij,jk->ik", [x([3, 4], a), x([4, 2], b)])
embedding(x([3, 4], a), row(2))
exp(x([3, 4], a))
gelu(x([3, 4], a))
group_norm(x([2, 4, 3], a), 2, x([4], b), x([4], b))
gru_cell(x([2, 3], a), x([2, 4], a), x([12, 3], b), x([12, 4], b), x([12], b), x([12], b))
inner(x([3, 4], a), x([2, 4], b))
instance_norm(x([2, 4, 3], a), x([4], b), x([4], b), None, None, True, 0.1, 1e-05, False)
kron(x([2, 2], a), x([2, 2], b))
layer_norm(x([3, 4], a), [4], x([4], b), x([4], b))
lerp(x([3, 4], a), x([3, 4], b), 0.5)
linalg_det(spd(a))
linalg_matrix_norm(x([3, 4], a))
linalg_matrix_power(spd(a), 3)
linalg_multi_dot([x([3, 4], a), x([4, 2], b), x([2, 3], b)])
linalg_norm(x([3, 4], a))
linalg_vector_norm(x([3, 4], a))
log_softmax(x([3, 4], a), 1)
logsumexp(x([3, 4], a), [1])
lstm(x([2, 3, 4], a), [x([1, 3, 5], a), x([1, 3, 5], a)], [x([20, 4], b), x([20, 5], b), x([20], b), x([20], b)], True, 1, 0.0, False, False, False)
lstm_cell(x([2, 3], a), [x([2, 4], a), x([2, 4], a)], x([16, 3], b), x([16, 4], b), x([16], b), x([16], b))
masked_fill(x([3, 4], a), x([3, 4], b) > 0.5, 1.5)
matrix_exp(spd(a))
mean(x([3, 4], a))
multiply(x([3, 4], a), x([3, 4], b))
mv(x([3, 4], a), x([4], b))
native_layer_norm(x([3, 4], a), [4], x([4], b), x([4], b), 1e-05)
norm(x([3, 4], a))
outer(x([3], a), x([4], b))
pairwise_distance(x([3, 4], a), x([3, 4], b))
pow(x([3, 4], a), x([3, 4], b))
pow(x([3, 4], a), 2)
relu(x([3, 4], a))
renorm(x([3, 4], a), 2, 0, 1)
rms_norm(x([3, 4], a), [4], x([4], b))
rnn_tanh_cell(x([2, 3], a), x([2, 4], a), x([4, 3], b), x([4, 4], b), x([4], b), x([4], b))
scatter_add(x([3, 4], a), 0, row(4).reshape(1, 4) % 3, x([1, 4], b))
sigmoid(x([3, 4], a))
softmax(x([3, 4], a), 1)
softplus(x([3, 4], a))
sqrt(x([3, 4], a))
std(x([3, 4], a))
sum(x([3, 4], a))
tensordot(x([3, 4], a), x([4, 2], b), [1], [0])
upsample_bilinear2d(x([1, 2, 4, 4], a), [8, 8], False)
upsample_nearest2d(x([1, 2, 4, 4], a), [8, 8])
vander(x([3], a))
var_mean(x([3, 4], a))
vdot(x([4], a), x([4], b))
affine_grid_generator(x([2, 2, 3], a), [2, 3, 4, 4], False)
linalg_pinv(x([4, 3], a))
linalg_matrix_exp(spd(a))
pad(x([2, 8, 8], a), [1, 1], "reflect")
nuclear_norm(x([4, 3], a))
linalg_norm(x([4, 3], a), "nuc")
_euclidean_dist(x([3, 4], a), x([5, 4], a))
gru(x([2, 3, 4], a), x([1, 3, 5], a), [x([15, 4], b), x([15, 5], b), x([15], b), x([15], b)], True, 1, 0.0, False, False, False)
rnn_tanh(x([2, 3, 4], a), x([1, 3, 5], a), [x([5, 4], b), x([5, 5], b), x([5], b), x([5], b)], True, 1, 0.0, False, False, False)
hstack([x([3, 4], a), x([3, 4], b)])
block_diag([x([3, 4], a), x([3, 4], b)])
cartesian_prod([x([3], a), x([4], b)])
gradient(x([3, 4], a))
linalg_slogdet(spd(a))
linalg_lu(spd(a))
linalg_lu_factor(spd(a))
linalg_solve_triangular(spd(a), x([4, 2], a), upper=True)
linalg_cross(x([4, 3], a), x([4, 3], b))
embedding_bag(x([3, 4], a), row(2), row(1))
max_pool2d(x([1, 2, 4, 4], a), [2, 2])
adaptive_avg_pool2d(x([1, 2, 4, 4], a), [2, 2])
index_add(x([3, 4], a), 0, row(2), x([2, 4], b))
index_put(x([3, 4], a), [row(2)], x([2, 4], b))
ger(x([3], a), x([4], b))
sub(x([3, 4], a), x([4], b), alpha=2)
clamp(x([3, 4], a), 0.2, 0.5)
var(x([3, 4], a))
cumprod(x([3, 4], a), 0)
median(x([3, 4], a))
sort(x([3, 4], a))
where(x([3, 4], a) > 0.5, x([3, 4], a), x([3, 4], b))
"""

# What a and b are; "l" is the region's dtype.
PAIRS = ["ff", "ll", "lf", "fl", "dd"]
LETTERS = {
    torch.float32: "f", torch.float64: "d", torch.complex64: "c", torch.complex128: "z", torch.int32: "i",
    torch.int64: "n", torch.bool: "t", torch.bfloat16: "b", torch.float16: "h",
}

HEAD = """\
# Dtypes of results under autocast, as PyTorch {version} has them. Made by tests/backends/transforms/autocast_dtypes.py.
# A line is for one call: `lf:b` says that arguments of the region's dtype and of float32 give bfloat16.

fn x(int[] sizes, ScalarType dtype) -> Tensor {{
    numbers = ((arange(prod(sizes)) * 7919) % 17).to(float32) / 17.0 + 0.1
    return numbers.reshape(sizes).to(dtype)
}}
fn prod(int[] sizes) -> int {{
    result = 1
    for size in sizes {{ result *= size }}
    return result
}}
fn spd(ScalarType dtype) -> Tensor {{ return (eye(4) * 4 + 0.5).to(dtype) }}
fn row(int count) -> Tensor {{ return arange(count) }}

fn letter(Tensor x) -> str {{
    letters = {{
        float32: "f", float64: "d", complex64: "c", complex128: "z", int32: "i", int64: "n", bool: "t",
        bfloat16: "b", float16: "h"
    }}
    return letters[x.dtype]
}}
fn letters_of(Any result) -> str {{
    if type(result) == "Tensor" {{
        tensor: Tensor = result
        return letter(tensor)
    }}
    return "".join([letters_of(each) for each in result])
}}
fn show(Function sample, str[] pairs) -> () {{
    lines: str[] = []
    for region in [bfloat16, float16] {{
        dtypes = {{"f": float32, "d": float64, "l": region}}
        for pair in pairs {{
            with autocast("cpu", region) {{
                lines.append(pair + ":" + letters_of(sample(dtypes[pair[0]], dtypes[pair[1]])))
            }}
        }}
    }}
    print(" ".join(lines))
}}
"""


def x(sizes, dtype):
    return (((torch.arange(math.prod(sizes)) * 7919) % 17).to(torch.float32) / 17.0 + 0.1).reshape(sizes).to(dtype)


def spd(dtype):
    return (torch.eye(4) * 4 + 0.5).to(dtype)


class Aten(dict):
    def __missing__(self, name):
        return getattr(torch.ops.aten, name)


def letters_of(result):
    if isinstance(result, torch.Tensor):
        return LETTERS[result.dtype]
    return "".join(letters_of(each) for each in result)


def run(call, pair, region):
    dtypes = {"f": torch.float32, "d": torch.float64, "l": region}
    names = Aten(x=x, spd=spd, row=torch.arange, int32=torch.int32, a=dtypes[pair[0]], b=dtypes[pair[1]])
    try:
        with torch.autocast("cpu", region):
            return letters_of(eval(call, {}, names))
    except (RuntimeError, NotImplementedError, ValueError) as error:
        return None if not isinstance(error, NameError) else 1 / 0


def main():
    print(HEAD.format(version=torch.__version__.split("+")[0]))
    for number, call in enumerate(SAMPLES.strip().split("\n")):
        pairs = PAIRS if "b)" in call else ["ff", "ll", "dd"]
        found = {region: {pair: run(call, pair, region) for pair in pairs} for region in (torch.bfloat16, torch.float16)}
        pairs = [pair for pair in pairs if all(each[pair] is not None for each in found.values())]
        assert pairs, f"PyTorch runs no sample of {call}"
        expected = " ".join(f"{pair}:{each[pair]}" for each in found.values() for pair in pairs)
        listed = ", ".join(f'"{pair}"' for pair in pairs)
        print(f"fn sample_{number}(ScalarType a, ScalarType b) -> Any {{ return aten::{call} }}")
        print(f"show(sample_{number}, [{listed}])\n# expect: {expected}")


if __name__ == "__main__":
    main()
