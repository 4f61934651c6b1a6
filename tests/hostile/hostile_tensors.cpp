#include "tests/hostile/hostile_tensors.h"

#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/intrusive_ptr.h>
#include <boxcar/ivalue/tensor_impl.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>

#include "tests/hostile/guarded_memory.h"
#include "tests/hostile/hostile_values.h"

namespace boxcar::hostile {
namespace {

using Sizes = std::vector<int64_t>;

constexpr int64_t kTwo31 = int64_t{1} << 31;
// Tensors with more elements are not visited element by element.
constexpr int64_t kMostElements = 1 << 16;

// Returns nullopt if such a tensor is impossible.
std::optional<Tensor> tensorOver(const Storage& storage, ScalarType dtype, const Sizes& sizes, const Sizes& strides,
                                 int64_t offset) {
  try {
    return Tensor(makeIntrusive<TensorImpl>(storage, dtype, sizes, strides, offset));
  } catch (const Error&) {
    return std::nullopt;
  }
}

struct Layout {
  Sizes strides;
  int64_t offset = 0;
  int64_t elements = 0;  // of its storage
};

Layout anyLayout(std::span<const int64_t> sizes, Random& random) {
  Layout layout{Sizes(sizes.size()), 0, 0};
  const bool is_plain = !random.oneIn(3);
  if (!is_plain && random.oneIn(2)) layout.offset = static_cast<int64_t>(1 + random.below(5));
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!is_plain && order.size() > 1 && random.oneIn(2)) std::swap(order[random.below(order.size())], order.back());
  int64_t stride = !is_plain && random.oneIn(3) ? 2 : 1;
  const size_t expanded = !is_plain && !sizes.empty() && random.oneIn(4) ? random.below(sizes.size()) : sizes.size();
  bool is_empty = false;
  int64_t last = 0;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t dim = order[i];
    layout.strides[dim] = dim == expanded ? 0 : stride;
    last += (sizes[dim] - 1) * layout.strides[dim];
    is_empty = is_empty || sizes[dim] == 0;
    if (dim != expanded) stride *= std::max<int64_t>(1, sizes[dim]);
  }
  layout.elements = is_empty ? 0 : layout.offset + last + 1;
  if (is_empty) layout.offset = 0;
  return layout;
}

// A tensor without elements may have huge sizes, too.
bool hasSmallSizes(const Tensor& tensor) {
  return tensor.defined() && tensor.numel() <= kMostElements &&
         std::ranges::all_of(tensor.sizes(), [](int64_t size) { return size <= kMostElements; });
}

// Calls visit(place) for each element in the order of the dimensions. The place counts elements from the first one.
template <class Visit>
void visitPlaces(const Tensor& tensor, const Visit& visit) {
  Sizes index(tensor.sizes().size(), 0);
  int64_t place = 0;
  for (int64_t left = tensor.numel(); left > 0; --left) {
    visit(place);
    for (size_t dim = index.size(); dim-- > 0;) {
      place += tensor.strides()[dim];
      if (++index[dim] < tensor.sizes()[dim]) break;
      place -= tensor.strides()[dim] * index[dim];
      index[dim] = 0;
    }
  }
}

// Returns zeros of [sizes] in a random layout.
Tensor zeros(std::span<const int64_t> sizes, ScalarType dtype, Random& random) {
  const Sizes list(sizes.begin(), sizes.end());
  const Layout layout = anyLayout(list, random);
  const Storage storage = guardedStorage(static_cast<size_t>(layout.elements) * elementSize(dtype));
  if (storage->nbytes() != 0) std::memset(storage->data(), 0, storage->nbytes());
  return tensorOver(storage, dtype, list, layout.strides, layout.offset).value();
}

template <class Value>
void fill(const Tensor& tensor, const Value& value) {
  visitScalarType(kAllTypes, tensor.dtype(), "a hostile tensor", [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const data = static_cast<T*>(tensor.data_ptr());
    visitPlaces(tensor, [&](int64_t place) { data[place] = value(tag); });
  });
}

template <class T>
T plainNumber(Random& random) {
  const auto number = static_cast<int>(random.below(16));
  if constexpr (std::is_same_v<T, bool>) {
    return number % 2 == 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(number % 4);
  } else {
    return static_cast<T>(0.25f * static_cast<float>(number));
  }
}

template <class T>
T hostileNumber(Random& random) {
  if constexpr (std::is_same_v<T, bool>) {
    return random.oneIn(2);
  } else if constexpr (std::is_integral_v<T>) {
    if (random.oneIn(3)) return random.oneIn(2) ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    return static_cast<T>(hostileInt(random));
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    using Part = typename T::value_type;
    return T(static_cast<Part>(hostileFloat(random)), static_cast<Part>(hostileFloat(random)));
  } else {
    return static_cast<T>(static_cast<float>(hostileFloat(random)));
  }
}

