#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/dispatcher/values/tensor_range.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <span>

namespace boxcar {
namespace {

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

// The exponent bits of the floating-point types: only Inf and NaN have all of them set.
template <class T>
struct Exponent;
template <>
struct Exponent<Half> {
  using Bits = uint16_t;
  static constexpr Bits kMask = 0x7c00;
};
template <>
struct Exponent<BFloat16> {
  using Bits = uint16_t;
  static constexpr Bits kMask = 0x7f80;
};
template <>
struct Exponent<float> {
  using Bits = uint32_t;
  static constexpr Bits kMask = 0x7f800000;
};
template <>
struct Exponent<double> {
  using Bits = uint64_t;
  static constexpr Bits kMask = 0x7ff0000000000000;
};

template <class T>
bool allFiniteIn(std::span<const std::byte> bytes) {
  using Bits = typename Exponent<T>::Bits;
  constexpr size_t kBlock = 16;
  const size_t count = bytes.size() / sizeof(Bits);
  const std::byte* data = bytes.data();
  Bits worst = 0;
  size_t i = 0;
  // Fixed-length blocks, so that the compiler vectorises the loop.
  for (; i + kBlock <= count; i += kBlock) {
    Bits block[kBlock];
    std::memcpy(block, data + i * sizeof(Bits), sizeof(block));
    for (const Bits bits : block) worst = std::max<Bits>(worst, bits & Exponent<T>::kMask);
  }
  for (; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, data + i * sizeof(Bits), sizeof(bits));
    worst = std::max<Bits>(worst, bits & Exponent<T>::kMask);
  }
  return worst != Exponent<T>::kMask;
}

// Widens the range by one number; returns false if it is not finite.
bool addNumber(TensorRange& range, bool& is_first, double value) {
  if (!std::isfinite(value)) return false;
  if (is_first) {
    range.least = range.greatest = value;
    is_first = false;
  } else {
    range.least = std::min(range.least, value);
    range.greatest = std::max(range.greatest, value);
  }
  return true;
}

template <class T>
TensorRange rangeIn(std::span<const std::byte> bytes) {
  TensorRange range;
  bool is_first = true;
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    if constexpr (kIsComplex<T>) {
      const auto real = static_cast<double>(value.real());
      const auto imaginary = static_cast<double>(value.imag());
      const bool real_is_finite = addNumber(range, is_first, real);
      const bool imaginary_is_finite = addNumber(range, is_first, imaginary);
      if (real_is_finite && imaginary_is_finite) continue;
      ++(std::isnan(real) || std::isnan(imaginary) ? range.nans : range.infinities);
    } else {
      const auto number = static_cast<double>(value);
      if (!addNumber(range, is_first, number)) ++(std::isnan(number) ? range.nans : range.infinities);
    }
  }
  return range;
}

}  // namespace

TensorRange rangeOf(const Tensor& tensor) {
  // Uninitialised memory may hold bytes that are not valid bools.
  if (!hasBytes(tensor) || tensor.scalar_type() == ScalarType::Bool) return {};
  const ElementBytes elements(tensor);
  return visitScalarType(kRealTypes + kComplexTypes, tensor.scalar_type(), "the range of a tensor",
                         [&](auto tag) { return rangeIn<typename decltype(tag)::type>(elements.bytes()); });
}

bool allFinite(const Tensor& tensor) {
  if (!hasBytes(tensor)) return true;
  const ScalarType type = toRealValueType(tensor.scalar_type());
  if (!isFloatingType(type)) return true;
  const ElementBytes elements(tensor);
  return visitScalarType(kFloatingTypes, type, "the range of a tensor",
                         [&](auto tag) { return allFiniteIn<typename decltype(tag)::type>(elements.bytes()); });
}

std::string countsText(int64_t nans, int64_t infinities) {
  if (infinities == 0) return fmt::format("{} NaN", nans);
  if (nans == 0) return fmt::format("{} Inf", infinities);
  return fmt::format("{} NaN and {} Inf", nans, infinities);
}

std::string typeAndSizes(const Tensor& tensor) {
  if (!tensor.defined()) return "an undefined tensor";
  return fmt::format("{}[{}]", dtypeName(tensor.scalar_type()), fmt::join(tensor.sizes(), ", "));
}

std::string describe(const Tensor& tensor, const TensorRange& range) {
  const bool has_range = range.least <= range.greatest;
  const std::string span = has_range ? fmt::format("from {:.6g} to {:.6g}", range.least, range.greatest) : "";
  if (range.isClean()) return fmt::format("{}{}{}, clean", typeAndSizes(tensor), has_range ? ", " : "", span);
  return fmt::format("{}, {}{}{}", typeAndSizes(tensor), countsText(range.nans, range.infinities),
                     has_range ? ", the finite " : "", span);
}

}  // namespace boxcar
