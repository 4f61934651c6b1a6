// Does not compile: every mistake in the block below gives one error, which compile_errors_test.sh looks for.

#include <boxcar/dispatcher/registry/library.h>

#include <vector>

namespace {

using namespace boxcar;

void boxedKernel(const OperatorHandle&, Stack*) {}
[[maybe_unused]] Tensor takesFloat(const Tensor& x, float) { return x; }
[[maybe_unused]] Tensor takesPointer(Tensor* x) { return *x; }
[[maybe_unused]] void writes(int64_t&) {}
[[maybe_unused]] std::vector<int> returnsInts(const Tensor&) { return {}; }
struct Overloaded {
  Tensor operator()(const Tensor& x) const { return x; }
  int64_t operator()(int64_t n) const { return n; }
};
[[maybe_unused]] void boxedOfAnother(int) {}

}  // namespace

// Some mistakes are only instantiated if nothing else is wrong; ALONE compiles them alone.
BOXCAR_LIBRARY_FRAGMENT(wrong, m) {
#ifndef ALONE
  m.impl("f", CppFunction::makeFromBoxedFunction<&boxedKernel>);
  m.impl("f", &KernelFunction::makeFallthrough);
  m.impl("f", &takesFloat);
  m.impl("f", BOXCAR_FN(takesPointer));
  m.impl("f", &writes);
  m.impl("f", BOXCAR_FN(returnsInts));
  m.impl("f", Overloaded());
  m.impl("f", &boxedKernel);
  m.impl("f", 42);
  m.impl("f", [](const Tensor& x, int) { return x; });
#else
  m.impl("f", CppFunction::makeFromBoxedFunction<&boxedOfAnother>());
#endif
}