Sizes otherSizes(std::span<const int64_t> sizes, Random& random) {
  constexpr int64_t kSome[] = {0, 0, 1, 1, 2, 3, 4, 5, 7, 16, 17, 33, 64};
  Sizes other(sizes.begin(), sizes.end());
  switch (random.below(7)) {
    case 0: return {};
    case 1: return {0};
    case 2: other.push_back(random.pick(kSome)); break;
    case 3:
      if (!other.empty()) other.erase(other.begin() + static_cast<ptrdiff_t>(random.below(other.size())));
      break;
    case 4: {
      other.assign(random.oneIn(8) ? 70 : random.below(7), 1);
      if (!other.empty()) other[random.below(other.size())] = random.pick(kSome);
      break;
    }
    default:
      if (other.empty()) return {random.pick(kSome)};
      other[random.below(other.size())] = random.pick(kSome);
  }
  int64_t elements = 1;
  for (const int64_t size : other) elements = std::min(elements * size, kMostElements + 1);
  if (elements > kMostElements) return {2, 3};
  return other;
}

// Returns sizes with more elements than any memory holds; strides of zero make such a tensor possible.
Sizes hugeSizes(std::span<const int64_t> sizes, Random& random) {
  constexpr int64_t kHuge[] = {kTwo31 - 1,       kTwo31,           (int64_t{1} << 32) + 1,
                               int64_t{1} << 40, int64_t{1} << 62, std::numeric_limits<int64_t>::max()};
  Sizes huge(sizes.begin(), sizes.end());
  if (huge.empty()) huge = {1};
  switch (random.below(3)) {
    case 0: huge.assign(huge.size(), 1); break;
    case 1: huge.assign(huge.size(), int64_t{1} << (62 / huge.size())); return huge;
    default: break;
  }
  huge[random.below(huge.size())] = random.pick(kHuge);
  return huge;
}

Tensor hugeTensor(std::span<const int64_t> sizes, ScalarType dtype, Random& random) {
  const Sizes huge = hugeSizes(sizes, random);
  const Storage storage = guardedStorage(elementSize(dtype));
  std::memset(storage->data(), 0, storage->nbytes());
  return tensorOver(storage, dtype, huge, Sizes(huge.size(), 0), 0).value_or(plainTensor(sizes, dtype, random));
}

// Returns a tensor in which several indices share an element.
Tensor overlappingTensor(std::span<const int64_t> sizes, ScalarType dtype, Random& random) {
  const Sizes list(sizes.begin(), sizes.end());
  Sizes strides(list.size());
  int64_t last = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    strides[i] = static_cast<int64_t>(random.below(3));
    last += std::max<int64_t>(0, list[i] - 1) * strides[i];
  }
  const Storage storage = guardedStorage(static_cast<size_t>(last + 1) * elementSize(dtype));
  std::memset(storage->data(), 0, storage->nbytes());
  const Tensor made = tensorOver(storage, dtype, list, strides, 0).value();
  fill(made, [&](auto tag) { return plainNumber<typename decltype(tag)::type>(random); });
  return made;
}

// Returns a tensor with arbitrary strides where dimensions have one element or none.
Tensor wideTensor(std::span<const int64_t> sizes, ScalarType dtype, Random& random) {
  constexpr int64_t kStrides[] = {
      0, 3, kTwo31, (int64_t{1} << 32) + 1, int64_t{1} << 60, std::numeric_limits<int64_t>::max()};
  Sizes list(sizes.begin(), sizes.end());
  Sizes strides(list.size());
  int64_t stride = 1;
  const bool is_empty = !list.empty() && random.oneIn(4);
  if (is_empty) list[random.below(list.size())] = 0;
  for (size_t i = list.size(); i-- > 0;) {
    strides[i] = list[i] <= 1 || is_empty ? random.pick(kStrides) : stride;
    stride *= std::max<int64_t>(1, list[i]);
  }
  const Storage storage = guardedStorage(is_empty ? 0 : static_cast<size_t>(stride) * elementSize(dtype));
  if (storage->nbytes() != 0) std::memset(storage->data(), 0, storage->nbytes());
  return tensorOver(storage, dtype, list, strides, 0).value_or(plainTensor(sizes, dtype, random));
}

// Returns a part of [other], or all of it in another shape.
Tensor partOf(const Tensor& other, Random& random) {
  if (!hasSmallSizes(other)) return other;
  Sizes sizes(other.sizes().begin(), other.sizes().end());
  Sizes strides(other.strides().begin(), other.strides().end());
  int64_t offset = other.storage_offset();
  switch (random.below(5)) {
    case 0:  // another object of the same shape
      break;
    case 1:  // shifted by one row
      for (size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] < 2) continue;
        --sizes[i];
        if (random.oneIn(2)) offset += strides[i];
        break;
      }
      break;
    case 2:
      if (sizes.size() > 1) {
        const size_t i = random.below(sizes.size());
        std::swap(sizes[i], sizes.back());
        std::swap(strides[i], strides.back());
      }
      break;
    case 3:
      if (!other.is_contiguous()) break;
      sizes = {other.numel()};
      strides = {1};
      break;
    default:  // its first element alone
      if (other.numel() == 0) break;
      sizes.clear();
      strides.clear();
  }
  return tensorOver(other.storage(), other.dtype(), sizes, strides, offset).value_or(other);
}

