#include <boxcar/backends/native/pointwise_registration.h>
#include <boxcar/backends/native/special_functions.h>
#include <boxcar/dispatcher/registry/library.h>

namespace boxcar::native {
namespace {

// These functions have no checks and no parameters.
struct PlainFunction {};

void registerSpecialFunctions(Library& m) {
#define BOXCAR_REGISTER_FUNCTION(function, name, forms)                                                               \
  registerUnaryOperator<kFunctionPointwise<name, Functor::kUnaryFunction, static_cast<int>(UnaryFunction::function)>, \
                        PlainFunction, forms>(m, Where::current());
  BOXCAR_UNARY_FUNCTIONS(BOXCAR_REGISTER_FUNCTION)
#undef BOXCAR_REGISTER_FUNCTION
#define BOXCAR_REGISTER_FUNCTION(function, name, forms)                                                              \
  registerBinaryOperator<                                                                                            \
      kFunctionPointwise<name, Functor::kBinaryFunction, static_cast<int>(BinaryFunction::function)>, PlainFunction, \
      forms>(m, Where::current());
  BOXCAR_BINARY_FUNCTIONS(BOXCAR_REGISTER_FUNCTION)
#undef BOXCAR_REGISTER_FUNCTION
}

}  // namespace

// Not BOXCAR_NATIVE_KERNELS: a device with pointwise kernels has no loops for these.
BOXCAR_LIBRARY_IMPL(aten, CPU, m) { registerSpecialFunctions(m); }
BOXCAR_LIBRARY_IMPL(aten, Meta, m) { registerSpecialFunctions(m); }

}  // namespace boxcar::native
