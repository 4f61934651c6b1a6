#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/generator.h>

#include <cstdint>
#include <optional>

namespace boxcar::cuda {

// A CUDA device's generator: Philox4x32-10 with the seed as its key. Its blocks are one sequence of 32-bit numbers, of
// which each call takes the next ones, beginning with a whole block; an element gets those at its place among the
// tensor's elements. So a seed gives the same numbers whatever the tensor's strides and on every GPU, where PyTorch's
// depend on how many multiprocessors it has.
class CudaGeneratorImpl final : public GeneratorImpl {
 public:
  CudaGeneratorImpl(Device device, uint64_t seed);

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override { return seed_; }
  GeneratorState state() const override { return {seed_, drawn_, std::nullopt}; }
  void set_state(const GeneratorState& state) override;

  // Takes the next [count] numbers and gives the block that they begin with. Who calls it holds the mutex.
  uint64_t draw(uint64_t count);

 private:
  uint64_t seed_;
  uint64_t drawn_ = 0;  // numbers of 32 bits, in whole blocks
};

// Where a kernel's numbers begin.
struct Draws {
  uint64_t seed;
  uint64_t block;
};

// Takes [count] numbers of the generator that is [given], or of the current device's default one. An Error when it is
// of another device, or when the kernels go into a graph, which would draw the same numbers again.
Draws drawNumbers(const std::optional<Generator>& given, uint64_t count);

}  // namespace boxcar::cuda
