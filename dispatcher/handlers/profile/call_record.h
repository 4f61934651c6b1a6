#pragma once

#include <boxcar/dispatcher/handlers/profile/call_paths.h>
#include <boxcar/dispatcher/registry/operator_entry.h>
#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/ivalue/stack.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace boxcar::detail {

// What a profiler records of one call, in two cache lines: copied as bytes and of fixed size, so recording allocates
// nothing. Tensors and dimensions beyond its room are cut.
struct CallRecord {
  static constexpr size_t kMostTensors = 4;
  static constexpr size_t kMostSizes = 14;
  // In [ranks]: the tensor has more dimensions than were recorded.
  static constexpr uint8_t kCutRank = 0x80;

  OperatorOnPath key;
  // In ticks of TickClock.
  uint64_t start;
  uint64_t duration;
  uint64_t children;
  // The bytes of storages that were allocated during the call, and during the calls below it.
  uint64_t bytes;
  uint64_t child_bytes;
  DispatchKeySet keys;
  uint8_t tensors;
  bool has_more_tensors;
  bool failed;
  bool is_inner;  // made by the kernel of another call, not by the script on its path
  std::array<ScalarType, kMostTensors> dtypes;
  std::array<uint8_t, kMostTensors> ranks;
  uint32_t device_span;  // of the log's device clock; 0 for none
  std::array<uint32_t, kMostSizes> sizes;

  // Records the dtypes and shapes of the tensors among the arguments, on [stack], of a call of [op].
  void noteArguments(const OperatorEntry& op, const Stack& stack) noexcept;

  // Human-readable: "[2, 3]", "[2, …]"; for one tensor, or for all, with "…" if there were more.
  std::string shapeText(size_t tensor) const;
  std::string shapesText() const;
  // "float32, int64".
  std::string dtypesText() const;
  // Returns the key whose kernel computed the call, after modes, tracers and fallthroughs.
  DispatchKey kernelKey() const;

 private:
  // As noteArguments, but also handles lists of tensors and arguments that do not fit.
  [[gnu::noinline]] void noteAllArguments(const OperatorEntry& op, const Stack& stack) noexcept;
  void noteTensor(const Tensor& tensor, uint32_t& sizes_used) noexcept;
};
static_assert(sizeof(CallRecord) == 128 && std::is_trivially_copyable_v<CallRecord>);

[[gnu::always_inline]] inline void CallRecord::noteArguments(const OperatorEntry& op, const Stack& stack) noexcept {
  has_more_tensors = false;
  uint32_t tensors_used = 0;
  uint32_t sizes_used = 0;
  const size_t bytes = stack.holdsBytes(op.argumentBytes()) ? op.argumentBytes() : 0;
  const IValue* const end = stack.end();
  for (const IValue* value = end - bytes / sizeof(IValue); value != end; ++value) {
    if (value->isTensor()) [[likely]] {
      const TensorImpl& impl = *value->unsafeGet<IValue::Tag::Tensor>().unsafeGetTensorImpl();
      const std::span<const int64_t> all = impl.sizes();
      // Each size of a non-empty tensor with fewer than 2^32 elements fits in 32 bits.
      if (tensors_used == kMostTensors || all.size() > kMostSizes - sizes_used || impl.numel() >> 32 != 0) [[unlikely]]
        return noteAllArguments(op, stack);
      for (const int64_t size : all) sizes[sizes_used++] = static_cast<uint32_t>(size);
      dtypes[tensors_used] = impl.scalar_type();
      ranks[tensors_used++] = static_cast<uint8_t>(all.size());
    } else if (value->isTensorList() || value->isGenericList()) [[unlikely]] {
      return noteAllArguments(op, stack);
    }
  }
  tensors = static_cast<uint8_t>(tensors_used);
}

}  // namespace boxcar::detail
