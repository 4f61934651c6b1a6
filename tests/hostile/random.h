#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace boxcar::hostile {

// Random numbers from a seed (splitmix64). A call depends on nothing else, so its seed is enough to repeat it.
class Random final {
 public:
  explicit Random(uint64_t seed) noexcept : state_(seed) {}

  uint64_t next() noexcept {
    uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  // Returns a number from 0 to [count] - 1; [count] is at least 1.
  size_t below(size_t count) noexcept { return static_cast<size_t>(next() % count); }
  bool oneIn(size_t count) noexcept { return below(count) == 0; }
  // Returns one of the elements.
  template <class Range>
  decltype(auto) pick(Range&& range) noexcept {
    return std::data(range)[below(std::size(range))];
  }
  template <class T>
  T pick(std::initializer_list<T> values) noexcept {
    return std::data(values)[below(values.size())];
  }

 private:
  uint64_t state_;
};

}  // namespace boxcar::hostile
