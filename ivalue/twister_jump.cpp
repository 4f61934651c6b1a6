#include <boxcar/ivalue/twister_jump.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <vector>

// A step of the Mersenne twister is linear over bits, so the state after n steps is a sum (exclusive or) of early
// states: those numbered by the terms of x^n modulo the characteristic polynomial of a step. Repeated squaring gives
// that power (Haramoto, Matsumoto, Nishimura, Panneton and L'Ecuyer 2008).

namespace boxcar {
namespace {

using Engine = std::mt19937;

// Up to this many numbers, drawing them one by one is faster than a jump.
constexpr uint64_t kFew = uint64_t{1} << 22;

constexpr size_t kStateSize = Engine::state_size;
constexpr size_t kDegree = 19937;
constexpr size_t kBits = 64;
constexpr size_t kWords = (kDegree + kBits - 1) / kBits;

// The characteristic polynomial's terms below x^19937, as the Berlekamp-Massey algorithm finds them from any bit of the
// sequence.
constexpr uint16_t kTerms[] = {
    0,     1189,  1416,  1585,  1643,  1870,  2493,  2773,  3000,  3227,  3454,  3681,  3908,  4135,  4362,
    4753,  5661,  6337,  6569,  7129,  7477,  7525,  7583,  7752,  7979,  8206,  9505,  9901,  9969,  10128,
    10693, 10761, 10920, 11089, 11147, 11157, 11215, 11321, 11374, 11384, 11485, 11611, 11712, 11717, 11838,
    11881, 11944, 11997, 12277, 12335, 12393, 12504, 12509, 12620, 12673, 12731, 12736, 12789, 12905, 12958,
    12963, 13137, 13185, 13190, 13243, 13301, 13412, 13528, 13533, 13639, 13697, 13760, 13813, 13866, 14093,
    14151, 14209, 14320, 14325, 14436, 14547, 14552, 14605, 14721, 14774, 14779, 14953, 15001, 15006, 15059,
    15117, 15228, 15344, 15349, 15455, 15513, 15576, 15629, 15682, 15909, 15967, 16025, 16136, 16141, 16252,
    16363, 16368, 16421, 16537, 16590, 16595, 16817, 16822, 16875, 16933, 17044, 17160, 17271, 17329, 17445,
    17498, 17725, 17783, 17841, 17952, 18068, 18179, 18237, 18406, 18633, 18691, 18860, 19087, 19314,
};
static_assert(std::size(kTerms) == 134 && kDegree - std::end(kTerms)[-1] > kBits, "reduce() takes a word at a time");

// Bit i is the coefficient of x^i.
using Polynomial = std::array<uint64_t, kWords>;
using Product = std::array<uint64_t, 2 * kWords>;

template <class Bits>
void addShifted(Bits& bits, uint64_t word, size_t shift) {
  const size_t at = shift / kBits;
  const size_t rest = shift % kBits;
  bits[at] ^= word << rest;
  if (rest != 0) bits[at + 1] ^= word >> (kBits - rest);
}

// Adds x^(19937 + [shift]) times [word], reduced to lower terms.
template <class Bits>
void addReduced(Bits& bits, uint64_t word, size_t shift) {
  for (const uint16_t term : kTerms) addShifted(bits, word, term + shift);
}

// Removes and returns the terms above x^19936 in the last word of a polynomial.
template <class Bits>
uint64_t takeExcess(Bits& bits) {
  constexpr size_t kKept = kDegree % kBits;
  const uint64_t excess = bits[kWords - 1] >> kKept;
  bits[kWords - 1] &= (uint64_t{1} << kKept) - 1;
  return excess;
}

// Returns the bits of a half word, each followed by a zero.
uint64_t spread(uint64_t half) {
  half = (half | half << 16) & 0x0000ffff0000ffff;
  half = (half | half << 8) & 0x00ff00ff00ff00ff;
  half = (half | half << 4) & 0x0f0f0f0f0f0f0f0f;
  half = (half | half << 2) & 0x3333333333333333;
  return (half | half << 1) & 0x5555555555555555;
}

void square(Polynomial& polynomial) {
  Product product;
  for (size_t i = 0; i < kWords; ++i) {
    product[2 * i] = spread(polynomial[i] & 0xffffffff);
    product[2 * i + 1] = spread(polynomial[i] >> 32);
  }
  for (size_t i = 2 * kWords; i-- > kWords;) {
    const uint64_t word = product[i];
    product[i] = 0;
    addReduced(product, word, i * kBits - kDegree);
  }
  addReduced(product, takeExcess(product), 0);
  std::copy_n(product.begin(), kWords, polynomial.begin());
}

void multiplyByX(Polynomial& polynomial) {
  for (size_t i = kWords; i-- > 1;) polynomial[i] = polynomial[i] << 1 | polynomial[i - 1] >> (kBits - 1);
  polynomial[0] <<= 1;
  addReduced(polynomial, takeExcess(polynomial), 0);
}

Polynomial powerOfX(uint64_t exponent) {
  Polynomial power{1};
  for (int bit = std::bit_width(exponent); bit-- > 0;) {
    square(power);
    if ((exponent >> bit & 1) != 0) multiplyByX(power);
  }
  return power;
}

// Returns the first [count] words of the sequence; the first ones are the state that [seed] gives.
std::vector<uint32_t> firstWords(uint32_t seed, size_t count) {
  std::vector<uint32_t> words(count);
  words[0] = seed;
  for (size_t i = 1; i < kStateSize; ++i) {
    const uint32_t before = words[i - 1];
    words[i] = Engine::initialization_multiplier * (before ^ before >> 30) + static_cast<uint32_t>(i);
  }
  constexpr uint32_t kLower = (uint32_t{1} << Engine::mask_bits) - 1;
  for (size_t i = kStateSize; i < count; ++i) {
    const uint32_t joined = (words[i - kStateSize] & ~kLower) | (words[i - kStateSize + 1] & kLower);
    const uint32_t twist = (joined & 1) != 0 ? Engine::xor_mask : 0;
    words[i] = words[i - kStateSize + Engine::shift_size] ^ joined >> 1 ^ twist;
  }
  return words;
}

// Provides an engine's state in the form of a seed sequence.
struct State {
  using result_type = uint32_t;
  std::array<uint32_t, kStateSize> words{};

  template <class Iterator>
  void generate(Iterator begin, Iterator end) const {
    std::copy_n(words.begin(), end - begin, begin);
  }
};

}  // namespace

void seedAndJump(std::mt19937& engine, uint32_t seed, uint64_t drawn) {
  if (drawn < kFew) {
    engine.seed(seed);
    engine.discard(drawn);
    return;
  }
  const Polynomial power = powerOfX(drawn);
  const std::vector<uint32_t> words = firstWords(seed, kDegree + kStateSize);
  State state;
  for (size_t i = 0; i < kDegree; ++i) {
    if ((power[i / kBits] >> i % kBits & 1) == 0) continue;
    for (size_t k = 0; k < kStateSize; ++k) state.words[k] ^= words[i + k];
  }
  engine.seed(state);
}

}  // namespace boxcar
