#include <boxcar/backends/cpu/conversions.h>
#include <boxcar/backends/cpu/loops.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/vector_small_floats.h>
#include <boxcar/backends/functors/words.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cstring>

namespace boxcar::cpu {
namespace {

template <class To, class From>
void convertLoop(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const Scalar*) {
  elementwise<To, From>(data, steps, n0, n1, [](From value) { return convertElement<To>(value); });
}

// Whether cpu/vector_small_floats.h has the conversion.
template <class To, class From>
constexpr bool kHasRows = (kIsSmallFloat<To> && std::is_same_v<From, float>) ||
                          (kIsSmallFloat<From> && std::is_same_v<To, float>);

template <class To, class From>
void convertRows(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const Scalar* params) {
  if (steps[0] != sizeof(To) || steps[1] != sizeof(From)) return convertLoop<To, From>(data, steps, n0, n1, params);
  for (int64_t j = 0; j < n1; ++j) {
    char* const out = data[0] + j * steps[kMaxOperands];
    const char* const in = data[1] + j * steps[kMaxOperands + 1];
    if constexpr (kIsSmallFloat<To>) {
      smallFloatRows(scalarTypeOf<To>).narrow(reinterpret_cast<const float*>(in), out, static_cast<size_t>(n0));
    } else {
      smallFloatRows(scalarTypeOf<From>).widen(in, reinterpret_cast<float*>(out), static_cast<size_t>(n0));
    }
  }
}

// Conversions without CPU instructions go through float, as in convertElement.
void throughFloats(Loop widen, Loop narrow, char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
  constexpr int64_t kBuffer = 256;
  alignas(64) float floats[kBuffer];
  for (int64_t j = 0; j < n1; ++j) {
    char* out = data[0] + j * steps[kMaxOperands];
    const char* in = data[1] + j * steps[kMaxOperands + 1];
    for (int64_t i = 0; i < n0; i += kBuffer, out += kBuffer * steps[0], in += kBuffer * steps[1]) {
      const int64_t n = std::min(kBuffer, n0 - i);
      convertRow(widen, floats, sizeof(float), in, steps[1], n);
      convertRow(narrow, out, steps[0], floats, sizeof(float), n);
    }
  }
}

template <Loop widen, Loop narrow>
void convertThroughFloats(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const Scalar*) {
  throughFloats(widen, narrow, data, steps, n0, n1);
}

template <class To, class From>
constexpr Loop convertLoopOf() {
  constexpr bool kHasSmall = kIsSmallFloat<To> || kIsSmallFloat<From>;
  if constexpr (kHasSmall && !std::is_same_v<To, float> && !std::is_same_v<From, float>) {
    return convertThroughFloats<convertLoopOf<float, From>(), convertLoopOf<To, float>()>;
  } else if constexpr (kHasRows<To, From>) {
    return convertRows<To, From>;
  } else if constexpr (kIsComplex<From> && !kIsComplex<To> && !std::is_same_v<To, bool>) {
    return convertLoop<To, RealOf<From>>;  // real parts only, with the strides of the complex numbers
  } else {
    return convertLoop<To, From>;
  }
}

template <class To, class... From>
Loop loopFrom(ElementTypes<From...>, ScalarType from) {
  static constexpr Loop kLoops[] = {convertLoopOf<To, From>()...};
  static constexpr ScalarType kTypes[] = {scalarTypeOf<From>...};
  for (size_t i = 0; i < sizeof...(From); ++i) {
    if (kTypes[i] == from) return kLoops[i];
  }
  BOXCAR_FAIL("copy: elements of {} cannot be read", from);
}

// Elements of the same type are copied as raw bits.
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

Loop moveLoopOf(size_t itemsize) {
  return functors::visitWord(itemsize, []<class Word>(std::type_identity<Word>) -> Loop { return moveLoop<Word>; });
}

}  // namespace

Loop conversionLoop(ScalarType to, ScalarType from) {
  if (to == from) return moveLoopOf(elementSize(to));
  return visitScalarType(kAllTypes, to, "copy",
                         [&]<class To>(std::type_identity<To>) -> Loop { return loopFrom<To>(kAllTypes, from); });
}

void repeatElement(void* to, const void* from, size_t itemsize, int64_t n) {
  const int64_t size = static_cast<int64_t>(itemsize);
  convertRow(moveLoopOf(itemsize), to, size, from, 0, n);
}

}  // namespace boxcar::cpu
