#pragma once

#include <Python.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/schema/function_schema.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

// Callable objects of Python for what schemas describe: operators and functions of scripts.

namespace boxcar::python {

// What a callable object calls.
class Target {
 public:
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  virtual ~Target() = default;

  // The name in messages.
  virtual const std::string& name() const = 0;
  // The schemas to choose from; valid until the next call. The choice is remembered while edition() stays the same.
  virtual std::span<const FunctionSchema* const> candidates() = 0;
  virtual uint64_t edition() const noexcept { return 0; }
  // What call() and describe() run without the GIL, while other threads may change the candidates: candidate [index]
  // itself, or null where the index is enough.
  virtual const void* pick(size_t /*index*/) const noexcept { return nullptr; }
  // Replaces the arguments of candidate [index], which was [picked], on [stack] by its results. May run without the
  // GIL.
  virtual void call(size_t index, const void* picked, Stack& stack) = 0;
  // Whether a call on tensors of [elements] elements together is over in a few microseconds and waits for nothing, so
  // that it keeps the GIL.
  virtual bool isShort(size_t index, int64_t elements) const noexcept = 0;
  // What a call that failed with [message] adds to it; "" for nothing.
  virtual std::string describe(const void* /*picked*/, const Stack& /*stack*/, size_t /*height*/,
                               const char* /*message*/) const {
    return {};
  }
  // What help() shows below the schemas.
  virtual std::string docstring() { return {}; }
};

// Returns a new callable object of class [type], which callableType() made.
PyObject* newCallable(PyTypeObject* type, std::unique_ptr<Target> target);

// Returns the target of a callable object; null if it is none.
Target* targetOf(PyObject* object) noexcept;

// Returns the candidate that a call with [arguments] chooses, the last of them named by the tuple [keywords] (or null),
// and leaves the candidate's arguments on [stack], which is empty. Throws.
size_t chooseCandidate(Target& target, std::span<PyObject* const> arguments, PyObject* keywords, Stack& stack);

// Makes the class [name], whose objects have docstrings of their own. With [binds], they are methods if they are
// attributes of a class.
PyTypeObject* callableType(PyObject* module, const char* name, bool binds, PyGetSetDef* fields, getattrofunc attribute);

// Calls a callable object with positional arguments: returns a new reference. Throws.
PyObject* callTarget(PyObject* object, std::span<PyObject* const> arguments);

}  // namespace boxcar::python
