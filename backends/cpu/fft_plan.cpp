#include <boxcar/backends/cpu/fft_plan.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <numbers>
#include <utility>

namespace boxcar::cpu {
namespace {

constexpr double kPi = std::numbers::pi;

// std::complex's own product also handles infinite factors, which takes several times as long.
inline Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Returns about how many nanoseconds the library needs for an element of a line of [length], and the largest prime
// factor. It has code for the factors 2 to 5; any other takes time that is proportional to it.
std::pair<double, size_t> libraryCost(size_t length) {
  double cost = 1;
  size_t largest = 1;
  size_t left = length;
  const auto divide = [&](size_t factor, double price) {
    while (left % factor == 0) {
      left /= factor;
      cost += price;
      largest = std::max(largest, factor);
    }
  };
  divide(4, 2.4);
  divide(2, 1.5);
  divide(3, 3);
  divide(5, 6);
  for (size_t factor = 7; factor <= left / factor; factor += 2) divide(factor, 3.2 * static_cast<double>(factor));
  if (left > 1) divide(left, left == 3 ? 3 : left == 5 ? 6 : 3.2 * static_cast<double>(left));
  return {cost, largest};
}

struct Choice {
  size_t length;
  bool convolves;
};

// Chooses between the library's transform of [length] and a convolution by two longer ones.
Choice chooseInner(size_t length) {
  const auto [direct, largest] = libraryCost(length);
  Choice best{length, false};
  if (largest <= 5) return best;
  double least = direct * static_cast<double>(length);
  for (const size_t odd : {1, 3, 9, 5, 15}) {
    size_t longer = odd;
    while (longer < 2 * length - 1) longer *= 2;
    const double cost = 2 * (libraryCost(longer).first + 3) * static_cast<double>(longer);
    if (cost >= least) continue;
    least = cost;
    best = {longer, true};
  }
  return best;
}

// Plans that were used last. All elements together stay below the limit, and a longer plan is not kept.
constexpr size_t kKeptPlans = 16;
constexpr size_t kKeptElements = size_t{1} << 21;

struct KeptPlans {
  std::mutex mutex;
  std::list<std::shared_ptr<const FftPlan>> plans;  // last used first

  // Returns null if there is none.
  std::shared_ptr<const FftPlan> find(size_t length) {
    const std::lock_guard lock(mutex);
    const auto found = std::ranges::find(plans, length, &FftPlan::length);
    if (found == plans.end()) return nullptr;
    plans.splice(plans.begin(), plans, found);
    return plans.front();
  }

  void keep(const std::shared_ptr<const FftPlan>& plan) {
    const std::lock_guard lock(mutex);
    plans.push_front(plan);
    size_t elements = 0;
    size_t count = 0;
    for (auto it = plans.begin(); it != plans.end();) {
      elements += (*it)->elements();
      const bool fits = elements <= kKeptElements && count++ < kKeptPlans;
      it = fits ? std::next(it) : plans.erase(it);
    }
  }
};

}  // namespace

FftPlan::FftPlan(size_t length)
    : length_(length),
      convolves_(chooseInner(length).convolves),
      inner_length_(chooseInner(length).length),
      library_(inner_length_) {
  if (!convolves_) return;
  chirp_.resize(length);
  std::vector<Complex> filter(inner_length_);
  size_t square = 0;  // k^2 modulo 2 * length
  const double scale = 1 / static_cast<double>(inner_length_);
  for (size_t k = 0; k < length; ++k) {
    chirp_[k] = std::polar(1.0, kPi * static_cast<double>(square) / static_cast<double>(length));
    filter[k] = chirp_[k] * scale;
    if (k > 0) filter[inner_length_ - k] = filter[k];
    square = (square + 2 * k + 1) % (2 * length);
  }
  spectrum_.resize(inner_length_);
  library_.run(filter.data(), spectrum_.data());
}

std::shared_ptr<const FftPlan> FftPlan::find(size_t length) {
  static KeptPlans kept;
  std::shared_ptr<const FftPlan> plan = kept.find(length);
  if (plan == nullptr) {
    plan = std::make_shared<const FftPlan>(length);
    if (plan->elements() <= kKeptElements) kept.keep(plan);
  }
  return plan;
}

LineFft::LineFft(const FftPlan& plan) : plan_(plan) {
  if (plan.convolves_) {
    padded_.resize(plan.inner_length_);
    transformed_.resize(plan.inner_length_);
  } else if (libraryCost(plan.length_).second > 5) {
    own_ = std::make_unique<LibraryFft>(plan.library_);
  }
}

void LineFft::forward(Complex* from, Complex* to) {
  if (plan_.length_ == 1) {
    to[0] = from[0];
    return;
  }
  const LibraryFft& library = own_ != nullptr ? *own_ : plan_.library_;
  if (!plan_.convolves_) return library.run(from, to);
  const std::vector<Complex>& chirp = plan_.chirp_;
  for (size_t i = 0; i < plan_.length_; ++i) padded_[i] = product(from[i], std::conj(chirp[i]));
  std::fill(padded_.begin() + static_cast<std::ptrdiff_t>(plan_.length_), padded_.end(), Complex());
  library.run(padded_.data(), transformed_.data());
  // The inverse transform is the conjugate of the transform of the conjugate.
  for (size_t i = 0; i < plan_.inner_length_; ++i) {
    transformed_[i] = std::conj(product(transformed_[i], plan_.spectrum_[i]));
  }
  library.run(transformed_.data(), padded_.data());
  for (size_t i = 0; i < plan_.length_; ++i) to[i] = std::conj(product(padded_[i], chirp[i]));
}

void LineFft::inverse(Complex* from, Complex* to) {
  for (size_t i = 0; i < plan_.length_; ++i) from[i] = std::conj(from[i]);
  forward(from, to);
  for (size_t i = 0; i < plan_.length_; ++i) to[i] = std::conj(to[i]);
}

RealTurns::RealTurns(size_t length) : half_(length / 2) {
  turns_.reserve(half_ / 2 + 1);
  for (size_t k = 0; k <= half_ / 2; ++k) {
    turns_.push_back(std::polar(1.0, -2 * kPi * static_cast<double>(k) / static_cast<double>(length)));
  }
}

void RealTurns::split(Complex* line) const {
  line[half_] = line[0];
  for (size_t k = 0; k <= half_ / 2; ++k) {
    const Complex a = line[k];
    const Complex b = std::conj(line[half_ - k]);
    const Complex even = 0.5 * (a + b);
    const Complex difference = 0.5 * (a - b);
    const Complex odd = product({difference.imag(), -difference.real()}, turns_[k]);
    line[k] = even + odd;
    line[half_ - k] = std::conj(even - odd);
  }
}

void RealTurns::join(Complex* line) const {
  line[0] = line[0].real();
  line[half_] = line[half_].real();
  for (size_t k = 0; k <= half_ / 2; ++k) {
    const Complex a = line[k];
    const Complex b = std::conj(line[half_ - k]);
    const Complex even = a + b;
    const Complex turned = product(a - b, std::conj(turns_[k]));
    const Complex odd = {-turned.imag(), turned.real()};
    line[k] = even + odd;
    line[half_ - k] = std::conj(even - odd);
  }
}

}  // namespace boxcar::cpu
