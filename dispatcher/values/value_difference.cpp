#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/dispatcher/values/value_difference.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>
#include <vector>

namespace boxcar {
namespace {

template <class T>
inline constexpr bool is_complex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
template <class T>
inline constexpr bool is_inexact =
    is_complex<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16> || std::is_floating_point_v<T>;

// Converts to the type in which elements are compared.
template <class T>
auto widened(T value) {
  if constexpr (is_complex<T>) {
    return std::complex<double>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (is_inexact<T>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return value;
  }
}

bool isNan(double value) { return std::isnan(value); }
bool isNan(std::complex<double> value) { return std::isnan(value.real()) || std::isnan(value.imag()); }

bool haveSameBits(double a, double b) { return a == b && std::signbit(a) == std::signbit(b); }
bool arePartsAlike(double a, double b) { return haveSameBits(a, b) || (std::isnan(a) && std::isnan(b)); }

bool isAlike(double expected, double found, const Tolerance& tolerance) {
  if (arePartsAlike(expected, found)) return true;
  if (tolerance.isExact()) return false;
  return expected == found || std::abs(found - expected) <= tolerance.atol + tolerance.rtol * std::abs(expected);
}
bool isAlike(std::complex<double> expected, std::complex<double> found, const Tolerance& tolerance) {
  if (arePartsAlike(expected.real(), found.real()) && arePartsAlike(expected.imag(), found.imag())) return true;
  if (tolerance.isExact()) return false;
  return expected == found || std::abs(found - expected) <= tolerance.atol + tolerance.rtol * std::abs(expected);
}

// Writes enough digits to distinguish it from other values of its type.
template <class T>
std::string textOf(T value) {
  if constexpr (is_complex<T>) {
    return pythonComplex(std::complex<double>(value));
  } else if constexpr (std::is_same_v<T, double>) {
    return pythonFloat(value);
  } else if constexpr (is_inexact<T>) {
    return fmt::to_string(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return std::string(pythonBool(value));
  } else {
    return fmt::to_string(static_cast<int64_t>(value));
  }
}

// Returns the indices of element [number], in the order of the dimensions: "[1, 2]".
std::string placeOf(size_t number, std::span<const int64_t> sizes) {
  std::vector<int64_t> indices(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    indices[i] = static_cast<int64_t>(number) % sizes[i];
    number /= static_cast<size_t>(sizes[i]);
  }
  return fmt::format("[{}]", fmt::join(indices, ", "));
}

template <class T>
std::optional<std::string> compareElements(std::span<const std::byte> expected, std::span<const std::byte> found,
                                           std::span<const int64_t> sizes, const Tolerance& tolerance,
                                           const SideNames& names) {
  const size_t count = expected.size() / sizeof(T);
  const auto read = [](std::span<const std::byte> bytes, size_t i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    return value;
  };
  size_t differing = 0;
  size_t worst = 0;
  double largest = -1;
  for (size_t i = 0; i < count; ++i) {
    const auto a = widened(read(expected, i));
    const auto b = widened(read(found, i));
    double distance = 0;
    if constexpr (is_inexact<T>) {
      if (isAlike(a, b, tolerance)) continue;
      // If only one is NaN, or both are infinite, the distance counts as the largest.
      distance = std::abs(b - a);
      if (std::isnan(distance) || isNan(a) || isNan(b)) distance = HUGE_VAL;
    } else {
      if (a == b) continue;
      distance = std::abs(static_cast<double>(b) - static_cast<double>(a));
    }
    ++differing;
    if (distance > largest) {
      largest = distance;
      worst = i;
    }
  }
  if (differing == 0) return std::nullopt;
  return fmt::format("{} of {} elements {}, by {}{} at {}: {} {}, {} {}", differing, count,
                     differing == 1 ? "differs" : "differ", differing == 1 ? "" : "up to ",
                     largest == HUGE_VAL ? "more than any number" : pythonFloat(largest), placeOf(worst, sizes),
                     textOf(read(expected, worst)), names.expected, textOf(read(found, worst)), names.found);
}

std::string shapeOf(const Tensor& tensor) {
  return fmt::format("{}[{}]", dtypeName(tensor.scalar_type()), fmt::join(tensor.sizes(), ", "));
}

std::optional<std::string> compareTensors(const Tensor& expected, const Tensor& found, const Tolerance& tolerance,
                                          const SideNames& names) {
  if (!expected.defined() && !found.defined()) return std::nullopt;
  const auto describe = [](const Tensor& tensor) { return tensor.defined() ? shapeOf(tensor) : "undefined"; };
  if (!expected.defined() || !found.defined() || shapeOf(expected) != shapeOf(found))
    return fmt::format("{} {}, {} {}", describe(expected), names.expected, describe(found), names.found);
  if (!tolerance.compares_elements || !hasBytes(expected) || !hasBytes(found)) return std::nullopt;
  if (sameBits(expected, found)) return std::nullopt;
  const ElementBytes a(expected);
  const ElementBytes b(found);
  return visitScalarType(kAllTypes, expected.scalar_type(), "comparison", [&](auto tag) {
    return compareElements<typename decltype(tag)::type>(a.bytes(), b.bytes(), expected.sizes(), tolerance, names);
  });
}

// Prefixes [difference] with [place].
std::optional<std::string> at(const std::string& place, std::optional<std::string> difference) {
  if (difference) *difference = place + ": " + *difference;
  return difference;
}

std::optional<std::string> compareDicts(const GenericDict& expected, const GenericDict& found,
                                        const Tolerance& tolerance, const SideNames& names) {
  for (const auto& [dict, other, name] :
       {std::tuple(&expected, &found, &names.expected), std::tuple(&found, &expected, &names.found)}) {
    for (size_t i = 0; i < dict->size(); ++i) {
      const IValue& key = dict->object()->keyAt(i);
      if (other->object()->find(key) == nullptr) return fmt::format("the key {} is there only {}", repr(key), *name);
    }
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const IValue& key = expected.object()->keyAt(i);
    if (auto difference = at(fmt::format("[{}]", repr(key)),
                             differenceOf(expected.object()->valueAt(i), *found.object()->find(key), tolerance, names)))
      return difference;
  }
  return std::nullopt;
}

std::string briefly(const IValue& value) {
  return value.isScalar() || value.isString() || value.isNone() ? repr(value) : value.tagKind();
}

bool isInexact(const IValue& value) { return value.isDouble() || value.isComplexDouble(); }

}  // namespace

std::optional<std::string> differenceOf(const IValue& expected, const IValue& found, const Tolerance& tolerance,
                                        const SideNames& names) {
  if (expected.tag() != found.tag())
    return fmt::format("{} {}, {} {}", briefly(expected), names.expected, briefly(found), names.found);
  if (expected.isTensor()) return compareTensors(expected.toTensor(), found.toTensor(), tolerance, names);
  if (expected.isGenericDict()) return compareDicts(expected.toGenericDict(), found.toGenericDict(), tolerance, names);
  if (expected.isList() || expected.isTuple()) {
    if (expected.length() != found.length())
      return fmt::format("{} values {}, {} {}", expected.length(), names.expected, found.length(), names.found);
    for (size_t i = 0; i < expected.length(); ++i) {
      if (auto difference =
              at(fmt::format("[{}]", i), differenceOf(expected.elementAt(i), found.elementAt(i), tolerance, names)))
        return difference;
    }
    return std::nullopt;
  }
  // The location of a value does not count, nor do objects that are compared by identity.
  if (expected.isDevice() || expected.isStream() || expected.isStorage() || expected.isObject()) return std::nullopt;
  const bool is_alike = expected.isGenerator() ? expected.toGenerator().unsafeGetGeneratorImpl()->state() ==
                                                     found.toGenerator().unsafeGetGeneratorImpl()->state()
                        : expected.isDouble() ? isAlike(expected.toDouble(), found.toDouble(), tolerance)
                        : isInexact(expected) ? isAlike(expected.toComplexDouble(), found.toComplexDouble(), tolerance)
                                              : expected == found;
  if (is_alike) return std::nullopt;
  return fmt::format("{} {}, {} {}", repr(expected), names.expected, repr(found), names.found);
}

}  // namespace boxcar
