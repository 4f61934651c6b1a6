#pragma once

#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar {

// An argument that a call is dispatched on, and the keys that it brings.
struct ArgumentKeys {
  std::string name;
  size_t index;  // among all arguments, from 0
  TypePtr type;
  DispatchKeySet keys;
};

// A key that a call meets on its way and does not stop at.
struct PassedKey {
  DispatchKey key;  // a runtime key
  // Whether this thread excludes it; else its cell lets the call through.
  bool is_excluded;
  TableCell cell;
};

// How a call finds its kernel. The sets with backends are those of calls; the thread's hold functionalities alone.
struct DispatchExplanation {
  FunctionSchema schema;
  std::vector<ArgumentKeys> arguments;
  DispatchKeySet merged;    // of all arguments
  DispatchKeySet included;  // by this thread
  DispatchKeySet excluded;  // by this thread
  // The functionalities that the operator lets through on every backend, highest first, each with a cell of it.
  std::vector<PassedKey> lets_through;
  // What the call is dispatched on: the arguments' keys and the included ones, less the excluded ones and those that
  // the operator lets through.
  DispatchKeySet keys;
  // What lies above the chosen key, highest first.
  std::vector<PassedKey> passed;
  // Where the call stops, and what it finds there. Undefined where no key is left.
  DispatchKey chosen;
  TableCell cell;
  // The keys that the operator has kernels for, as errors list them.
  std::string kernel_keys;
  // Whether it has a kernel for CompositeExplicitAutograd, beside which one for CompositeImplicitAutograd is none.
  bool withdraws_implicit = false;
};

// Explains how a call of [op] would be dispatched on this thread now, without running anything. [keys]: what each
// argument that is dispatched on brings, in their order. An Error where the operator is not defined, or where there are
// more or fewer keys than such arguments.
BOXCAR_API DispatchExplanation explainDispatch(const OperatorHandle& op, std::span<const DispatchKeySet> keys);
// The same for the arguments at the top of [stack], which holds all of them; an Error where it does not.
BOXCAR_API DispatchExplanation explainDispatch(const OperatorHandle& op, const Stack& stack);

// The arguments of [schema] that calls are dispatched on: tensors and generators, also in optionals and lists. Their
// keys are empty.
BOXCAR_API std::vector<ArgumentKeys> dispatchArgumentsOf(const FunctionSchema& schema);

// The names of the runtime keys of a set, in the order of iteration; of a set without backends, as a thread has them,
// the functionalities'.
BOXCAR_API std::vector<std::string_view> keyNamesOf(DispatchKeySet keys);
// The same as "CPU, ADInplaceOrView"; "none" where there is none.
BOXCAR_API std::string listKeys(DispatchKeySet keys);

// One subject a line: what each argument brings, the thread's sets, what is passed over and why, where the call ends,
// and, where nothing answers there, what would.
BOXCAR_API std::string toString(const DispatchExplanation& explanation);

}  // namespace boxcar
