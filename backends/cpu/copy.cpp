#include <boxcar/backends/cpu/loops.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/dense/copy.h>
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
  constexpr auto kSize = static_cast<int64_t>(sizeof(Word));
  constexpr int64_t kLongRow = 64;
  const bool writes_rows = steps[0] == kSize;
  if (writes_rows && steps[1] == kSize && n0 * kSize >= kLongRow) {
    for (int64_t j = 0; j < n1; ++j) {
      std::memcpy(data[0] + j * steps[kMaxOperands], data[1] + j * steps[kMaxOperands + 1],
                  static_cast<size_t>(n0) * sizeof(Word));
    }
  } else if (writes_rows && steps[1] == 0) {
    for (int64_t j = 0; j < n1; ++j) {
      std::fill_n(reinterpret_cast<Word*>(data[0] + j * steps[kMaxOperands]), n0,
                  *reinterpret_cast<const Word*>(data[1] + j * steps[kMaxOperands + 1]));
    }
  } else {
    elementwise<Word, Word>(data, steps, n0, n1, [](Word value) { return value; });
  }
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

void copy(const Tensor& target, const Tensor& source, bool) {
  const ScalarType to = target.scalar_type();
  const ScalarType from = source.scalar_type();
  if (to == from && target.is_contiguous() && source.is_contiguous() && target.numel() == source.numel()) {
    auto* const bytes = static_cast<char*>(target.data_ptr());
    const auto* const read = static_cast<const char*>(source.data_ptr());
    parallelFor(0, static_cast<int64_t>(target.nbytes()), 4 * kParallelGrain, [=](int64_t begin, int64_t end) {
      std::memcpy(bytes + begin, read + begin, static_cast<size_t>(end - begin));
    });
    return;
  }
  StridedLoop loop(target.sizes());
  loop.add(target.data_ptr(), target.sizes(), target.strides(), target.itemsize());
  loop.add(source.data_ptr(), source.sizes(), source.strides(), source.itemsize());
  loop.runParallel(loopFor(to, from), nullptr);
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::dense {

constinit DeviceFunction<CopyFunction> copyOnDevice("copy_", cpu::copy);

}  // namespace boxcar::dense
