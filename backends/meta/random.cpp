#include <boxcar/backends/meta/random.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace boxcar::meta {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

// The range of T, and the largest integer up to which T holds all integers.
struct Reach {
  double least;
  double most;
  int64_t gapless;
  int digits;
};

template <class T>
constexpr bool kIsFloat = std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

Reach reachOf(ScalarType dtype) {
  return visitScalarType(kRealAndBoolTypes, dtype, "random_", []<class T>(std::type_identity<T>) -> Reach {
    using Limits = std::numeric_limits<T>;
    if constexpr (kIsFloat<T>) {
      return {static_cast<double>(Limits::lowest()), static_cast<double>(Limits::max()), int64_t{1} << Limits::digits,
              Limits::digits};
    } else {
      return {static_cast<double>(Limits::lowest()), static_cast<double>(Limits::max()),
              static_cast<int64_t>(Limits::max()), 64};
    }
  });
}

// Rounds [value] up or down to a float of [digits] binary digits.
int64_t movedInward(int64_t value, int digits, bool upwards) {
  const uint64_t magnitude = value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const int width = std::bit_width(magnitude);
  if (width <= digits) return value;
  const uint64_t below = (uint64_t{1} << (width - digits)) - 1;
  if ((magnitude & below) == 0) return value;
  const bool grows = upwards == (value > 0);
  const uint64_t moved = (magnitude & ~below) + (grows ? below + 1 : 0);
  if (value > 0 && moved > static_cast<uint64_t>(kLargest)) return kLargest;
  return static_cast<int64_t>(value < 0 ? uint64_t{0} - moved : moved);
}

}  // namespace

IntegerRange integerRange(ScalarType dtype, int64_t from, std::optional<int64_t> to) {
  const Reach reach = reachOf(dtype);
  const bool is_float = isFloatingType(dtype);
  if (to.has_value()) {
    BOXCAR_CHECK(from < *to, "random_ expects 'from' to be less than 'to', but got from={} >= to={}", from, *to);
  } else if (from == std::numeric_limits<int64_t>::min()) {
    BOXCAR_CHECK(dtype == ScalarType::Long || (is_float && dtype != ScalarType::Half),
                 "random_ of all 64-bit integers handles only int64, double, float and bfloat16, not {}",
                 dtypeName(dtype));
    return {from, 0};
  }
  int64_t last = to.has_value() ? *to - 1 : reach.gapless;
  if (is_float) {
    from = movedInward(from, reach.digits, /*upwards=*/true);
    if (to.has_value()) {
      last = movedInward(last, reach.digits, /*upwards=*/false);
    }
    BOXCAR_CHECK(from <= last,
                 "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got from={} > {}",
                 from, last);
  }
  const auto check = [&](int64_t bound, std::string_view name) {
    BOXCAR_CHECK(static_cast<double>(bound) >= reach.least && static_cast<double>(bound) <= reach.most,
                 "{} is out of bounds for {}: {}", name, dtypeName(dtype), bound);
  };
  check(from, "from");
  check(last, "to - 1");
  BOXCAR_CHECK(from <= last, "random_ expects 'from' to be at most {}, but got from={}", last, from);
  return {from, static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + 1};
}

void checkPermutation(int64_t n, ScalarType dtype) {
  BOXCAR_CHECK(n >= 0, "n must be non-negative, got {}", n);
  const Reach reach = reachOf(dtype);
  BOXCAR_CHECK(dtype != ScalarType::Bool,
               "randperm does not take dtype bool, which only holds 0 and 1; use an integer dtype");
  BOXCAR_CHECK(n - 1 <= reach.gapless, "n is too large for result tensor type: {} holds no more than 0 to {}, n is {}",
               dtypeName(dtype), reach.gapless, n);
}

void checkFloating(std::string_view name, ScalarType dtype) {
  visitScalarType(kFloatingTypes, dtype, name, [](auto) {});
}

void checkProbability(std::string_view name, double probability) {
  BOXCAR_CHECK(probability >= 0 && probability <= 1, "{} expects p to be in [0, 1], but got p={}", name, probability);
}

void checkMultinomial(const Tensor& self, int64_t samples, bool replacement) {
  BOXCAR_CHECK(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim, but it has {} dimensions",
               self.dim());
  BOXCAR_CHECK(isFloatingType(self.scalar_type()), "multinomial only supports floating-point dtypes for input, got: {}",
               dtypeName(self.scalar_type()));
  BOXCAR_CHECK(samples > 0, "cannot sample n_sample <= 0 samples, but n_sample is {}", samples);
  const int64_t categories = self.size(-1);
  BOXCAR_CHECK(replacement || samples <= categories,
               "cannot sample n_sample > prob_dist.size(-1) samples without replacement: n_sample is {}, "
               "prob_dist.size(-1) {}",
               samples, categories);
  BOXCAR_CHECK(categories > 0, "multinomial(): there are no categories: prob_dist.size(-1) is 0");
  constexpr int64_t kMostCategories = int64_t{1} << 24;
  BOXCAR_CHECK(categories <= kMostCategories, "number of categories cannot exceed 2^24, but it is {}", categories);
}

}  // namespace boxcar::meta
