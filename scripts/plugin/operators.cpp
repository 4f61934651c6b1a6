// Two operators of a namespace of their own.

#include <boxcar/boxcar.h>
#include <boxcar/ops.h>

#include <cstdint>
#include <span>

BOXCAR_PLUGIN("sample", "1.0");

namespace sample {
namespace {

using namespace boxcar;

// A kernel that computes by itself, on the CPU and in float32.
Tensor polynomial(const Tensor& x, std::span<const double> coefficients) {
  BOXCAR_CHECK(x.scalar_type() == ScalarType::Float, "sample::polynomial: x must be float32, but it is {}; convert it",
               x.scalar_type());
  const Tensor values = contiguous(x);
  Tensor result = Tensor::allocate(values.sizes(), ScalarType::Float);
  const float* in = values.const_data_ptr<float>();
  float* out = result.mutable_data_ptr<float>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    double sum = 0;
    for (size_t k = coefficients.size(); k-- > 0;) sum = sum * in[i] + coefficients[k];
    out[i] = static_cast<float>(sum);
  }
  return result;
}

// A kernel that is made of other operators, each of which is dispatched in its turn.
Tensor standardize(const Tensor& x, double eps) {
  const Tensor centred = sub(x, mean(x));
  return div(centred, add(sqrt(mean(mul(centred, centred))), eps));
}

}  // namespace

BOXCAR_LIBRARY(sample, m) {
  m.def("polynomial(Tensor x, float[] coefficients) -> Tensor");
  m.def("standardize(Tensor x, float eps=1e-5) -> Tensor");
}

BOXCAR_LIBRARY_IMPL(sample, CPU, m) {
  m.impl("polynomial", BOXCAR_FN(polynomial));
  m.impl("standardize", BOXCAR_FN(standardize));
}

}  // namespace sample
