// A kernel for the operator that bend.ops defines: one pass over the elements in the place of five operators.

#include <boxcar/boxcar.h>

BOXCAR_PLUGIN("bend", "1.0");

namespace {

using namespace boxcar;

Tensor bend(const Tensor& x, double slope) {
  BOXCAR_CHECK(x.scalar_type() == ScalarType::Float, "tutorial::bend: x must be float32, but it is {}; convert it",
               x.scalar_type());
  BOXCAR_CHECK(x.is_contiguous(), "tutorial::bend: x must be contiguous; call contiguous() on it");
  Tensor result = Tensor::allocate(x.sizes(), ScalarType::Float);
  const float* in = x.const_data_ptr<float>();
  float* out = result.mutable_data_ptr<float>();
  const auto factor = static_cast<float>(slope);
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = in[i] > 0 ? in[i] : factor * in[i];
  return result;
}

}  // namespace

BOXCAR_LIBRARY_IMPL(tutorial, CPU, m) { m.impl("bend", BOXCAR_FN(bend)); }