// Returns a tensor whose storage cannot be resized, like the bytes of a file.
Tensor foreignTensor(const Tensor& plausible, Random& random) {
  if (!hasSmallSizes(plausible) || !plausible.is_cpu()) return plausible;
  const Tensor inner = guardedCopy(plausible, random);
  const Storage storage = inner.storage();
  const Storage foreign = StorageImpl::wrap(
      storage->data(), storage->nbytes(), Device(DeviceType::CPU),
      [](void*, void* context) { delete static_cast<Storage*>(context); }, new Storage(storage));
  const Sizes sizes(inner.sizes().begin(), inner.sizes().end());
  const Sizes strides(inner.strides().begin(), inner.strides().end());
  return tensorOver(foreign, inner.dtype(), sizes, strides, inner.storage_offset()).value();
}

}  // namespace

Tensor plainTensor(std::span<const int64_t> sizes, ScalarType dtype, Random& random) {
  const Tensor made = zeros(sizes, dtype, random);
  fill(made, [&](auto tag) { return plainNumber<typename decltype(tag)::type>(random); });
  return made;
}

Tensor guardedCopy(const Tensor& source, Random& random) {
  if (!source.defined()) return source;
  if (source.is_meta()) return metaTensor(source.sizes(), source.dtype());
  const Tensor made = zeros(source.sizes(), source.dtype(), random);
  const size_t size = source.itemsize();
  std::vector<int64_t> places;
  places.reserve(static_cast<size_t>(source.numel()));
  visitPlaces(source, [&](int64_t place) { places.push_back(place); });
  const auto* const from = static_cast<const std::byte*>(source.data_ptr());
  auto* const to = static_cast<std::byte*>(made.data_ptr());
  size_t i = 0;
  visitPlaces(made, [&](int64_t place) {
    std::memcpy(to + place * static_cast<int64_t>(size), from + places[i++] * static_cast<int64_t>(size), size);
  });
  made.unsafeGetTensorImpl()->set_wrapped_number(source.unsafeGetTensorImpl()->is_wrapped_number());
  return made;
}

Tensor metaTensor(std::span<const int64_t> sizes, ScalarType dtype) {
  try {
    return Tensor::allocate(sizes, dtype, Device(DeviceType::Meta));
  } catch (const Error&) {
    return Tensor::allocate(Sizes{2, 3}, dtype, Device(DeviceType::Meta));
  }
}

Tensor hostileTensor(const Tensor& plausible, std::span<const Tensor> others, Random& random) {
  const ScalarType dtype = plausible.defined() ? plausible.dtype() : anyDtype(random);
  const Sizes sizes =
      hasSmallSizes(plausible) ? Sizes(plausible.sizes().begin(), plausible.sizes().end()) : Sizes{2, 3};
  switch (random.below(16)) {
    case 0: return Tensor();
    case 1:
    case 2: return plainTensor(sizes, anyDtype(random), random);
    case 3:
    case 4: return plainTensor(otherSizes(sizes, random), dtype, random);
    case 5:
    case 6: {
      const Tensor made = zeros(sizes, dtype, random);
      const bool is_seldom = random.oneIn(2);
      fill(made, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return is_seldom && !random.oneIn(8) ? plainNumber<T>(random) : hostileNumber<T>(random);
      });
      return made;
    }
    case 7: return hugeTensor(sizes, dtype, random);
    case 8: return overlappingTensor(sizes, dtype, random);
    case 9: return wideTensor(sizes, dtype, random);
    case 10:
      if (random.oneIn(2)) return metaTensor(sizes, dtype);
      return metaTensor(hugeSizes(sizes, random), dtype);
    case 11: return plainTensor(Sizes{}, dtype, random);
    case 12: {
      const Tensor made = plainTensor(sizes, dtype, random);
      if (random.oneIn(2)) {
        made.set_requires_grad(made.is_floating_point());
      } else {
        made.unsafeGetTensorImpl()->set_wrapped_number(true);
      }
      return made;
    }
    case 13: return plainTensor(otherSizes(sizes, random), anyDtype(random), random);
    default:
      if (others.empty()) return plainTensor(otherSizes(sizes, random), dtype, random);
      return random.oneIn(2) ? random.pick(others) : partOf(random.pick(others), random);
  }
}

Tensor hostileOutput(const Tensor& plausible, std::span<const Tensor> others, Random& random) {
  const ScalarType dtype = plausible.defined() ? plausible.dtype() : anyDtype(random);
  switch (random.below(8)) {
    case 0: return plainTensor(Sizes{0}, dtype, random);
    case 1: return foreignTensor(plausible, random);
    case 2: return plainTensor(Sizes{0}, anyDtype(random), random);
    case 3:
    case 4:
      if (!others.empty()) return random.pick(others);
      [[fallthrough]];
    case 5:
      if (!others.empty()) return partOf(random.pick(others), random);
      [[fallthrough]];
    default: return hostileTensor(plausible, others, random);
  }
}

}  // namespace boxcar::hostile
