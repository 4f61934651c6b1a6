#include "tests/numerics/case_check.h"

#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "tests/numerics/case_call.h"

namespace boxcar::numerics {
namespace {

using nlohmann::json;

struct Limits {
  double rtol;
  double atol;
};

// The limits of torch.testing.assert_close.
Limits limitsOf(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Half: return {1e-3, 1e-5};
    case ScalarType::BFloat16: return {1.6e-2, 1e-5};
    case ScalarType::Float:
    case ScalarType::ComplexFloat: return {1.3e-6, 1e-5};
    case ScalarType::Double:
    case ScalarType::ComplexDouble: return {1e-7, 1e-7};
    default: return {0, 0};
  }
}

Limits limitsOf(const Case& expected, ScalarType dtype) {
  const auto own = expected.tolerance();
  if (!own.has_value() || (!isFloatingType(dtype) && !isComplexType(dtype))) return limitsOf(dtype);
  return {own->first, own->second};
}

template <class T>
double largestOf(const Tensor& elements) {
  const std::span<const T> all(elements.data_ptr<T>(), static_cast<size_t>(elements.numel()));
  double largest = 0;
  for (const T one : all) largest = std::max(largest, std::abs(static_cast<double>(static_cast<float>(one))));
  return largest;
}

// Convolutions in small floats on a GPU: cuDNN rounds some sums before the bias is added, so that the error is one of
// the sum and not of the result. PyTorch's is the same there.
Limits limitsOfTensor(const Case& expected, const Tensor& elements) {
  Limits limits = limitsOf(expected, elements.dtype());
  if (caseDevice().type() == DeviceType::CPU || expected.op().find("conv") == std::string::npos) return limits;
  if (elements.dtype() == ScalarType::Half) limits.atol = std::max(limits.atol, largestOf<Half>(elements) * 0x1p-11);
  if (elements.dtype() == ScalarType::BFloat16) {
    limits.atol = std::max(limits.atol, largestOf<BFloat16>(elements) * 0x1p-8);
  }
  return limits;
}

bool areClose(double found, double expected, Limits limits) {
  if (std::isnan(expected)) return std::isnan(found);
  if (found == expected) return true;
  return std::isfinite(expected) && std::abs(found - expected) <= limits.atol + limits.rtol * std::abs(expected);
}
bool areClose(std::complex<double> found, std::complex<double> expected, Limits limits) {
  const auto is_finite = [](std::complex<double> z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); };
  // The order of the arithmetic decides which part of a non-finite number is infinite and which is NaN.
  if (!is_finite(expected)) return !is_finite(found);
  return std::abs(found - expected) <= limits.atol + limits.rtol * std::abs(expected);
}

// Returns an element as text, with enough digits to tell values apart.
template <class T>
std::string shown(const T& value) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    return fmt::format("({}, {})", value.real(), value.imag());
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return fmt::format("{}", static_cast<float>(value));
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return fmt::format("{}", static_cast<int64_t>(value));
  } else {
    return fmt::format("{}", value);
  }
}

// Drops the sign of a number, or the angle of a complex one.
template <class T>
T magnitude(const T& value) {
  if constexpr (std::is_same_v<T, bool> || std::is_unsigned_v<T>) {
    return value;
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return static_cast<T>(std::abs(static_cast<float>(value)));
  } else {
    return static_cast<T>(std::abs(value));
  }
}

template <class T>
bool same(const T& found, const T& expected, Limits limits) {
  if constexpr (std::is_integral_v<T>) {
    return found == expected;
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    return areClose(std::complex<double>(found), std::complex<double>(expected), limits);
  } else if constexpr (std::is_same_v<T, double>) {
    return areClose(found, expected, limits);
  } else {
    return areClose(static_cast<double>(static_cast<float>(found)), static_cast<double>(static_cast<float>(expected)),
                    limits);
  }
}

// Returns the index of element [number] in the order of the dimensions, such as "[1, 2]".
std::string position(std::span<const int64_t> sizes, int64_t number) {
  std::vector<int64_t> index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    index[d] = number % sizes[d];
    number /= sizes[d];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

std::optional<std::string> differenceOfElements(const Tensor& given, const Tensor& expected, Limits limits,
                                                bool magnitudes) {
  const Tensor found = resolved(given);
  const std::vector<int64_t> offsets = elementOffsets(found);
  const auto* base = static_cast<const std::byte*>(found.storage()->data());
  return visitScalarType(kAllTypes, expected.dtype(), "a comparison", [&](auto tag) -> std::optional<std::string> {
    using T = typename decltype(tag)::type;
    const T* wanted = expected.data_ptr<T>();
    int64_t count = 0;
    std::string first;
    for (size_t i = 0; i < offsets.size(); ++i) {
      T value;
      std::memcpy(&value, base + offsets[i], sizeof(T));
      if (same(value, wanted[i], limits)) continue;
      if (magnitudes && same(magnitude(value), magnitude(wanted[i]), limits)) continue;
      if (count++ == 0) {
        first = fmt::format("at {} expected {}, got {}", position(expected.sizes(), static_cast<int64_t>(i)),
                            shown(wanted[i]), shown(value));
      }
    }
    if (count == 0) return std::nullopt;
    return fmt::format("{} of {} elements differ; {} (rtol {}, atol {})", count, offsets.size(), first, limits.rtol,
                       limits.atol);
  });
}

std::string sizesText(std::span<const int64_t> sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); }

