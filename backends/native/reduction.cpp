#include <boxcar/backends/meta/reduction.h>
#include <boxcar/backends/native/reduction.h>

#include <utility>

namespace boxcar::native {

constinit DeviceStub<ReductionFunction> runReduction("this reduction");

ScalarType Reduction::resultType(ScalarType type) const {
  if ((types & maskOf(type)) == 0) [[unlikely]]
    failUnsupportedType(name, type, types);
  return results[static_cast<size_t>(type)];
}

void reduce(const Reduction& op, const Tensor& out, const Tensor* second, const Tensor& self, uint64_t mask,
            double param) {
  if (out.is_meta()) return;
  runReduction(self.device(), op.reducer, out, second, self, mask, param);
}

Tensor reduce(const Reduction& op, const Tensor& self, uint64_t mask, bool keepdim, double param) {
  const ScalarType type = op.resultType(self.scalar_type());
  Tensor out = Tensor::allocate(meta::reducedSizes(self.sizes(), mask, keepdim), type, self.device());
  reduce(op, out, nullptr, self, mask, param);
  return out;
}

std::pair<Tensor, Tensor> reduceToPair(const Reduction& op, const Tensor& self, uint64_t mask, bool keepdim,
                                       double param) {
  const ScalarType type = op.resultType(self.scalar_type());
  const ScalarType second_type = op.second_results[static_cast<size_t>(self.scalar_type())];
  const DimVector sizes = meta::reducedSizes(self.sizes(), mask, keepdim);
  Tensor out = Tensor::allocate(sizes, type, self.device());
  Tensor second = Tensor::allocate(sizes, second_type, self.device());
  reduce(op, out, &second, self, mask, param);
  return {std::move(out), std::move(second)};
}

}  // namespace boxcar::native
