#include <boxcar/backends/composite/fused_append.h>
#include <boxcar/backends/composite/plain_call.h>
#include <boxcar/backends/native/append.h>
#include <boxcar/ops.h>

#include <cstdint>
#include <utility>

// fused::append: a cat that may use up its first tensor. It is boxed, because only the stack tells that a caller gives
// its reference away.

namespace boxcar::composite {
namespace {

constexpr size_t kArguments = 3;

void replaceArguments(Stack* stack, Tensor result) {
  drop(*stack, kArguments);
  stack->push_back(std::move(result));
}

}  // namespace

void callCatForAppend(const OperatorHandle& /*op*/, DispatchKeySet /*keys*/, Stack* stack) {
  const Tensor parts[] = {peek(*stack, 0, kArguments).toTensor(), peek(*stack, 1, kArguments).toTensor()};
  replaceArguments(stack, boxcar::cat(parts, peek(*stack, 2, kArguments).toInt()));
}

void append(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  if (isPlainCpuCall(keys)) {
    Tensor result = native::appended(peek(*stack, 0, kArguments).toTensor(), peek(*stack, 1, kArguments).toTensor(),
                                     peek(*stack, 2, kArguments).toInt());
    if (result.defined()) return replaceArguments(stack, std::move(result));
  }
  callCatForAppend(op, keys, stack);
}

}  // namespace boxcar::composite
