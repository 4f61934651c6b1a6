#include <boxcar/backends/cpu/pointwise_registration.h>
#include <boxcar/backends/cpu/pointwise_table.h>
#include <boxcar/backends/cpu/registration.h>

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

template <class T>
struct BitwiseNot {
  T operator()(T a) const {
    if constexpr (std::is_same_v<T, bool>) {
      return !a;
    } else {
      return static_cast<T>(~a);
    }
  }
};

// The operators' shifts in place have names of their own, not those of the others with a `_`.
template <Name name, const Pointwise& op>
void registerShiftInPlace(Library& m) {
  using Tensors = Kernels<op, void, Arguments<const Tensor&, const Tensor&>, Arguments<>>;
  using WithNumber = Kernels<op, void, Arguments<const Tensor&, const Scalar&>, Arguments<>>;
  const std::string text(name.view());
  m.impl(text + ".Tensor", BOXCAR_FN(Tensors::inPlace));
  m.impl(text + ".Scalar", BOXCAR_FN(WithNumber::inPlace));
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  BOXCAR_BITWISE_OPERATORS(BOXCAR_REGISTER_POINTWISE)
  registerShiftInPlace<"__ilshift__", kPointwise<"__lshift__", ShiftLeft, 2, Result::kSame, kIntegralTypes>>(m);
  registerShiftInPlace<"__irshift__", kPointwise<"__rshift__", ShiftRight, 2, Result::kSame, kIntegralTypes>>(m);
}

}  // namespace boxcar::cpu