// Strides have no effect for dimensions of size 1 and tensors without elements.
bool sameStrides(const Tensor& found, std::span<const int64_t> strides) {
  if (found.numel() == 0) return true;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (found.sizes()[d] != 1 && found.strides()[d] != strides[d]) return false;
  }
  return true;
}

std::optional<std::string> differenceOfTensor(const Case& expected, const Tensor& found, const ExpectedTensor& wanted,
                                              const CaseArguments& arguments, bool compares_strides) {
  const Tensor& elements = wanted.elements;
  if (!found.defined()) return "an undefined tensor";
  if (found.dtype() != elements.dtype()) {
    return fmt::format("expected dtype {}, got {}", dtypeName(elements.dtype()), dtypeName(found.dtype()));
  }
  if (!std::ranges::equal(found.sizes(), elements.sizes())) {
    return fmt::format("expected sizes {}, got {}", sizesText(elements.sizes()), sizesText(found.sizes()));
  }
  if (compares_strides && wanted.strides && !sameStrides(found, *wanted.strides)) {
    return fmt::format("expected strides {}, got {} (of sizes {})", sizesText(*wanted.strides),
                       sizesText(found.strides()), sizesText(found.sizes()));
  }
  if (found.numel() > 0) {
    int64_t storage = -1;
    for (size_t i = 0; i < arguments.storages.size(); ++i) {
      if (arguments.storages[i].storage() == found.storage()) storage = static_cast<int64_t>(i);
    }
    // The results of PyTorch's own samples are kept resolved.
    const bool is_lazy = wanted.storage < 0 && hasMathBits(found);
    if (storage != wanted.storage && !is_lazy) {
      return wanted.storage < 0 ? "expected memory of its own, got an argument's"
                                : "expected a view of an argument, got other memory";
    }
  }
  if (!expected.comparesValues()) return std::nullopt;
  return differenceOfElements(found, elements, limitsOfTensor(expected, elements), expected.comparesMagnitudes());
}

// Compares the kind and value of a number.
std::optional<std::string> differenceOfNumber(const Case& expected, const IValue& found, const IValue& wanted) {
  if (found.tag() != wanted.tag()) return fmt::format("expected {}, got {}", describe(wanted), describe(found));
  if (!expected.comparesValues()) return std::nullopt;
  const Limits limits = limitsOf(expected, parseDtype(expected.dtype()).value_or(ScalarType::Double));
  const bool same = wanted.isDouble()          ? areClose(found.toDouble(), wanted.toDouble(), limits)
                    : wanted.isComplexDouble() ? areClose(found.toComplexDouble(), wanted.toComplexDouble(), limits)
                                               : found == wanted;
  if (same) return std::nullopt;
  return fmt::format("expected {}, got {}", describe(wanted), describe(found));
}

std::optional<std::string> differenceOfValue(const Case& expected, const IValue& found, const json& wanted,
                                             TypePtr type, const CaseArguments& arguments, bool compares_strides) {
  if (wanted.is_object() && wanted.contains("x")) {
    if (!found.isTensor()) return fmt::format("expected a tensor, got {}", describe(found));
    return differenceOfTensor(expected, found.toTensor(), expected.expectedTensor(wanted.at("x")), arguments,
                              compares_strides);
  }
  if (type->isOptional() && !wanted.is_null()) type = type->element();
  if (type->isList() && wanted.is_array()) {
    if (!found.isList()) return fmt::format("expected a list, got {}", describe(found));
    if (found.length() != wanted.size()) {
      return fmt::format("expected a list of {}, got one of {}", wanted.size(), found.length());
    }
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (const auto difference = differenceOfValue(expected, found.elementAt(i), wanted[i], type->element(), arguments,
                                                    compares_strides)) {
        return fmt::format("element {}: {}", i, *difference);
      }
    }
    return std::nullopt;
  }
  // An undefined tensor is None in Python.
  if (wanted.is_null() && found.isTensor() && !found.toTensor().defined()) return std::nullopt;
  return differenceOfNumber(expected, found, Case::constant(wanted, type));
}

// Marks the bytes of the storage that belong to elements of [tensor].
void markBytes(const Tensor& tensor, std::vector<bool>& marked) {
  for (const int64_t offset : elementOffsets(tensor)) {
    for (size_t i = 0; i < tensor.itemsize(); ++i) {
      if (static_cast<size_t>(offset) + i < marked.size()) marked[static_cast<size_t>(offset) + i] = true;
    }
  }
}

}  // namespace

