#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/words.h>

#include <cstdint>
#include <type_traits>

namespace boxcar::cpu {
namespace {

// Selects elements regardless of their type. The compiler vectorises masks, but not a choice by elements of another
// size.
template <class Word>
void selectLoop(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const Scalar* params) {
  constexpr ElementSizes kSizes = kElementSizes<Word, bool, Word, Word>;
  if (hasNumbers(kSizes, steps, n0)) return repeatNumbers(selectLoop<Word>, kSizes, data, steps, n0, n1, params);
  if constexpr (std::is_integral_v<Word>) {
    elementwise<Word, uint8_t, Word, Word>(data, steps, n0, n1, [](uint8_t condition, Word a, Word b) {
      const auto mask = static_cast<Word>(Word{0} - static_cast<Word>(condition != 0));
      return static_cast<Word>(b ^ ((a ^ b) & mask));
    });
  } else {
    elementwise<Word, bool, Word, Word>(data, steps, n0, n1,
                                        [](bool condition, Word a, Word b) { return condition ? a : b; });
  }
}

template <class T>
constexpr Loop selectLoopFor() {
  return visitWord(sizeof(T), []<class Word>(std::type_identity<Word>) -> Loop { return selectLoop<Word>; });
}

template <class... Ts>
constexpr Loops makeSelection(ElementTypes<Ts...>) {
  Loops loops{};
  ((loops[static_cast<size_t>(scalarTypeOf<Ts>)] = selectLoopFor<Ts>()), ...);
  return loops;
}

}  // namespace

template <>
const Loops LoopsOf<Functor::kSelect>::value = makeSelection(kAllTypes);

}  // namespace boxcar::cpu
