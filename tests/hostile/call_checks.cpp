#include "tests/hostile/call_checks.h"

#include <boxcar/backends/meta/layout.h>
#include <boxcar/dispatcher/handlers/check/schema_promises.h>
#include <boxcar/dispatcher/values/host_bytes.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

namespace boxcar::hostile {
namespace {

// Larger storages, and tensors with more elements, are not checked.
constexpr size_t kMostBytes = size_t{1} << 20;
constexpr int64_t kMostElements = 1 << 14;

bool isLess(const Storage& a, const Storage& b) { return a.get() < b.get(); }

bool isDense(const Tensor& tensor) { return meta::isDense(tensor.sizes(), tensor.strides()); }

bool isExpanded(const Tensor& tensor) {
  for (size_t i = 0; i < tensor.sizes().size(); ++i) {
    if (tensor.sizes()[i] > 1 && tensor.strides()[i] == 0) return tensor.numel() > 1;
  }
  return false;
}

bool nameHas(const Subject& subject, std::string_view part) { return subject.name.find(part) != std::string::npos; }

// Returns whether two calls on equal elements write equal results, whatever the layouts are.
bool isFunctionOfElements(const Subject& subject) {
  for (const Tag tag : {Tag::nondeterministic_seeded, Tag::nondeterministic_bitwise, Tag::io, Tag::inplace_view}) {
    if (subject.op.hasTag(tag)) return false;
  }
  for (const std::string_view part : {"empty", "resize", "as_strided", "set_", "unsafe_view"}) {
    if (nameHas(subject, part)) return false;
  }
  return true;
}

// Returns a copy that shares no memory with [tensor]. It keeps the layout, because input that is singular up to
// rounding gives other results in another layout. Only a written tensor that is expanded becomes contiguous, so that no
// two of its elements share memory.
Tensor copyOf(const Tensor& tensor, bool is_written) {
  if (!tensor.defined()) return tensor;
  Tensor copy;
  if (is_written && isExpanded(tensor)) {
    copy = Tensor::allocate(tensor.sizes(), tensor.dtype());
    const ElementBytes elements(tensor);
    std::memcpy(copy.data_ptr(), elements.bytes().data(), elements.bytes().size());
  } else {
    const ByteRange reached = reachedBytes(tensor);
    const auto count = static_cast<int64_t>(reached.count / tensor.itemsize());
    const Tensor row = Tensor::allocate({&count, 1}, tensor.dtype());
    if (count != 0) {
      std::memcpy(row.data_ptr(), static_cast<const std::byte*>(tensor.storage()->data()) + reached.first,
                  reached.count);
    }
    copy = row.view(tensor.sizes(), tensor.strides(), 0);
  }
  copy.unsafeGetTensorImpl()->set_wrapped_number(tensor.unsafeGetTensorImpl()->is_wrapped_number());
  return copy;
}

// Copies each tensor in the value, also those in lists.
IValue copyOf(const IValue& value, bool is_written) {
  if (value.isTensor()) return copyOf(value.toTensor(), is_written);
  if (value.isTensorList()) {
    const List<Tensor> list;
    for (const Tensor& tensor : value.toTensorList().span()) list.push_back(copyOf(tensor, is_written));
    return list;
  }
  if (value.isList()) {
    const GenericList list;
    for (size_t i = 0; i < value.length(); ++i) list.push_back(copyOf(value.elementAt(i), is_written));
    return list;
  }
  return value;
}

std::vector<std::complex<double>> numbersOf(const Tensor& tensor) {
  std::vector<std::complex<double>> numbers;
  const ElementBytes bytes(tensor);
  visitScalarType(kAllTypes, tensor.dtype(), "a written tensor", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      T value;
      std::memcpy(&value, bytes.bytes().data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
      if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
        numbers.emplace_back(value.real(), value.imag());
      } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
        numbers.emplace_back(static_cast<float>(value));
      } else {
        numbers.emplace_back(static_cast<double>(value));
      }
    }
  });
  return numbers;
}

bool areClose(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= 1e-3 + 2e-2 * std::max(std::abs(a), std::abs(b));
}

// A sum in another order may be NaN where this one is infinite.
bool areClose(const std::complex<double>& a, const std::complex<double>& b) {
  const auto isFinite = [](const std::complex<double>& x) {
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  };
  if (!isFinite(a) && !isFinite(b)) return true;
  return areClose(a.real(), b.real()) && areClose(a.imag(), b.imag());
}

