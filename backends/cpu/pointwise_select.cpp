#include <boxcar/backends/cpu/pointwise_loops.h>

#include <cstdint>

namespace boxcar::cpu {
namespace {

struct Words {
  uint64_t low, high;
};

// Selects elements regardless of their type.
template <class Word>
void selectLoop(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const Scalar*) {
  elementwise<Word, bool, Word, Word>(data, steps, n0, n1,
                                      [](bool condition, Word a, Word b) { return condition ? a : b; });
}

template <class T>
constexpr Loop selectLoopFor() {
  switch (sizeof(T)) {
    case 1: return selectLoop<uint8_t>;
    case 2: return selectLoop<uint16_t>;
    case 4: return selectLoop<uint32_t>;
    case 8: return selectLoop<uint64_t>;
    default: return selectLoop<Words>;
  }
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
