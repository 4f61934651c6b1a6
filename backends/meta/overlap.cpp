#include <boxcar/backends/meta/overlap.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

namespace boxcar::meta {
namespace {

// The possible distances in bytes between an element of one region and an element of another: an offset plus multiples
// of steps.
class ElementDistances {
 public:
  // Finds the distances from the elements of [one] to those of [other]; neither is empty.
  ElementDistances(const Region& one, const Region& other) {
    addTo(first_, other.offset, other.itemsize);
    addTo(first_, -one.offset, one.itemsize);
    for (size_t i = 0; i < one.sizes.size(); ++i) {
      addSteps(one.strides[i], one.itemsize, one.sizes[i]);
      addTo(first_, -one.strides[i] * one.itemsize, one.sizes[i] - 1);
    }
    for (size_t i = 0; i < other.sizes.size(); ++i) addSteps(other.strides[i], other.itemsize, other.sizes[i]);
    std::sort(steps_.begin(), steps_.begin() + count_, [](const Step& a, const Step& b) { return a.bytes > b.bytes; });
    int64_t reach = 0;
    int64_t divisor = 0;
    for (size_t i = count_; i-- > 0;) {
      steps_[i].divisor = divisor = std::gcd(divisor, steps_[i].bytes);
      steps_[i].reach_behind = reach;
      addTo(reach, steps_[i].bytes, steps_[i].count - 1);
      steps_[i].reach = reach;
    }
  }

  // Whether a distance lies in [low, high]; also true if the search would take too long.
  bool anyWithin(int64_t low, int64_t high) { return is_too_much_ || search(0, low - first_, high - first_); }

 private:
  struct Step {
    int64_t bytes = 0;
    int64_t count = 1;         // number of multiples of [bytes], starting with zero
    int64_t divisor = 0;       // greatest common divisor of this step and all smaller ones
    int64_t reach = 0;         // maximum distance with this step and all smaller ones
    int64_t reach_behind = 0;  // maximum distance with the smaller steps alone
  };

  void addTo(int64_t& sum, int64_t value, int64_t times) {
    int64_t product = 0;
    is_too_much_ |= __builtin_mul_overflow(value, times, &product) || __builtin_add_overflow(sum, product, &sum);
  }

  // Merges equal steps of both regions.
  void addSteps(int64_t stride, int64_t itemsize, int64_t count) {
    if (stride == 0 || count <= 1) return;
    int64_t bytes = 0;
    addTo(bytes, stride, itemsize);
    for (size_t i = 0; i < count_; ++i) {
      if (steps_[i].bytes != bytes) continue;
      addTo(steps_[i].count, count - 1, 1);
      return;
    }
    if (count_ == kMostSteps) {
      is_too_much_ = true;
      return;
    }
    steps_[count_].bytes = bytes;
    steps_[count_++].count = count;
  }

  // Whether a sum of the steps from the i-th on lies in [low, high]; also true if the search would take too long.
  bool search(size_t i, int64_t low, int64_t high) {
    if (low <= 0 && 0 <= high) return true;
    if (i == count_ || high < 0 || low > steps_[i].reach) return false;
    const Step& step = steps_[i];
    if (high / step.divisor * step.divisor < low) return false;
    if (++looked_at_ > kMostLooks) return true;
    const int64_t behind = low - step.reach_behind;
    const int64_t least = behind <= 0 ? 0 : (behind - 1) / step.bytes + 1;
    const int64_t greatest = std::min(step.count - 1, high / step.bytes);
    for (int64_t k = greatest; k >= least; --k) {
      if (search(i + 1, low - k * step.bytes, high - k * step.bytes)) return true;
    }
    return false;
  }

  static constexpr size_t kMostSteps = 16;
  static constexpr int kMostLooks = 4096;
  std::array<Step, kMostSteps> steps_;
  size_t count_ = 0;
  int64_t first_ = 0;
  int looked_at_ = 0;
  bool is_too_much_ = false;
};

bool isEmpty(const Region& region) { return std::ranges::find(region.sizes, 0) != region.sizes.end(); }

}  // namespace

Region regionOf(const Tensor& tensor) {
  return {tensor.storage().get(), tensor.sizes(), tensor.strides(), tensor.storage_offset(),
          static_cast<int64_t>(tensor.itemsize())};
}

Shared sharedMemory(const Region& one, const Region& other) {
  if (one.storage != other.storage || one.storage == nullptr || isEmpty(one) || isEmpty(other)) return Shared::kNothing;
  if (one.offset == other.offset && one.itemsize == other.itemsize && std::ranges::equal(one.sizes, other.sizes) &&
      std::ranges::equal(one.strides, other.strides)) {
    return Shared::kSame;
  }
  return ElementDistances(one, other).anyWithin(1 - other.itemsize, one.itemsize - 1) ? Shared::kSome
                                                                                      : Shared::kNothing;
}

}  // namespace boxcar::meta