void permit(const Tensor& tensor, std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset,
            std::vector<bool>& permitted) {
  std::vector<int64_t> index(sizes.size(), 0);
  const auto size = static_cast<int64_t>(tensor.itemsize());
  int64_t left = 1;
  for (const int64_t count : sizes) left *= count;
  int64_t place = offset;
  for (; left > 0; --left) {
    for (int64_t byte = place * size; byte < (place + 1) * size; ++byte) {
      if (byte < static_cast<int64_t>(permitted.size())) permitted[static_cast<size_t>(byte)] = true;
    }
    for (size_t dim = index.size(); dim-- > 0;) {
      place += strides[dim];
      if (++index[dim] < sizes[dim]) break;
      place -= strides[dim] * index[dim];
      index[dim] = 0;
    }
  }
}

}  // namespace

CallChecks::CallChecks(const Subject& subject, const Stack& arguments)
    : subject_(subject),
      arguments_(arguments),
      tensors_(tensorsOfArguments(subject.op.schema(), last(arguments, arguments.size()))),
      bytes_(&isLess) {
  for (const PlacedTensor& placed : tensors_) {
    shapes_.push_back(shapeOf(placed.tensor));
    const Storage& storage = placed.tensor.storage();
    if (!placed.tensor.is_cpu() || storage->nbytes() > kMostBytes || bytes_.contains(storage)) continue;
    const auto* const begin = static_cast<const std::byte*>(storage->data());
    bytes_.emplace(storage, std::vector<std::byte>(begin, begin + storage->nbytes()));
  }
  if (isFunctionOfElements(subject) && writesWhatItReads()) copyForReference(arguments);
}

std::optional<std::string> CallChecks::afterRefusal(std::string_view message) const {
  for (const std::string_view part :
       {"internal assertion failed", "vector::", "basic_string", "std::", "map::", "array::"}) {
    if (message.find(part) != std::string_view::npos)
      return fmt::format("is refused in words of the inside: {}", message);
  }
  const bool is_foreign = message.find("() failed: ") != std::string_view::npos &&
                          message.find("() failed: out of memory") == std::string_view::npos;
  if (is_foreign) return fmt::format("is refused by what is no Error: {}", message);
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (const std::string changed = changedShape(i); !changed.empty())
      return fmt::format("resized {} before it refused: {}", changed, message);
  }
  if (const auto changed = changedElements()) return fmt::format("wrote {} before it refused: {}", *changed, message);
  return std::nullopt;
}

std::optional<std::string> CallChecks::afterResults(std::span<const IValue> results) {
  try {
    promises::checkResultTypes(subject_.op, results);
    promises::checkAliasing(subject_.op, last(arguments_, arguments_.size()), results);
  } catch (const Error& error) {
    return error.message();
  }
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const bool is_written = std::ranges::any_of(tensors_, [&](const PlacedTensor& other) {
      return other.isWritten() && other.tensor.is_same(tensors_[i].tensor);
    });
    if (is_written) continue;
    if (const std::string changed = changedShape(i); !changed.empty())
      return fmt::format("resized {}, which it may only read", changed);
  }
  if (const auto changed = changedElsewhere()) return changed;
  return differenceFromReference();
}

CallChecks::Shape CallChecks::shapeOf(const Tensor& tensor) {
  return {{tensor.sizes().begin(), tensor.sizes().end()},
          {tensor.strides().begin(), tensor.strides().end()},
          tensor.storage_offset(),
          tensor.numel(),
          tensor.storage()};
}

std::string CallChecks::changedShape(size_t i) const {
  const Shape now = shapeOf(tensors_[i].tensor);
  const Shape& then = shapes_[i];
  if (now.sizes == then.sizes && now.strides == then.strides && now.offset == then.offset &&
      now.storage == then.storage)
    return {};
  return fmt::format("{} from [{}] to [{}]", tensors_[i].place, fmt::join(then.sizes, ", "),
                     fmt::join(now.sizes, ", "));
}

