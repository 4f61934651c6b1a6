#pragma once

#include <boxcar/dispatcher/registry/level_text.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar {

// A key that a call meets and passes over.
struct PassedKey {
  DispatchKey key;  // a runtime key
  // Whether this thread excludes it; otherwise its table entry lets the call through.
  bool is_excluded;
  TableEntry table_entry;
};

// A level that a call meets, and what happens there.
struct ExplainedLevel {
  OperatorName op;
  DispatchKey key;  // Undefined if no key is left
  TableEntry table_entry;
  std::string effect;  // as LevelCall has it
  LevelCall::Next next;
  DispatchKeySet below;  // of kBelow and kAnew: the keys that the next level is found with
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
  // The way of the call from there on, the highest level first, as far as it can be told without making the call.
  std::vector<ExplainedLevel> levels = {};
};

// Explains how a call of [op] would be dispatched on this thread now, without running anything. [keys] holds the keys
// of each argument that is dispatched on, in argument order. Throws Error if the operator is not defined, or if the
// number of keys differs from the number of such arguments.
BOXCAR_API DispatchExplanation explainDispatch(const OperatorHandle& op, std::span<const DispatchKeySet> keys);
// As above, for arguments that dispatchArgumentsOf() has returned and the caller has filled in.
BOXCAR_API DispatchExplanation explainDispatch(const OperatorHandle& op, std::vector<ArgumentKeys> arguments);
// As above, for the arguments at the top of [stack]. Throws Error if the stack does not hold all of them.
BOXCAR_API DispatchExplanation explainDispatch(const OperatorHandle& op, const Stack& stack);

// Returns the names of the runtime keys of a set, in iteration order. For a set without backends, such as a thread's,
// returns the names of its functionalities.
BOXCAR_API std::vector<std::string_view> keyNamesOf(DispatchKeySet keys);
// Returns these names as text, "CPU, ADInplaceOrView"; "none" if the set is empty.
BOXCAR_API std::string listKeys(DispatchKeySet keys);

// One topic per line: the keys each argument brings, the thread's sets, the keys passed over and why, where the call
// gets to, and, if nothing answers there, what would. Then what that level does, and so on to the end.
BOXCAR_API std::string toString(const DispatchExplanation& explanation);

}  // namespace boxcar
