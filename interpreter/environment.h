#pragma once

#include <boxcar/interpreter/typed_program.h>
#include <boxcar/schema/type.h>

#include <array>
#include <cstddef>
#include <memory>
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

// What is known of all variables of a function at one place of the program. Copies share what is the same in them, so
// that the many places of a long script cost little.
class Environment {
 public:
  // To be changed.
  Binding& operator[](typed::VariableId variable);
  const Binding& at(typed::VariableId variable) const noexcept;
  // No variable from here on is set.
  size_t size() const noexcept { return groups_.size() * kGroupSize * kBlockSize; }

  // Whether control gets here at all.
  bool isReachable() const noexcept { return is_reachable_; }
  void setUnreachable() noexcept { is_reachable_ = false; }

  // What is known where the paths of this and [other] meet; an unreachable one does not count.
  void join(const Environment& other);

  // What brings the variables from how they lie here to how they lie in [target].
  typed::Recasts recastsTo(const Environment& target) const;

  friend bool operator==(const Environment& a, const Environment& b) noexcept;

 private:
  // Of two levels, so that the copies that a long script makes of a thousand variables cost one pointer.
  static constexpr size_t kBlockSize = 32;
  static constexpr size_t kGroupSize = 32;
  using Block = std::array<Binding, kBlockSize>;
  using Group = std::array<std::shared_ptr<Block>, kGroupSize>;

  // Calls [visit] with the variables that are not known to be the same here and in [other].
  template <class Visit>
  void eachApart(const Environment& other, Visit visit) const;

  std::vector<std::shared_ptr<Group>> groups_;  // null where nothing is set, as their blocks are
  bool is_reachable_ = true;
};

}  // namespace boxcar::interp
