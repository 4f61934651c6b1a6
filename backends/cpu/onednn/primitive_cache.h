#pragma once

#include <boost/container/small_vector.hpp>
#include <boost/container_hash/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <unordered_map>
#include <utility>

namespace boxcar::cpu::onednn {

// Everything that a primitive depends on, as numbers: sizes, strides, types, threads.
using PrimitiveKey = boost::container::small_vector<int64_t, 32>;

// An LRU cache of primitives by key. A primitive and its scratchpad belong to the thread that created it, so a cache
// does too:
//
//   thread_local PrimitiveCache<Convolution> cache(64);
//   Convolution& convolution = cache.get(key, [&] { return makeConvolution(…); });
template <class Value>
class PrimitiveCache final {
 public:
  explicit PrimitiveCache(size_t capacity) : capacity_(capacity) {}

  // Returns the cached value for [key], else the result of [make]. The reference is valid until the next call.
  template <class Make>
  Value& get(const PrimitiveKey& key, Make&& make) {
    if (const auto found = places_.find(key); found != places_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->second;
    }
    Value value = std::forward<Make>(make)();
    while (entries_.size() >= capacity_) {
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(key, std::move(value));
    places_.emplace(key, entries_.begin());
    return entries_.front().second;
  }

  size_t size() const { return entries_.size(); }

 private:
  struct Hash {
    size_t operator()(const PrimitiveKey& key) const { return boost::hash_range(key.begin(), key.end()); }
  };
  // The most recently used entry comes first.
  using Entries = std::list<std::pair<PrimitiveKey, Value>>;

  size_t capacity_;
  Entries entries_;
  std::unordered_map<PrimitiveKey, typename Entries::iterator, Hash> places_;
};

}  // namespace boxcar::cpu::onednn
