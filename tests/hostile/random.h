#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace boxcar::hostile {

// Numbers that a seed tells (splitmix64): a call is made of them alone, so that its seed is all that it takes to make
// it again.
class Random final {
 public:
  explicit Random(uint64_t seed) noexcept : state_(seed) {}

  uint64_t next() noexcept {
    uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  // From 0 to [count] - 1; [count] is 1 at least.
  size_t below(size_t count) noexcept { return static_cast<size_t>(next() % count); }
  bool oneIn(size_t count) noexcept { return below(count) == 0; }
  // One of the elements.
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
