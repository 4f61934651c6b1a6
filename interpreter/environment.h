#pragma once

#include <boxcar/interpreter/typed_program.h>
#include <boxcar/schema/type.h>

#include <cstddef>
#include <vector>

namespace boxcar::interp {

// The type of a value that is an [a] on one path and a [b] on another: T? where one is None, Any where they have
// nothing in common.
TypePtr joinTypes(TypePtr a, TypePtr b);

// The type that a script sees where a schema says [type]: SymInt is int.
TypePtr scriptType(TypePtr type);

// What is known of a variable at one place of the program.
struct Binding {
  TypePtr type = nullptr;  // null: not set on any path
  typed::FieldNames fields;
  SlotKind kind = SlotKind::Value;
  bool maybe_unset = true;

  bool isSet() const noexcept { return type != nullptr && !maybe_unset; }
  friend bool operator==(const Binding&, const Binding&) = default;
};

// What is known of all variables of a function at one place of the program.
class Environment {
 public:
  Binding& operator[](typed::VariableId variable) {
    if (variable >= bindings_.size()) bindings_.resize(variable + 1);
    return bindings_[variable];
  }
  const Binding& at(typed::VariableId variable) const {
    static const Binding unset;
    return variable < bindings_.size() ? bindings_[variable] : unset;
  }
  size_t size() const noexcept { return bindings_.size(); }

  // Whether control gets here at all.
  bool isReachable() const noexcept { return is_reachable_; }
  void setUnreachable() noexcept { is_reachable_ = false; }

  // What is known where the paths of this and [other] meet; an unreachable one does not count.
  void join(const Environment& other);

  // What brings the variables from how they lie here to how they lie in [target].
  typed::Recasts recastsTo(const Environment& target) const;

  friend bool operator==(const Environment&, const Environment&) = default;

 private:
  std::vector<Binding> bindings_;
  bool is_reachable_ = true;
};

}  // namespace boxcar::interp
