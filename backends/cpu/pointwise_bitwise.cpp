#include <boxcar/backends/cpu/pointwise_registration.h>

#include <cstdint>
#include <type_traits>

namespace boxcar::cpu {
namespace {

template <class T>
struct BitwiseAnd {
  T operator()(T a, T b) const { return static_cast<T>(a & b); }
};
template <class T>
struct BitwiseOr {
  T operator()(T a, T b) const { return static_cast<T>(a | b); }
};
template <class T>
struct BitwiseXor {
  T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};

// Shifts by as many bits as there are, or by fewer than none, leave what infinitely many would.
template <class T>
inline constexpr int kBits = 8 * sizeof(T);

template <class T>
struct ShiftLeft {
  T operator()(T a, T b) const {
    if (b < 0 || static_cast<int64_t>(b) >= kBits<T>) return 0;
    return static_cast<T>(static_cast<uint64_t>(a) << b);
  }
};
template <class T>
struct ShiftRight {
  T operator()(T a, T b) const {
    const bool all = b < 0 || static_cast<int64_t>(b) >= kBits<T>;
    return static_cast<T>(a >> (all ? kBits<T> - 1 : b)) * (all && std::is_unsigned_v<T> ? 0 : 1);
  }
};

// The shifts in place have names of their own, not those of the others with a `_`.
template <Name name, template <class> class F>
void registerShiftInPlace(Library& m) {
  using Op = Binary<name, F, Result::kSame, kIntegralTypes>;
  const std::string op(name.view());
  m.impl(op + ".Tensor", BOXCAR_FN(Op::tensorInPlace));
  m.impl(op + ".Scalar", BOXCAR_FN(Op::scalarInPlace));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CPU, m) {
  constexpr unsigned kLogical = kUnnamedFunctional | kInPlace | kOut | kNoScalar;
  constexpr unsigned kBitwise = kFunctional | kInPlace | kTensorOut | kScalarTensor;
  constexpr auto kBitTypes = kBoolType + kIntegralTypes;

  // operator, functor, result, element types, overloads
  registerBinary<"logical_and", BitwiseAnd, Result::kTruth, kBoolType, kLogical>(m);
  registerBinary<"logical_or", BitwiseOr, Result::kTruth, kBoolType, kLogical>(m);
  registerBinary<"logical_xor", BitwiseXor, Result::kTruth, kBoolType, kLogical>(m);
  registerBinary<"bitwise_and", BitwiseAnd, Result::kSame, kBitTypes, kBitwise>(m);
  registerBinary<"bitwise_or", BitwiseOr, Result::kSame, kBitTypes, kBitwise>(m);
  registerBinary<"bitwise_xor", BitwiseXor, Result::kSame, kBitTypes, kBitwise>(m);
  registerBinary<"__lshift__", ShiftLeft, Result::kSame, kIntegralTypes, kFunctional>(m);
  registerBinary<"__rshift__", ShiftRight, Result::kSame, kIntegralTypes, kFunctional>(m);
  registerShiftInPlace<"__ilshift__", ShiftLeft>(m);
  registerShiftInPlace<"__irshift__", ShiftRight>(m);
}

}  // namespace boxcar::cpu
