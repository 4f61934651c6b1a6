#pragma once

#include <boost/container/small_vector.hpp>
#include <boost/container_hash/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
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
    auto& [entries, places] = *content_;
    if (const auto found = places.find(key); found != places.end()) {
      entries.splice(entries.begin(), entries, found->second);
      return found->second->second;
    }
    Value value = std::forward<Make>(make)();
    while (entries.size() >= capacity_) {
      places.erase(entries.back().first);
      entries.pop_back();
    }
    entries.emplace_front(key, std::move(value));
    places.emplace(key, entries.begin());
    return entries.front().second;
  }

  size_t size() const { return content_->entries.size(); }

 private:
  struct Hash {
    size_t operator()(const PrimitiveKey& key) const { return boost::hash_range(key.begin(), key.end()); }
  };
  struct Content {
    using Entries = std::list<std::pair<PrimitiveKey, Value>>;

    Entries entries;  // the most recently used one comes first
    std::unordered_map<PrimitiveKey, typename Entries::iterator, Hash> places;
  };

  size_t capacity_;
  // Apart, because a thread's static memory is short: size_test.sh says how short.
  std::unique_ptr<Content> content_ = std::make_unique<Content>();
};

}  // namespace boxcar::cpu::onednn
