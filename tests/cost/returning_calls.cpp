#include "returning_calls.h"

#include <boxcar/dispatcher/registry/library.h>

namespace {

using namespace boxcar;

// Returns one of its arguments, so that the result costs only what a call does with it.
[[gnu::noinline]] Tensor first(const Tensor& a, const Tensor& b) {
  asm volatile("" : : "r"(&b) : "memory");
  return a;
}

[[gnu::noinline]] void runDirect(const Tensor& a, const Tensor& b, long count) {
  for (long i = 0; i < count; ++i) first(a, b);
}

[[gnu::noinline]] void runTyped(TypedOperatorHandle<Tensor(const Tensor&, const Tensor&)> op, const Tensor& a,
                                const Tensor& b, long count) {
  for (long i = 0; i < count; ++i) op.call(a, b);
}

[[gnu::noinline]] void runBoxed(OperatorHandle op, const Tensor& a, const Tensor& b, long count) {
  Stack stack;
  for (long i = 0; i < count; ++i) {
    push(stack, a, b);
    op.callBoxed(stack);
    drop(stack, 1);
  }
}

}  // namespace

BOXCAR_LIBRARY_FRAGMENT(cost, m) { m.def("first(Tensor a, Tensor b) -> Tensor"); }
BOXCAR_LIBRARY_IMPL(cost, CPU, m) { m.impl("first", BOXCAR_FN(first)); }

namespace boxcar {

std::span<const std::string_view> returningPaths() {
  static constexpr std::string_view kPaths[] = {"direct_returning", "typed_returning", "boxed_returning",
                                                "typed_returning_through_fallback", "boxed_returning_through_fallback"};
  return kPaths;
}

void runReturning(std::string_view path, const Tensor& a, const Tensor& b, long count) {
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("cost::first", "");
  if (path.starts_with("direct")) {
    runDirect(a, b, count);
  } else if (path.starts_with("typed")) {
    runTyped(op.typed<Tensor(const Tensor&, const Tensor&)>(), a, b, count);
  } else {
    runBoxed(op, a, b, count);
  }
}

}  // namespace boxcar
