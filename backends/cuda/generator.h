#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/generator.h>

#include <cstdint>
#include <optional>

namespace boxcar::cuda {

// A CUDA device's generator: Philox4x32-10 with the seed as its key. Its blocks form one sequence of 32-bit numbers.
// Each call takes the next numbers, starting at a whole block, and each element gets the numbers at its position in the
// tensor. So a seed gives the same numbers for any strides and on every GPU, whereas PyTorch's depend on the number of
// multiprocessors.
class CudaGeneratorImpl final : public GeneratorImpl {
 public:
  CudaGeneratorImpl(Device device, uint64_t seed);

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override { return seed_; }
  GeneratorState state() const override { return {seed_, drawn_, std::nullopt}; }
  void set_state(const GeneratorState& state) override;

  // Takes the next [count] numbers and returns the block that they start with. The caller must hold the mutex.
  uint64_t draw(uint64_t count);

 private:
  uint64_t seed_;
  uint64_t drawn_ = 0;  // 32-bit numbers, in whole blocks
};

// Where the numbers of a kernel start.
struct Draws {
  uint64_t seed;
  uint64_t block;
};

// Takes [count] numbers from [given], or from the current device's default generator. Throws Error if the generator
// belongs to another device, or if the kernels are captured into a graph, whose replays would draw the same numbers
// again.
Draws drawNumbers(const std::optional<Generator>& given, uint64_t count);

}  // namespace boxcar::cuda
