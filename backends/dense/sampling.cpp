#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/random.h>
#include <boxcar/backends/dense/registration.h>
#include <boxcar/backends/dense/write_out.h>
#include <boxcar/backends/shape/dims.h>
#include <boxcar/backends/shape/output.h>

#include <span>

// Random permutations, and samples of categories.

namespace boxcar::dense {
namespace {

Tensor& permutationGeneratorOut(int64_t n, OptionalGenerator generator, Tensor& out) {
  checkDense(out);
  shape::checkPermutation(n, out.scalar_type());
  const shape::Output output{out, std::span(&n, 1), {1}, out.scalar_type(), out.device()};
  shape::checkOutput(output);
  if (out.is_meta()) {
    resizeOutput(output);
    return out;
  }
  const Tensor numbers = Tensor::allocate(std::span(&n, 1), out.scalar_type(), out.device());
  shuffle(out.device(), numbers, generator);
  return writeResult(out, numbers);
}
Tensor& permutationOut(int64_t n, Tensor& out) { return permutationGeneratorOut(n, std::nullopt, out); }

Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement, OptionalGenerator generator) {
  checkDense(self);
  shape::checkMultinomial(self, num_samples, replacement);
  DimVector sizes = toDimVector(self.sizes());
  sizes.back() = num_samples;
  const Tensor result = Tensor::allocate(sizes, ScalarType::Long, self.device());
  if (!result.is_meta()) drawCategories(self.device(), result, self, replacement, generator);
  return result;
}

Tensor& multinomialOut(const Tensor& self, int64_t num_samples, bool replacement, OptionalGenerator generator,
                       Tensor& out) {
  // Check before drawing numbers.
  shape::checkOutput({out, out.sizes(), {}, ScalarType::Long, self.device()});
  return writeSameType(out, multinomial(self, num_samples, replacement, generator), {}, Overlap::kAllowed);
}

}  // namespace

BOXCAR_DENSE_KERNELS(aten, m, shuffle) {
  m.impl("randperm.out", BOXCAR_FN(permutationOut));
  m.impl("randperm.generator_out", BOXCAR_FN(permutationGeneratorOut));
}

BOXCAR_DENSE_KERNELS(aten, m, drawCategories) {
  m.impl("multinomial", BOXCAR_FN(multinomial));
  m.impl("multinomial.out", BOXCAR_FN(multinomialOut));
}

}  // namespace boxcar::dense