std::optional<std::string> differenceOfResults(const Case& expected, const FunctionSchema& schema,
                                               std::span<const IValue> results, const CaseArguments& arguments) {
  const json& wanted = expected.results();
  if (results.size() != wanted.size()) {
    return fmt::format("expected {} results, got {}", wanted.size(), results.size());
  }
  // A written argument keeps the strides that the caller gave it.
  const bool compares_strides = expected.comparesStrides();
  for (size_t i = 0; i < results.size(); ++i) {
    const auto difference =
        differenceOfValue(expected, results[i], wanted[i], schema.returns()[i].type(), arguments, compares_strides);
    if (difference) return results.size() == 1 ? *difference : fmt::format("result {}: {}", i, *difference);
  }
  return std::nullopt;
}

std::optional<std::string> differenceOfArguments(const Case& expected, const CaseArguments& arguments) {
  std::vector<std::vector<bool>> written;
  for (const Tensor& initial : arguments.initial) written.emplace_back(initial.nbytes());
  for (size_t i = 0; i < arguments.tensors.size(); ++i) {
    const auto after = expected.isError() ? std::nullopt : expected.after(i);
    const Tensor& tensor = arguments.tensors[i];
    if (!after) {
      if (std::ranges::equal(tensor.sizes(), arguments.sizes[i])) continue;
      return fmt::format("argument tensor {} has other sizes after the call, {} instead of {}", i,
                         sizesText(tensor.sizes()), sizesText(arguments.sizes[i]));
    }
    if (const auto difference = differenceOfTensor(expected, tensor, *after, arguments, expected.comparesStrides())) {
      return fmt::format("argument tensor {} after the call: {}", i, *difference);
    }
    for (size_t s = 0; s < arguments.storages.size(); ++s) {
      if (arguments.storages[s].storage() == tensor.storage()) markBytes(tensor, written[s]);
    }
  }
  for (size_t s = 0; s < arguments.storages.size(); ++s) {
    const Storage& storage = arguments.storages[s].storage();
    const auto* now = static_cast<const std::byte*>(storage->data());
    const auto* before = static_cast<const std::byte*>(arguments.initial[s].data_ptr());
    const size_t bytes = std::min(storage->nbytes(), arguments.initial[s].nbytes());
    for (size_t i = 0; i < bytes; ++i) {
      if (now[i] != before[i] && !written[s][i]) {
        return fmt::format("byte {} of storage {} changed, which the call must not write", i, s);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> differenceOfGradient(const Case& expected, const Tensor& found, const Tensor& wanted) {
  if (found.dtype() != wanted.dtype()) {
    return fmt::format("expected dtype {}, got {}", dtypeName(wanted.dtype()), dtypeName(found.dtype()));
  }
  if (!std::ranges::equal(found.sizes(), wanted.sizes())) {
    return fmt::format("expected sizes {}, got {}", sizesText(wanted.sizes()), sizesText(found.sizes()));
  }
  Limits limits = limitsOf(expected, wanted.dtype());
  // A formula may have more steps than the operator, so its errors are larger.
  const bool is_wide = wanted.dtype() == ScalarType::Double || wanted.dtype() == ScalarType::ComplexDouble;
  limits.rtol = std::max(limits.rtol, is_wide ? 1e-6 : 1e-5);
  return differenceOfElements(found, wanted, limits, false);
}

std::string describe(const IValue& value) {
  if (value.isTensor()) {
    const Tensor& tensor = value.toTensor();
    if (!tensor.defined()) return "undefined tensor";
    std::string text = fmt::format("{}{}", dtypeName(tensor.dtype()), sizesText(tensor.sizes()));
    if (!tensor.is_contiguous()) text += " strides " + sizesText(tensor.strides());
    if (tensor.storage_offset() != 0) text += fmt::format(" offset {}", tensor.storage_offset());
    if (tensor.is_cpu() && tensor.numel() > 0 && tensor.numel() <= 6) {
      std::vector<std::string> elements;
      const std::vector<int64_t> offsets = elementOffsets(tensor);
      visitScalarType(kAllTypes, tensor.dtype(), "a text", [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (const int64_t offset : offsets) {
          T element;
          std::memcpy(&element, static_cast<const std::byte*>(tensor.storage()->data()) + offset, sizeof(T));
          elements.push_back(shown(element));
        }
      });
      text += fmt::format(" {{{}}}", fmt::join(elements, ", "));
    }
    return text;
  }
  if (value.isList()) {
    std::vector<std::string> elements;
    for (size_t i = 0; i < value.length(); ++i) elements.push_back(describe(value.elementAt(i)));
    return fmt::format("[{}]", fmt::join(elements, ", "));
  }
  return repr(value);
}

std::string describe(const FunctionSchema& schema, const CaseArguments& arguments) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const Argument& argument = schema.arguments()[i];
    const IValue& value = arguments.values[i];
    if (argument.default_value().has_value() && !value.isTensor() && value == *argument.default_value()) continue;
    texts.push_back(fmt::format("{}={}", argument.name(), describe(value)));
  }
  return fmt::format("({})", fmt::join(texts, ", "));
}

}  // namespace boxcar::numerics
