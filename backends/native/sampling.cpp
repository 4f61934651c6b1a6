#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/meta/output.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/random.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>

#include <span>

// Random permutations, and samples of categories.

namespace boxcar::native {
namespace {

Tensor& permutationGeneratorOut(int64_t n, OptionalGenerator generator, Tensor& out) {
  checkDense(out);
  meta::checkPermutation(n, out.scalar_type());
  const meta::Output output{out, std::span(&n, 1), {1}, out.scalar_type(), out.device()};
  meta::checkOutput(output);
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
  meta::checkMultinomial(self, num_samples, replacement);
  DimVector sizes = toDimVector(self.sizes());
  sizes.back() = num_samples;
  const Tensor result = Tensor::allocate(sizes, ScalarType::Long, self.device());
  if (!result.is_meta()) drawCategories(self.device(), result, self, replacement, generator);
  return result;
}

Tensor& multinomialOut(const Tensor& self, int64_t num_samples, bool replacement, OptionalGenerator generator,
                       Tensor& out) {
  // Check before drawing numbers.
  meta::checkOutput({out, out.sizes(), {}, ScalarType::Long, self.device()});
  return writeSameType(out, native::multinomial(self, num_samples, replacement, generator), {}, Overlap::kAllowed);
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, shuffle) {
  m.impl("randperm.out", BOXCAR_FN(permutationOut));
  m.impl("randperm.generator_out", BOXCAR_FN(permutationGeneratorOut));
}

BOXCAR_NATIVE_KERNELS(aten, m, drawCategories) {
  m.impl("multinomial", BOXCAR_FN(multinomial));
  m.impl("multinomial.out", BOXCAR_FN(multinomialOut));
}

}  // namespace boxcar::native
