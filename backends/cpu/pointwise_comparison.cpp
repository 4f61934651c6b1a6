#include <boxcar/backends/cpu/pointwise_registration.h>

namespace boxcar::cpu {
namespace {

template <class T>
struct Equal {
  bool operator()(T a, T b) const { return a == b; }
};
template <class T>
struct NotEqual {
  bool operator()(T a, T b) const { return a != b; }
};
template <class T>
struct Less {
  bool operator()(T a, T b) const { return a < b; }
};
template <class T>
struct LessOrEqual {
  bool operator()(T a, T b) const { return a <= b; }
};
template <class T>
struct Greater {
  bool operator()(T a, T b) const { return a > b; }
};
template <class T>
struct GreaterOrEqual {
  bool operator()(T a, T b) const { return a >= b; }
};

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CPU, m) {
  constexpr unsigned kCompared = kFunctional | kTensorOut | kScalarOut;

  // operator, functor, result, element types, overloads
  registerBinary<"eq", Equal, Result::kBool, kAllTypes, kCompared>(m);
  registerBinary<"ne", NotEqual, Result::kBool, kAllTypes, kCompared>(m);
  registerBinary<"lt", Less, Result::kBool, kRealAndBoolTypes, kCompared>(m);
  registerBinary<"le", LessOrEqual, Result::kBool, kRealAndBoolTypes, kCompared>(m);
  registerBinary<"gt", Greater, Result::kBool, kRealAndBoolTypes, kCompared>(m);
  registerBinary<"ge", GreaterOrEqual, Result::kBool, kRealAndBoolTypes, kCompared>(m);
}

}  // namespace boxcar::cpu
