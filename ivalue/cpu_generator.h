#pragma once

#include <boxcar/ivalue/default_generators.h>  // IWYU pragma: export
#include <boxcar/ivalue/generator.h>

#include <cstdint>
#include <optional>
#include <random>

namespace boxcar {

// The CPU's generator: a Mersenne twister (MT19937, as in PyTorch, so that a seed gives the same numbers).
class BOXCAR_API CpuGeneratorImpl final : public GeneratorImpl {
 public:
  static constexpr uint64_t kDefaultSeed = 67280421310721;

  explicit CpuGeneratorImpl(uint64_t seed = kDefaultSeed);

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override { return seed_; }

  // Setting a state far into the sequence takes milliseconds.
  GeneratorState state() const override { return {seed_, drawn_, next_normal_}; }
  void set_state(const GeneratorState& state) override;

  uint32_t random() {
    ++drawn_;
    return static_cast<uint32_t>(engine_());
  }
  uint64_t random64() {
    const uint64_t high = random();
    return (high << 32) | random();
  }

  // The second of the last pair of normal numbers drawn, if it is still unused.
  std::optional<double>& next_normal() noexcept { return next_normal_; }

 private:
  uint64_t seed_;
  uint64_t drawn_ = 0;
  std::mt19937 engine_;
  std::optional<double> next_normal_;
};

// Returns a new CPU generator.
BOXCAR_API Generator makeCpuGenerator(uint64_t seed = CpuGeneratorImpl::kDefaultSeed);
// Returns the generator that random operators on the CPU draw from when they are given none.
BOXCAR_API const Generator& defaultCpuGenerator();

}  // namespace boxcar
