#pragma once

#include <boxcar/dispatcher/call/script_view.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar {

class OperatorEntry;

namespace detail {

// The paths through a script's functions by which calls are made, numbered: a tree of frames. For one thread.
class CallPaths final {
 public:
  // The path of calls that are not made by a script.
  static constexpr uint32_t kNone = 0;

  struct Node {
    uint32_t parent = kNone;
    CallFrame frame;
  };

  CallPaths() : nodes_(1) {}

  // Returns the path that this thread's script is on. Looks up no name and allocates nothing if the script was there
  // before.
  [[gnu::always_inline]] uint32_t current() noexcept {
    if (!has_run_script) [[likely]]
      return kNone;
    return currentOfScript();
  }

  // Indexed by path number; the first node stands for kNone.
  const std::vector<Node>& nodes() const noexcept { return nodes_; }

  // The maximum depth; deeper recursions keep the innermost calls.
  static constexpr size_t kDeepest = 64;
  // The maximum number of nodes; calls on further paths count for the caller.
  static constexpr size_t kMostNodes = 1U << 14;

 private:
  using Places = std::array<const void*, kDeepest>;

  [[gnu::noinline]] uint32_t currentOfScript() noexcept {
    Places places;
    const size_t count = scriptReader().places(places.data(), places.size());
    if (count == last_count_ && std::equal(places.begin(), places.begin() + count, last_places_.begin()) &&
        script_code_generation.load(std::memory_order_relaxed) == generation_) [[likely]]
      return last_;
    return find(places, count);
  }

  [[gnu::noinline]] uint32_t find(const Places& places, size_t count) noexcept;
  uint32_t nodeOf(uint32_t parent, CallFrame frame);

  struct PlaceHash {
    size_t operator()(const std::pair<uint32_t, const void*>& key) const noexcept {
      return (reinterpret_cast<uintptr_t>(key.second) ^ uintptr_t{key.first} << 32U) * 0x9E3779B97F4A7C15U;
    }
  };

  std::vector<Node> nodes_;
  std::unordered_map<std::pair<uint32_t, const void*>, uint32_t, PlaceHash> by_place_;
  // The same line of a function that was loaded again gets the same node.
  std::map<std::tuple<uint32_t, std::string, std::string, uint32_t>, uint32_t> by_name_;
  uint64_t generation_ = 0;
  // The arguments and the result of the last find().
  Places last_places_;
  size_t last_count_ = 0;
  uint32_t last_ = kNone;
};

// An operator, and the path by which it is called, in one word: the upper bits of addresses are free.
class OperatorOnPath final {
 public:
  OperatorOnPath() = default;
  OperatorOnPath(const OperatorEntry* entry, uint32_t path) noexcept
      : word_(reinterpret_cast<uintptr_t>(entry) | uintptr_t{path} << kAddressBits) {}

  // Null stands for operators that there was no room to keep apart.
  const OperatorEntry* entry() const noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): half the memory is worth it
    return reinterpret_cast<const OperatorEntry*>(word_ & ((uintptr_t{1} << kAddressBits) - 1));
  }
  uint32_t path() const noexcept { return static_cast<uint32_t>(word_ >> kAddressBits); }
  uintptr_t word() const noexcept { return word_; }
  bool operator==(const OperatorOnPath&) const = default;

 private:
  static constexpr int kAddressBits = 48;
  static_assert(CallPaths::kMostNodes <= size_t{1} << (64 - kAddressBits));

  uintptr_t word_;
};

}  // namespace detail
}  // namespace boxcar
