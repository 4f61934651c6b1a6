#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
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

// A key that a call meets and passes over.
struct PassedKey {
  DispatchKey key;  // a runtime key
  // Whether this thread excludes it; otherwise its table entry lets the call through.
  bool is_excluded;
  TableEntry table_entry;
};

// How a call finds its kernel. The key sets of the call include backends; the thread's sets hold only functionalities.
struct DispatchExplanation {
  FunctionSchema schema;
  std::vector<ArgumentKeys> arguments;
  DispatchKeySet merged;    // of all arguments
  DispatchKeySet included;  // by this thread
  DispatchKeySet excluded;  // by this thread
  // The functionalities that the operator lets through on every backend, highest first, each with one of its table
  // entries.
  std::vector<PassedKey> lets_through;
  // What the call is dispatched on: the arguments' keys and the included ones, minus the excluded ones and those that
  // the operator lets through.
  DispatchKeySet keys;
  // The keys above the chosen key, highest first.
  std::vector<PassedKey> passed;
  // Where the call stops, and what it finds there. Undefined if no key is left.
  DispatchKey chosen;
  TableEntry table_entry;
  // The keys that the operator has kernels for, as errors list them.
  std::string kernel_keys;
  // Whether it has a kernel for CompositeExplicitAutograd, which disables one for CompositeImplicitAutograd.
  bool withdraws_implicit = false;
};

// Explains how a call of [op] would be dispatched on this thread now, without running anything. [keys] holds the keys
// of each argument that is dispatched on, in argument order. Throws Error if the operator is not defined, or if the
// number of keys differs from the number of such arguments.
BOXCAR_API DispatchExplanation explainDispatch(const OperatorHandle& op, std::span<const DispatchKeySet> keys);
// As above, for the arguments at the top of [stack]. Throws Error if the stack does not hold all of them.
BOXCAR_API DispatchExplanation explainDispatch(const OperatorHandle& op, const Stack& stack);

// Returns the arguments of [schema] that calls are dispatched on: tensors and generators, also in optionals and lists.
// Their keys are empty.
BOXCAR_API std::vector<ArgumentKeys> dispatchArgumentsOf(const FunctionSchema& schema);

// Returns the names of the runtime keys of a set, in iteration order. For a set without backends, such as a thread's,
// returns the names of its functionalities.
BOXCAR_API std::vector<std::string_view> keyNamesOf(DispatchKeySet keys);
// Returns these names as text, "CPU, ADInplaceOrView"; "none" if the set is empty.
BOXCAR_API std::string listKeys(DispatchKeySet keys);

// One topic per line: the keys each argument brings, the thread's sets, the keys passed over and why, where the call
// ends, and, if nothing answers there, what would.
BOXCAR_API std::string toString(const DispatchExplanation& explanation);

}  // namespace boxcar
