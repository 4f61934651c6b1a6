#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

// What a backend lets scripts switch on for a block, `with no_grad() { … }`, and that is not a handler of calls.

namespace boxcar {

// A call of a script's function that a scope may answer, as a device does that recorded it before.
struct FunctionCall {
  std::string_view name;
  std::span<const IValue> arguments;
  // The script's constants that the function reads in addition to its arguments.
  std::span<const IValue> constants;
  // Runs the function on arguments of the same kinds.
  const std::function<IValue(std::span<const IValue> arguments)>& run;
  // What the scope stores with the function, for as long as the function exists; null at first.
  std::shared_ptr<void>& kept;
};

// What is switched on for one block.
class BOXCAR_API Scope {
 public:
  virtual ~Scope() = default;

  // Switch it on and off for this thread: once each, on the same thread. Both throw Error. A scope that is destroyed
  // while it is on switches itself off.
  virtual void enter() = 0;
  virtual void leave() = 0;

  // Whether call() replaces the calls of functions in the block.
  virtual bool servesFunctions() const noexcept { return false; }
  // Returns the function's result.
  virtual IValue call(const FunctionCall& function);
};

// The scope that a Guard is: an object that switches something on for its lifetime.
template <class Guard, auto... arguments>
class GuardScope final : public Scope {
 public:
  void enter() override { guard_.emplace(arguments...); }
  void leave() override { guard_.reset(); }

 private:
  std::optional<Guard> guard_;
};

// A kind of scope that scripts know by name.
struct ScopeKind {
  // Its name and parameters: "no_grad() -> ()".
  std::string_view schema;
  // A sentence for editors.
  std::string_view help;
  // Gets values of all of the schema's arguments, of their types. Throws Error.
  std::unique_ptr<Scope> (*make)(std::span<const IValue> arguments);

  // "no_grad".
  std::string_view name() const noexcept { return schema.substr(0, schema.find('(')); }
};

// Adds kinds to those that scripts know. Backends construct such objects when the program starts; scripts do not see
// what is added after the first script was compiled. [kinds] must live as long as the program.
class BOXCAR_API RegisterScopeKinds final {
 public:
  explicit RegisterScopeKinds(std::span<const ScopeKind> kinds) noexcept;

 private:
  friend std::vector<const ScopeKind*> scopeKinds();

  std::span<const ScopeKind> kinds_;
  const RegisterScopeKinds* next_;
};

// Returns all kinds, in the order of their names.
BOXCAR_API std::vector<const ScopeKind*> scopeKinds();

// Returns null if there is none of that name.
BOXCAR_API const ScopeKind* findScopeKind(std::string_view name);

}  // namespace boxcar
