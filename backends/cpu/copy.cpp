#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/iterator.h>
#include <boxcar/backends/cpu/loops.h>
#include <boxcar/backends/shape/layout.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cstring>

namespace boxcar::cpu {
namespace {

template <class To, class From>
void convertLoop(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const Scalar*) {
  elementwise<To, From>(data, steps, n0, n1, [](From value) { return convertElement<To>(value); });
}

template <class To, class... From>
Loop loopFrom(ElementTypes<From...>, ScalarType from) {
  static constexpr Loop kLoops[] = {convertLoop<To, From>...};
  static constexpr ScalarType kTypes[] = {scalarTypeOf<From>...};
  for (size_t i = 0; i < sizeof...(From); ++i) {
    if (kTypes[i] == from) return kLoops[i];
  }
  BOXCAR_FAIL("copy: elements of {} cannot be read", from);
}

// Elements of one type are moved as they are, whatever they mean.
template <class Word>
void moveLoop(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const Scalar*) {
  elementwise<Word, Word>(data, steps, n0, n1, [](Word value) { return value; });
}

struct Words {
  uint64_t low, high;
};

Loop loopFor(ScalarType to, ScalarType from) {
  if (to == from) {
    switch (elementSize(to)) {
      case 1: return moveLoop<uint8_t>;
      case 2: return moveLoop<uint16_t>;
      case 4: return moveLoop<uint32_t>;
      case 8: return moveLoop<uint64_t>;
      default: return moveLoop<Words>;
    }
  }
  return visitScalarType(kAllTypes, to, "copy",
                         [&]<class To>(std::type_identity<To>) -> Loop { return loopFrom<To>(kAllTypes, from); });
}

}  // namespace

void copyElements(const Tensor& target, const Tensor& source) {
  const ScalarType to = target.scalar_type();
  const ScalarType from = source.scalar_type();
  if (to == from && target.is_contiguous() && source.is_contiguous() && target.numel() == source.numel()) {
    if (target.numel() > 0) std::memcpy(target.data_ptr(), source.data_ptr(), target.nbytes());
    return;
  }
  StridedLoop loop(target.sizes());
  loop.add(target.data_ptr(), target.sizes(), target.strides(), target.itemsize());
  loop.add(source.data_ptr(), source.sizes(), source.strides(), source.itemsize());
  loop.run(loopFor(to, from), nullptr);
}

Tensor convertTo(const Tensor& tensor, ScalarType dtype) {
  const Tensor result = shape::allocateStrided(tensor.sizes(), shape::denseStrides(tensor), dtype, tensor.device());
  copyElements(result, tensor);
  return result;
}

Tensor toContiguous(const Tensor& tensor) {
  if (tensor.is_contiguous()) return tensor;
  const Tensor result = Tensor::allocate(tensor.sizes(), tensor.scalar_type(), tensor.device());
  copyElements(result, tensor);
  return result;
}

Tensor& writeResult(Tensor& out, const Tensor& result) {
  checkOnCpu(out);
  BOXCAR_CHECK(canCast(result.scalar_type(), out.scalar_type()),
               "result type {} can't be cast to the desired output type {}", result.scalar_type(), out.scalar_type());
  if (!std::ranges::equal(out.sizes(), result.sizes())) resizeOutput(out, result.sizes());
  checkNoInternalOverlap(out);
  copyElements(out, result);
  out.storage()->bumpVersion();
  return out;
}

void storeNumber(void* address, ScalarType type, const Scalar& number) {
  visitScalarType(kAllTypes, type, "number", [&]<class T>(std::type_identity<T>) {
    T value;
    if (number.isComplex()) {
      value = convertElement<T>(number.toComplexDouble());
    } else if (number.isFloatingPoint()) {
      value = convertElement<T>(number.toDouble());
    } else {
      value = convertElement<T>(number.toLong());
    }
    std::memcpy(address, &value, sizeof(T));
  });
}

Scalar loadNumber(const void* address, ScalarType type) {
  return visitScalarType(kAllTypes, type, "number", [&]<class T>(std::type_identity<T>) {
    T value;
    std::memcpy(&value, address, sizeof(T));
    return Scalar(value);
  });
}

}  // namespace boxcar::cpu
