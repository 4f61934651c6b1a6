#include <boxcar/dispatcher/boxing/boxing.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/value_type.h>
#include <cxxabi.h>  // IWYU pragma: keep, for abi::__forced_unwind

#include <exception>
#include <new>
#include <string>

namespace boxcar::detail {

namespace {

// Returns a value as errors show it, without a tensor's contents, which may be long.
std::string textOf(const IValue& value) { return value.isTensor() || value.isNone() ? "a value" : repr(value); }

}  // namespace

constinit thread_local StackLease::Node* StackLease::free_nodes = nullptr;

StackLease::Node* StackLease::makeNode() {
  struct Owner {
    ~Owner() {
      while (free_nodes != nullptr) delete std::exchange(free_nodes, free_nodes->next);
    }
  };
  static thread_local Owner owner;
  auto* node = new Node;
  node->stack.reserve(16);
  return node;
}

void failMistypedArgument(const OperatorHandle& op, const Stack& stack, size_t count, size_t wrong) {
  const IValue& value = peek(stack, wrong, count);
  const FunctionSchema& schema = op.schema();
  // A kernel may be called directly for an operator that it was not registered for.
  BOXCAR_CHECK(schema.arguments().size() == count,
               "{}() was called with a kernel that takes {} arguments, but found {} of type {} at position {}, which "
               "does not fit. Schema: {}",
               op.operator_name(), count, textOf(value), *typeOf(value), wrong + 1, schema);
  const Argument& argument = schema.arguments()[wrong];
  BOXCAR_FAIL(
      "{}() expected a value of type {} for argument '{}' (position {} of {}), but found {} of type {}. Schema: {}",
      op.operator_name(), *argument.type(), argument.name(), wrong + 1, count, textOf(value), *typeOf(value), schema);
}

void failMistypedArgument(const OperatorHandle& op, const Stack& stack, std::span<const ArgumentMatcher> matchers) {
  size_t wrong = 0;
  while (wrong + 1 < matchers.size() && matchers[wrong](peek(stack, wrong, matchers.size()))) ++wrong;
  failMistypedArgument(op, stack, matchers.size(), wrong);
}

void failArgumentsMissing(const OperatorHandle& op, const Stack& stack, size_t count) {
  BOXCAR_FAIL(
      "{}() reached a kernel that takes {} arguments, but the stack holds {} values: a handler above it consumed "
      "arguments, or the operator was redefined during the call. Pass all arguments on. Schema: {}",
      op.operator_name(), count, stack.size(), op.schema());
}

void checkArgumentCount(const OperatorHandle& op, size_t given) {
  const FunctionSchema& schema = op.schema();
  BOXCAR_CHECK(schema.arguments().size() == given,
               "{}() takes {} arguments since it was redefined, but was called with {} through an older handle; make a "
               "new handle with typed<>(). Schema: {}",
               op.operator_name(), schema.arguments().size(), given, schema);
}

void rethrowAsError(const OperatorHandle& op) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    BOXCAR_FAIL("{}() failed: out of memory", op.operator_name());
  } catch (const std::exception& exception) {
    BOXCAR_FAIL("{}() failed: {}", op.operator_name(), exception.what());
  } catch (abi::__forced_unwind&) {
    throw;  // the thread is being cancelled
  } catch (...) {
    BOXCAR_FAIL("{}() failed: its kernel or a handler threw something that is not a std::exception",
                op.operator_name());
  }
}

void failResultCount(const OperatorHandle& op, size_t expected, size_t found) {
  BOXCAR_FAIL(
      "a boxed kernel or handler of {} left {} values on the stack, but the operator returns {}: it must pop all its "
      "arguments and push its results",
      op.operator_name(), found, expected);
}

void failMistypedResult(const OperatorHandle& op, const Stack& stack, size_t wrong) {
  const FunctionSchema& schema = op.schema();
  BOXCAR_CHECK(schema.returns().size() == stack.size(),
               "a boxed kernel or handler that was called for {} left {} of type {} on the stack as result {} of {}, "
               "which does not fit its caller. Schema: {}",
               op.operator_name(), textOf(stack[wrong]), *typeOf(stack[wrong]), wrong + 1, stack.size(), schema);
  BOXCAR_FAIL(
      "a boxed kernel or handler of {} left {} of type {} on the stack as result {} of {}, but the operator returns "
      "{}: {}",
      op.operator_name(), textOf(stack[wrong]), *typeOf(stack[wrong]), wrong + 1, stack.size(),
      *schema.returns()[wrong].type(), schema);
}

}  // namespace boxcar::detail
