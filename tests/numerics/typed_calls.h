#pragma once

#include <boxcar/dispatcher/boxing/boxing.h>
#include <boxcar/dispatcher/registry/operator_handle.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

namespace boxcar::numerics {

// Calls an operator's typed function, `boxcar::add(…)`, with the arguments at the top of a stack, and replaces them by
// the results.
using TypedCall = std::function<void(const OperatorHandle& op, Stack& stack)>;

// [function] takes the arguments in the schema's order.
template <class R, class... Args>
TypedCall typedCall(R (*function)(Args...)) {
  return [function](const OperatorHandle& op, Stack& stack) {
    detail::callWithStack<R, Args...>(
        op, stack, [&](auto&&... args) -> R { return function(static_cast<decltype(args)>(args)...); },
        std::index_sequence_for<Args...>());
  };
}

// Registers typed calls by operator name; the generated files define such objects.
class TypedCalls final {
 public:
  TypedCalls(std::initializer_list<std::pair<const char*, TypedCall>> calls);
};

// Returns null if the operator has no typed function, as one from a plugin.
const TypedCall* findTypedCall(const std::string& op);

}  // namespace boxcar::numerics
