// The kernels that are compared. kernels.cpp and torch_kernels.cpp include this file after defining `Tensor`, `ops` (a
// namespace of operators), `kPeer`, `useThreads` and `random`, so that both make the same calls.
//
//   KERNEL(name, setup, call)    runs the call on what the setup creates, with one thread
//   SHARED(name, setup, call)    does this with one thread and with two
//
// No #pragma once: two files include it, once each.

namespace {

// A matrix of random numbers between -2 and 2.
Tensor matrix(int64_t rows, int64_t columns) { return random({rows, columns}); }
constexpr int64_t kMillion = 1 << 20;

// The cost of dispatch and allocation.
KERNEL(add_2_elements, const Tensor a = random({2}); const Tensor b = random({2}), ops::add(a, b))
KERNEL(sum_4_elements, const Tensor a = random({4}), ops::sum(a))
KERNEL(mm_8x8, const Tensor a = matrix(8, 8); const Tensor b = matrix(8, 8), ops::mm(a, b))
KERNEL(select_view, const Tensor a = matrix(8, 8), ops::select(a, 0, 3))
KERNEL(transpose_view, const Tensor a = matrix(8, 8), ops::transpose(a, 0, 1))
KERNEL(slice_view, const Tensor a = matrix(8, 8), ops::slice(a, 0, 1, 3))
KERNEL(cat_2x2x3, const Tensor a = matrix(2, 3), ops::cat({a, a}, 0))
KERNEL(linear_2x64_to_600, const Tensor a = matrix(2, 64); const Tensor w = matrix(600, 64);
       const Tensor b = random({600}), ops::linear(a, w, b))

// The cost of arithmetic and memory.
SHARED(add_1M, const Tensor a = random({kMillion}); const Tensor b = random({kMillion}), ops::add(a, b))
SHARED(add_1M_strided, const Tensor a = matrix(1024, 1024);
       const Tensor b = ops::transpose(matrix(1024, 1024), 0, 1), ops::add(a, b))
SHARED(exp_1M, const Tensor a = random({kMillion}), ops::exp(a))
SHARED(tanh_1M, const Tensor a = random({kMillion}), ops::tanh(a))
SHARED(gelu_1M, const Tensor a = random({kMillion}), ops::gelu(a))
SHARED(sum_1M, const Tensor a = random({kMillion}), ops::sum(a))
SHARED(sum_1024x1024_dim_0, const Tensor a = matrix(1024, 1024); const int64_t dim[] = {0}, ops::sum(a, dim))
SHARED(sum_1024x1024_dim_1, const Tensor a = matrix(1024, 1024); const int64_t dim[] = {1}, ops::sum(a, dim))
SHARED(max_1M, const Tensor a = random({kMillion}), ops::max(a))
SHARED(argmax_1M, const Tensor a = random({kMillion}), ops::argmax(a))
SHARED(var_1M, const Tensor a = random({kMillion}), ops::var(a))
SHARED(softmax_128x512, const Tensor a = matrix(128, 512), ops::softmax(a, 1))
SHARED(layer_norm_128x512, const Tensor a = matrix(128, 512); const Tensor w = random({512});
       const Tensor b = random({512}), ops::layer_norm(a, {512}, w, b))
SHARED(batch_norm_8x64x56x56, const Tensor a = random({8, 64, 56, 56}); const Tensor w = random({64});
       const Tensor v = ops::ones({64}), ops::batch_norm(a, w, w, w, v, false, 0.1, 1e-5, false))
SHARED(mm_512, const Tensor a = matrix(512, 512); const Tensor b = matrix(512, 512), ops::mm(a, b))
SHARED(conv_64_to_64_3x3_56x56, const Tensor a = random({1, 64, 56, 56}); const Tensor w = random({64, 64, 3, 3});
       const Tensor b = random({64}), ops::conv2d(a, w, b, {1, 1}, {1, 1}, {1, 1}))
SHARED(sort_1M, const Tensor a = random({kMillion}), ops::sort(a))
SHARED(index_select_rows, const Tensor a = matrix(16384, 64);
       const Tensor i = places(16384), ops::index_select(a, 0, i))
SHARED(tile_512x512_4x4, const Tensor a = matrix(512, 512), ops::tile(a, {4, 4}))
SHARED(tile_2048x1_1x2048, const Tensor a = matrix(2048, 1), ops::tile(a, {1, 2048}))
SHARED(cat_rows_4x512x2048, const Tensor a = matrix(512, 2048), ops::cat({a, a, a, a}, 0))
SHARED(cat_columns_4x2048x512, const Tensor a = matrix(2048, 512), ops::cat({a, a, a, a}, 1))
SHARED(copy_transposed_2048, const Tensor a = matrix(2048, 2048), ops::reshape(ops::transpose(a, 0, 1), {-1}))
SHARED(flip_2048x2048, const Tensor a = matrix(2048, 2048), ops::flip(a, {1}))
SHARED(tril_2048x2048, const Tensor a = matrix(2048, 2048), ops::tril(a, 0))
SHARED(index_select_1M, const Tensor a = random({kMillion});
       const Tensor i = places(kMillion), ops::index_select(a, 0, i))
SHARED(gather_1M, const Tensor a = random({kMillion}); const Tensor i = places(kMillion), ops::gather(a, 0, i))
SHARED(topk_100_of_1M, const Tensor a = random({kMillion}), ops::topk(a, 100))
SHARED(cumsum_1M, const Tensor a = random({kMillion}), ops::cumsum(a, 0))
SHARED(cumsum_1024_rows, const Tensor a = matrix(1024, 1024), ops::cumsum(a, 0))

}  // namespace
