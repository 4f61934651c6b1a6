#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/words.h>

#include <cstdint>

namespace boxcar::cpu {
namespace {

// Selects elements regardless of their type.
template <class Word>
void selectLoop(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const Scalar*) {
  elementwise<Word, bool, Word, Word>(data, steps, n0, n1,
                                      [](bool condition, Word a, Word b) { return condition ? a : b; });
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