std::optional<std::string> CallChecks::changedElements() const {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const auto known = bytes_.find(shapes_[i].storage);
    if (known == bytes_.end()) continue;
    const Storage& storage = known->first;
    // When one of several outputs cannot grow, another one may already have more memory than before.
    const size_t size = known->second.size();
    if (storage->nbytes() < size) return fmt::format("the size of the storage of {}", tensors_[i].place);
    if (size != 0 && std::memcmp(storage->data(), known->second.data(), size) != 0)
      return fmt::format("elements of {}", tensors_[i].place);
  }
  return std::nullopt;
}

std::optional<std::string> CallChecks::changedElsewhere() const {
  for (const auto& [storage, before] : bytes_) {
    const size_t size = std::min(before.size(), storage->nbytes());
    if (size == 0 || std::memcmp(storage->data(), before.data(), size) == 0) continue;
    std::vector<bool> permitted(size);
    bool is_too_large = false;
    std::string place;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const Tensor& tensor = tensors_[i].tensor;
      if (shapes_[i].storage != storage && tensor.storage() != storage) continue;
      if (place.empty() || !tensors_[i].isWritten()) place = tensors_[i].place;
      if (!tensors_[i].isWritten()) continue;
      is_too_large = is_too_large || tensor.numel() > kMostElements || shapes_[i].numel > kMostElements;
      if (is_too_large) break;
      permit(tensor, tensor.sizes(), tensor.strides(), tensor.storage_offset(), permitted);
      permit(tensor, shapes_[i].sizes, shapes_[i].strides, shapes_[i].offset, permitted);
    }
    if (is_too_large) continue;
    const auto* const now = static_cast<const std::byte*>(storage->data());
    for (size_t i = 0; i < size; ++i) {
      if (now[i] != before[i] && !permitted[i])
        return fmt::format("wrote byte {} of the storage of {}, which it may not", i, place);
    }
  }
  return std::nullopt;
}

bool CallChecks::writesWhatItReads() const {
  bool shares = false;
  for (const PlacedTensor& placed : tensors_) {
    if (!placed.tensor.is_cpu() || placed.tensor.numel() > kMostElements) return false;
    if (!placed.isWritten()) continue;
    if (isExpanded(placed.tensor)) {
      shares = true;
    } else if (placed.tensor.numel() > 1 && !isDense(placed.tensor)) {
      return false;  // nor within one such tensor
    }
    for (const PlacedTensor& other : tensors_) {
      if (&other == &placed || !shareMemory(other.tensor, placed.tensor)) continue;
      if (other.tensor.is_same(placed.tensor)) {
        shares = true;
        continue;
      }
      // Like PyTorch, boxcar does not check whether tensors with gaps between their elements overlap.
      if (!isDense(other.tensor) || !isDense(placed.tensor)) return false;
      shares = true;
    }
  }
  return shares;
}

void CallChecks::copyForReference(const Stack& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool is_written = std::ranges::any_of(
        tensors_, [&](const PlacedTensor& placed) { return placed.index == i && placed.isWritten(); });
    reference_.push_back(copyOf(arguments[i], is_written));
  }
}

std::optional<std::string> CallChecks::differenceFromReference() {
  if (reference_.empty()) return std::nullopt;
  const Stack copies = reference_;
  const std::vector<PlacedTensor> expected = tensorsOfArguments(subject_.op.schema(), last(copies, copies.size()));
  try {
    subject_.op.callBoxed(reference_);
  } catch (const Error&) {
    return std::nullopt;  // e.g. when the sizes only work because both arguments are one tensor
  }
  for (size_t i = 0; i < std::min(expected.size(), tensors_.size()); ++i) {
    if (!tensors_[i].isWritten()) continue;
    const Tensor& a = tensors_[i].tensor;
    const Tensor& b = expected[i].tensor;
    if (!std::ranges::equal(a.sizes(), b.sizes())) {
      return fmt::format("gives {} of [{}], and [{}] where arguments share no memory", tensors_[i].place,
                         fmt::join(a.sizes(), ", "), fmt::join(b.sizes(), ", "));
    }
    const auto found = numbersOf(a);
    const auto right = numbersOf(b);
    for (size_t j = 0; j < found.size(); ++j) {
      if (areClose(found[j], right[j])) continue;
      return fmt::format("writes {}{:+}j to element {} of {}, and {}{:+}j where arguments share no memory",
                         found[j].real(), found[j].imag(), j, tensors_[i].place, right[j].real(), right[j].imag());
    }
  }
  return std::nullopt;
}

}  // namespace boxcar::hostile
