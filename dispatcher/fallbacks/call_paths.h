#pragma once

#include <boxcar/dispatcher/script_view.h>

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

namespace boxcar::detail {

// The ways through a script's functions by which calls are made, each with a number: a tree of frames. Of one thread.
class CallPaths final {
 public:
  // The path of calls that no script makes.
  static constexpr uint32_t kNone = 0;

  struct Node {
    uint32_t parent = kNone;
    CallFrame frame;
  };

  CallPaths() : nodes_(1) {}

  // The path that this thread's script is on. Looks up no name and allocates nothing where it was there before.
  [[gnu::always_inline]] uint32_t current() noexcept {
    Places places;
    const size_t count = scriptReader().places(places.data(), places.size());
    if (count == last_count_ && std::equal(places.begin(), places.begin() + count, last_places_.begin()) &&
        script_code_generation.load(std::memory_order_relaxed) == generation_) [[likely]]
      return last_;
    return find(places, count);
  }

  // By number; the first one stands for kNone.
  const std::vector<Node>& nodes() const noexcept { return nodes_; }

 private:
  // Of deeper recursions the innermost calls.
  static constexpr size_t kDeepest = 64;
  // What is called by still other ways counts for the caller.
  static constexpr size_t kMostNodes = 1U << 14;
  using Places = std::array<const void*, kDeepest>;

  [[gnu::noinline]] uint32_t find(const Places& places, size_t count) noexcept;
  uint32_t nodeOf(uint32_t parent, CallFrame frame);

  struct PlaceHash {
    size_t operator()(const std::pair<uint32_t, const void*>& key) const noexcept {
      return (reinterpret_cast<uintptr_t>(key.second) ^ uintptr_t{key.first} << 32U) * 0x9E3779B97F4A7C15U;
    }
  };

  std::vector<Node> nodes_;
  std::unordered_map<std::pair<uint32_t, const void*>, uint32_t, PlaceHash> by_place_;
  // The same line of a function that was loaded again is the same node.
  std::map<std::tuple<uint32_t, std::string, std::string, uint32_t>, uint32_t> by_name_;
  uint64_t generation_ = 0;
  // What the last call of find() was given, and gave.
  Places last_places_;
  size_t last_count_ = 0;
  uint32_t last_ = kNone;
};

}  // namespace boxcar::detail
