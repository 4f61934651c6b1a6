#pragma once

#include <boxcar/dispatcher/boxing/boxing.h>
#include <boxcar/dispatcher/registry/operator_handle.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

namespace boxcar::numerics {

// Calls an operator's typed function, `boxcar::add(…)`, with the arguments at the top of a stack, and replaces them by
// its results.
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

// Notes typed calls by their operators' names; the generated files have some of these.
class TypedCalls final {
 public:
  TypedCalls(std::initializer_list<std::pair<const char*, TypedCall>> calls);
};

// Null where the operator has no typed function, as a plugin's.
const TypedCall* findTypedCall(const std::string& op);

}  // namespace boxcar::numerics
