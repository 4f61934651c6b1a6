#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace boxcar::cuda {

// Prepared plans, by the numbers that identify them. Holds at most [most]; the caller makes room.
template <class Plan>
class PlanCache final {
 public:
  using Key = std::vector<int64_t>;

  explicit PlanCache(size_t most) : most_(most) {}

  size_t size() const { return entries_.size(); }
  bool isFull() const { return entries_.size() >= most_; }

  // Returns null if there is none.
  Plan* find(const Key& key) {
    const auto at = places_.find(key);
    if (at == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, at->second);
    return at->second->second.get();
  }

  Plan& add(const Key& key, std::unique_ptr<Plan> plan) {
    entries_.emplace_front(key, std::move(plan));
    places_[key] = entries_.begin();
    return *entries_.front().second;
  }

  // Removes and returns the least recently used plan for which [may_go] is true; null if there is none.
  template <class MayGo>
  std::unique_ptr<Plan> takeOldest(const MayGo& may_go) {
    for (auto at = entries_.end(); at != entries_.begin();) {
      --at;
      if (!may_go(*at->second)) continue;
      std::unique_ptr<Plan> plan = std::move(at->second);
      places_.erase(at->first);
      entries_.erase(at);
      return plan;
    }
    return nullptr;
  }

 private:
  using Entries = std::list<std::pair<Key, std::unique_ptr<Plan>>>;

  const size_t most_;
  Entries entries_;  // most recently used first
  std::map<Key, typename Entries::iterator> places_;
};

}  // namespace boxcar::cuda
