#include <boxcar/backends/cpu/library_gemm.h>
#include <boxcar/backends/cpu/onednn/engine.h>
#include <boxcar/backends/cpu/onednn/primitive_cache.h>

namespace boxcar::cpu {
namespace {

onednn::PrimitiveKey keyOf(std::initializer_list<const Tensor*> tensors, int threads) {
  onednn::PrimitiveKey key{threads};
  for (const Tensor* tensor : tensors) {
    key.push_back(tensor->dim());
    key.insert(key.end(), tensor->sizes().begin(), tensor->sizes().end());
    key.insert(key.end(), tensor->strides().begin(), tensor->strides().end());
  }
  return key;
}

}  // namespace

bool gemmByOneDnn(int64_t m, int64_t n, int64_t k, float alpha, Matrix<const float> a, Matrix<const float> b,
                  float beta, Matrix<float> c) {
  const onednn::Threads threads(static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k));
  return runLibraryGemm<float>(m, n, k, a, b, c,
                               [&](LibraryMatrix a_as, LibraryMatrix b_as, int64_t rows, int64_t columns, int64_t depth,
                                   const float* a_data, const float* b_data, float* c_data, int64_t ldc) {
                                 dnnl::sgemm(a_as.transposed ? 'T' : 'N', b_as.transposed ? 'T' : 'N', rows, columns,
                                             depth, alpha, a_data, a_as.step, b_data, b_as.step, beta, c_data, ldc);
                               });
}

bool multiplyBFloat16ByOneDnn(const Tensor& out, const Tensor& a, const Tensor& b) {
  if (!onednn::multipliesBFloat16() || out.numel() == 0 || a.numel() == 0) return false;
  const onednn::Threads threads(static_cast<double>(out.numel()) * static_cast<double>(a.sizes().back()));
  thread_local onednn::PrimitiveCache<dnnl::matmul> cache(64);
  try {
    const dnnl::memory::desc source = onednn::descriptionOf(a);
    const dnnl::memory::desc weights = onednn::descriptionOf(b);
    const dnnl::memory::desc target = onednn::descriptionOf(out);
    const dnnl::matmul& product = cache.get(keyOf({&a, &b, &out}, threads.count()), [&] {
      return dnnl::matmul(dnnl::matmul::primitive_desc({source, weights, target}, onednn::engine()));
    });
    product.execute(onednn::stream(), {{DNNL_ARG_SRC, onednn::memoryOf(a, source)},
                                       {DNNL_ARG_WEIGHTS, onednn::memoryOf(b, weights)},
                                       {DNNL_ARG_DST, onednn::memoryOf(out, target)}});
  } catch (const dnnl::error&) {
    return false;  // unsupported strides, such as those of overlapping elements
  }
  return true;
}

}  // namespace boxcar::cpu
