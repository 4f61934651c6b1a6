#include <boxcar/backends/cuda/generator.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/random.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

namespace boxcar::cuda {
namespace {

using native::OptionalGenerator;

// Fills [self], through a contiguous tensor if it is not contiguous.
void fill(const Tensor& self, RandomLaunch launch, const OptionalGenerator& generator) {
  launch.type = self.scalar_type();
  launch.n = self.numel();
  const Draws draws = drawNumbers(generator, static_cast<uint64_t>(launch.n) * launch.words());
  if (launch.n == 0) return;
  launch.seed = draws.seed;
  launch.block = draws.block;
  const Tensor target = self.is_contiguous() ? self : Tensor::allocate(self.sizes(), self.scalar_type(), self.device());
  launch.out = target.data_ptr();
  module().random(launch);
  if (!target.is_same(self)) native::copyElements(self, target);
}

RandomLaunch launchOf(Distribution distribution, double first = 0, double second = 0) {
  RandomLaunch launch{};
  launch.distribution = distribution;
  launch.first = first;
  launch.second = second;
  return launch;
}

RandomLaunch integersOf(int64_t base, uint64_t count) {
  RandomLaunch launch = launchOf(Distribution::kIntegers);
  launch.base = base;
  launch.count = count;
  return launch;
}

void fillUniform(const Tensor& self, double from, double to, const OptionalGenerator& generator) {
  fill(self, launchOf(Distribution::kUniform, from, to), generator);
}
void fillNormal(const Tensor& self, double mean, double std, const OptionalGenerator& generator) {
  fill(self, launchOf(Distribution::kNormal, mean, std), generator);
}
void fillExponential(const Tensor& self, double rate, const OptionalGenerator& generator) {
  fill(self, launchOf(Distribution::kExp, rate), generator);
}

// Returns how many consecutive integers from 0 elements of [type] can hold; beyond that, floats skip some.
uint64_t countFromZero(ScalarType type) {
  return visitScalarType(kRealAndBoolTypes, type, "random_", []<class T>(std::type_identity<T>) -> uint64_t {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_integral_v<T>) {
      return static_cast<uint64_t>(Limits::max()) + 1;
    } else {
      return (uint64_t{1} << Limits::digits) + 1;
    }
  });
}

void fillIntegers(const Tensor& self, const std::optional<meta::IntegerRange>& range,
                  const OptionalGenerator& generator) {
  fill(self, range ? integersOf(range->base, range->count) : integersOf(0, countFromZero(self.scalar_type())),
       generator);
}

void fillOnes(const Tensor& self, double p, const OptionalGenerator& generator) {
  RandomLaunch launch = launchOf(Distribution::kOnes);
  launch.count = static_cast<uint64_t>(std::ceil(p * 0x1p32));
  fill(self, launch, generator);
}

// Returns the tensor contiguous, with float16 and bfloat16 converted to float32.
Tensor widened(const Tensor& tensor) {
  return native::toContiguous(native::isSmallFloat(tensor) ? native::convertTo(tensor, ScalarType::Float) : tensor);
}

void fillOnesOfEach(const Tensor& self, const Tensor&, const Tensor& expanded, const OptionalGenerator& generator) {
  const auto n = self.numel();
  const Draws draws = drawNumbers(generator, static_cast<uint64_t>(n));
  if (n == 0) return;
  const Tensor p = widened(expanded);
  const bool writes_directly = self.scalar_type() == ScalarType::Bool && self.is_contiguous();
  const Tensor ones = writes_directly ? self : Tensor::allocate(self.sizes(), ScalarType::Bool, self.device());
  module().ones_of_each({p.data_ptr(), p.scalar_type(), static_cast<bool*>(ones.data_ptr()), n, draws.seed, draws.block,
                         currentFailure()});
  if (!writes_directly) native::copyElements(self, ones);
}

// Sorts by random 63-bit keys, which are almost never equal.
void shuffle(const Tensor& numbers, const OptionalGenerator& generator) {
  const Tensor keys = Tensor::allocate(numbers.sizes(), ScalarType::Long, numbers.device());
  fill(keys, integersOf(0, uint64_t{1} << 63), generator);
  native::copyElements(numbers, boxcar::argsort(keys));
}

void drawCategories(const Tensor& result, const Tensor& self, bool replacement, const OptionalGenerator& generator) {
  const Tensor weights = widened(self);
  CategoryLaunch launch{};
  launch.weights = weights.data_ptr();
  launch.type = weights.scalar_type();
  launch.categories = self.sizes().back();
  launch.rows = self.numel() / launch.categories;
  launch.samples = result.sizes().back();
  launch.out = static_cast<int64_t*>(result.data_ptr());
  launch.failure = currentFailure();
  const bool repeats = replacement && launch.samples > 1;
  const int64_t drawn = launch.rows * (repeats ? launch.samples : launch.categories);
  const Draws draws = drawNumbers(generator, 2 * static_cast<uint64_t>(drawn));
  if (launch.rows == 0) return;
  launch.seed = draws.seed;
  launch.block = draws.block;
  const std::array<int64_t, 2> of_weights{launch.rows, launch.categories};
  const std::array<int64_t, 2> of_parts{launch.rows, CategoryLaunch::kParts + 1};
  const auto allocate = [&](std::span<const int64_t> sizes) {
    return Tensor::allocate(sizes, ScalarType::Double, result.device());
  };
  if (repeats) {
    const Tensor sums = allocate(of_weights);
    const Tensor bases = allocate(of_parts);
    launch.sums = static_cast<double*>(sums.data_ptr());
    launch.bases = static_cast<double*>(bases.data_ptr());
    return module().repeated_categories(launch);
  }
  if (launch.samples == 1) return module().category_keys(launch);
  const Tensor keys = allocate(of_weights);
  launch.keys = static_cast<double*>(keys.data_ptr());
  module().category_keys(launch);
  const Tensor chosen = std::get<1>(boxcar::topk(keys, launch.samples));
  native::copyElements(result, chosen.view(result.sizes(), result.strides(), chosen.storage_offset()));
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::fillUniform, fillUniform)
BOXCAR_REGISTER_STUB(CUDA, native::fillNormal, fillNormal)
BOXCAR_REGISTER_STUB(CUDA, native::fillExponential, fillExponential)
BOXCAR_REGISTER_STUB(CUDA, native::fillIntegers, fillIntegers)
BOXCAR_REGISTER_STUB(CUDA, native::fillOnes, fillOnes)
BOXCAR_REGISTER_STUB(CUDA, native::fillOnesOfEach, fillOnesOfEach)
BOXCAR_REGISTER_STUB(CUDA, native::shuffle, shuffle)
BOXCAR_REGISTER_STUB(CUDA, native::drawCategories, drawCategories)

}  // namespace boxcar::cuda
