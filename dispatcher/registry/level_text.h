#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What a level of the dispatcher does to a call, in words: for the explanation of a call and for the dispatch trace.
// Whoever registers a kernel for a functionality registers a describer beside it.

namespace boxcar {

// A tensor inside another one, as vmap wraps it.
struct WrappedKeys {
  uint64_t number;        // of the level that did so, from 1, the outermost
  DispatchKeySet inside;  // the keys of the tensor inside
  uint64_t level = 0;     // its name in this process
};

// An argument that a call is dispatched on, and the keys that it brings.
struct ArgumentKeys {
  std::string name;
  size_t index;  // among all arguments, from 0
  TypePtr type;
  DispatchKeySet keys;
  // The dtypes of its tensors, each once; empty if they are not known.
  std::vector<ScalarType> dtypes = {};
  // The tensors inside, the innermost first. Empty if [value] is known, which holds them itself.
  std::vector<WrappedKeys> wrapped = {};
  // None if only the keys are known.
  std::optional<IValue> value = std::nullopt;
};

// A call that has reached a level. The describer says what the kernel there does, without doing it, and changes the
// arguments and keys into those of the call below.
struct LevelCall {
  enum class Next : uint8_t {
    kBelow,  // the kernel calls the operator with the keys [below]
    kAnew,   // it calls the operator, or others, on [arguments]
    kParts,  // it is made of calls of other operators
    kEnd,    // the call ends there
  };

  LevelCall(const OperatorHandle& op, DispatchKey key, TableEntry entry, DispatchKeySet keys,
            std::vector<ArgumentKeys> arguments);

  // Makes the call below one of another operator, which gets the arguments of the same names.
  void goOnAs(const OperatorHandle& other);

  OperatorHandle op;
  DispatchKey key;   // of the level: a runtime key
  TableEntry entry;  // the kernel
  DispatchKeySet keys;
  std::vector<ArgumentKeys> arguments;

  // Clauses that begin with a verb: "casts self from float32 to bfloat16". Empty if nobody knows.
  std::string effect;
  Next next = Next::kBelow;
  DispatchKeySet below;     // by default, those of [keys] below the level
  DispatchKeySet excluded;  // what the thread excludes besides, until the call returns
};

using LevelDescriber = void (*)(LevelCall& call);

// Sets what describes calls at a functionality key, on all threads. Null removes it.
BOXCAR_API void setLevelDescriber(DispatchKey functionality, LevelDescriber describer) noexcept;
BOXCAR_API bool hasLevelDescriber(DispatchKey key) noexcept;
// Asks it, if there is one. A kernel for CompositeImplicitAutograd needs none.
BOXCAR_API void describeLevel(LevelCall& call);

// Gives an argument another value, and the keys and dtypes of that.
BOXCAR_API void setValue(ArgumentKeys& argument, IValue value);

// Returns the arguments of [schema] that calls are dispatched on: tensors and generators, also in optionals and lists.
// Their keys are empty.
BOXCAR_API std::vector<ArgumentKeys> dispatchArgumentsOf(const FunctionSchema& schema);
// Returns them with the values of a call, and what these bring. There must be a value for each argument of the schema.
BOXCAR_API std::vector<ArgumentKeys> dispatchArgumentsOf(const FunctionSchema& schema, std::span<const IValue> values);

// Returns what the level at [key] does to a call with these arguments, all that the schema has; empty if nobody knows.
std::string effectAt(const OperatorHandle& op, DispatchKey key, DispatchKeySet keys, std::span<const IValue> values);

// Returns "a", "a and b", "a, b and c".
BOXCAR_API std::string enumerated(std::span<const std::string> words);

}  // namespace boxcar
