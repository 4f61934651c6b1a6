#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// The calls of func::vmap() that this thread is in.

namespace boxcar::transforms {

// What random operators do inside func::vmap().
enum class Randomness : uint8_t {
  kError,      // they are an Error
  kSame,       // they draw the same numbers for each slice
  kDifferent,  // they draw other numbers for each
};

// Throws Error if there is none of that name.
Randomness parseRandomness(std::string_view name);

// One call of func::vmap(). Its number is larger than those of the calls around it.
struct VmapLevelInfo {
  uint64_t level;
  int64_t batch;
  Randomness randomness;
  std::string_view transform;  // which calls it, for messages
};

// While it lives, this thread is in one more call. The first one registers the kernels of batched tensors.
class BOXCAR_API VmapLevel final {
 public:
  // [transform] is a literal.
  VmapLevel(int64_t batch, Randomness randomness, std::string_view transform = "func::vmap");
  ~VmapLevel();
  VmapLevel(const VmapLevel&) = delete;
  VmapLevel& operator=(const VmapLevel&) = delete;

  uint64_t level() const noexcept { return level_; }

 private:
  uint64_t level_;
  size_t index_;
};

// The calls of this thread, the outermost first.
BOXCAR_API std::span<const VmapLevelInfo> vmapLevels() noexcept;
// Whether the thread is in one, also where none of them counts.
bool isInsideVmap() noexcept;
// Throws Error if the call is over: a batched tensor was kept beyond it.
const VmapLevelInfo& vmapLevelOf(uint64_t level);

// The number of calls around that one which count. Throws Error if the call is over.
size_t vmapLevelsAround(uint64_t level);

// While it lives, only the outermost [count] calls count.
class OuterVmapLevels final {
 public:
  explicit OuterVmapLevels(size_t count) noexcept;
  ~OuterVmapLevels();
  OuterVmapLevels(const OuterVmapLevels&) = delete;
  OuterVmapLevels& operator=(const OuterVmapLevels&) = delete;

 private:
  size_t before_;
};

// Returns [tensor] with the batches of all [levels], the outermost first, as its first dimensions; where it has no
// batch, its slices share memory.
Tensor toPhysical(const Tensor& tensor, std::span<const VmapLevelInfo> levels);
// Reverses toPhysical().
Tensor fromPhysical(const Tensor& tensor, std::span<const VmapLevelInfo> levels);

// Registers the kernels at FuncTorchBatched and FuncTorchVmapMode, unless that was done.
BOXCAR_API void registerBatchedKernels();
void registerRandomKernels();

}  // namespace boxcar::transforms
