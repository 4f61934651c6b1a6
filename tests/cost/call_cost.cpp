// Runs one call path a given number of times for callgrind. The cost of one call is the difference of two runs divided
// by the difference of their lengths. Usage: `call_cost direct 1000`.

#include <boxcar/dispatcher/handlers/profile/profiler.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "returning_calls.h"

namespace {

using namespace boxcar;

[[gnu::noinline]] void noOp(const Tensor& a, const Tensor& b) { asm volatile("" : : "r"(&a), "r"(&b) : "memory"); }

void redispatch(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  op.redispatchBoxed(keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::Tracer), stack);
}

[[gnu::noinline]] void runDirect(const Tensor& a, const Tensor& b, long count) {
  for (long i = 0; i < count; ++i) noOp(a, b);
}

[[gnu::noinline]] void runTyped(TypedOperatorHandle<void(const Tensor&, const Tensor&)> op, const Tensor& a,
                                const Tensor& b, long count) {
  for (long i = 0; i < count; ++i) op.call(a, b);
}

[[gnu::noinline]] void runBoxed(OperatorHandle op, const Tensor& a, const Tensor& b, long count) {
  Stack stack;
  for (long i = 0; i < count; ++i) {
    push(stack, a, b);
    op.callBoxed(stack);
  }
}

}  // namespace

BOXCAR_LIBRARY(cost, m) { m.def("no_op(Tensor a, Tensor b) -> ()"); }
BOXCAR_LIBRARY_IMPL(cost, CPU, m) { m.impl("no_op", BOXCAR_FN(noOp)); }
BOXCAR_LIBRARY_IMPL(_, Tracer, m) { m.fallback(CppFunction::makeFromBoxedFunction<&redispatch>()); }

int main(int argc, char** argv) {
  constexpr std::string_view kPaths[] = {"direct",
                                         "typed",
                                         "boxed",
                                         "typed_through_fallback",
                                         "boxed_through_fallback",
                                         "boxed_through_mode",
                                         "boxed_through_profiler",
                                         "boxed_through_full_profiler"};
  const std::string_view path = argc == 3 ? argv[1] : "";
  const std::string_view number = argc == 3 ? argv[2] : "";
  long count = 0;
  const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), count);
  const bool is_count = fault == std::errc() && end == number.data() + number.size() && count > 0;
  const auto returning = returningPaths();
  const bool is_returning = std::ranges::find(returning, path) != returning.end();
  if (!is_count || (!is_returning && std::ranges::find(kPaths, path) == std::end(kPaths))) {
    std::fputs("usage: call_cost PATH COUNT; the paths are:", stderr);
    for (const std::string_view each : kPaths) std::fprintf(stderr, " %s", each.data());
    for (const std::string_view each : returning) std::fprintf(stderr, " %s", each.data());
    std::fputs("\n", stderr);
    return 2;
  }
  const Tensor a = Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float);
  const Tensor b = Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float);
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("cost::no_op", "");
  const auto typed = op.typed<void(const Tensor&, const Tensor&)>();
  const bool through_fallback = path.ends_with("_through_fallback");
  const IncludeDispatchKeyGuard guard(through_fallback ? DispatchKeySet(DispatchKey::Tracer) : DispatchKeySet());
  std::optional<ModeGuard> mode;
  if (path == "boxed_through_mode") {
    mode.emplace(
        [](const OperatorHandle& called, DispatchKeySet keys, Stack& stack) { called.redispatchBoxed(keys, stack); });
  }
  // The full profiler has already seen more calls than it keeps.
  Profiler profiler({.most_calls = path == "boxed_through_full_profiler" ? size_t{16} : size_t{1} << 14});
  std::optional<HandlerGuard> profiling;
  if (path.ends_with("_profiler")) profiling.emplace(profiler);
  if (is_returning) {
    runReturning(path, a, b, count);
  } else if (path == "direct") {
    runDirect(a, b, count);
  } else if (path.starts_with("typed")) {
    runTyped(typed, a, b, count);
  } else {
    runBoxed(op, a, b, count);
  }
  return 0;
}
