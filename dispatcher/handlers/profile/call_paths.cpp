#include <boxcar/dispatcher/handlers/profile/call_paths.h>

#include <exception>

namespace boxcar::detail {

uint32_t CallPaths::nodeOf(uint32_t parent, CallFrame frame) {
  // Reserve first: if memory ran out after the name was added, the name would refer to no node.
  if (nodes_.size() == nodes_.capacity()) nodes_.reserve(2 * nodes_.size());
  const auto [place, is_new] = by_name_.try_emplace({parent, frame.function, frame.site.file, frame.site.line},
                                                    static_cast<uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({parent, std::move(frame)});
  return place->second;
}

uint32_t CallPaths::find(const Places& places, size_t count) noexcept {
  uint32_t node = kNone;
  try {
    const uint64_t generation = script_code_generation.load(std::memory_order_relaxed);
    if (generation != generation_) by_place_.clear();
    generation_ = generation;
    std::vector<CallFrame> frames;
    for (size_t i = count; i-- > 0;) {
      const auto found = by_place_.find({node, places[i]});
      if (found != by_place_.end()) {
        node = found->second;
        continue;
      }
      if (nodes_.size() >= kMostNodes) break;
      if (frames.empty()) frames = currentCallPath();
      if (frames.size() <= i) break;
      const uint32_t next = nodeOf(node, std::move(frames[frames.size() - 1 - i]));
      by_place_.emplace(std::pair(node, places[i]), next);
      node = next;
    }
  } catch (const std::exception&) {
    // Without memory for a path, the call counts for the caller.
  }
  std::copy_n(places.begin(), count, last_places_.begin());
  last_count_ = count;
  return last_ = node;
}

}  // namespace boxcar::detail
