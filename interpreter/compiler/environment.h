#pragma once

#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/schema/type.h>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace boxcar::interp {

// Returns the type that a script sees for [type] in a schema: SymInt is int.
TypePtr scriptType(TypePtr type);

// What is known about a variable at one point of the program.
struct Binding {
  TypePtr type = nullptr;  // null: not set on any path
  typed::FieldNames fields;
  SlotKind kind = SlotKind::Value;
  bool maybe_unset = true;

  bool isSet() const noexcept { return type != nullptr && !maybe_unset; }
  friend bool operator==(const Binding&, const Binding&) = default;
};

// What is known about all variables of a function at one point of the program. Copies share equal parts, so the many
// points of a long script cost little.
class Environment {
 public:
  // For writing.
  Binding& operator[](typed::VariableId variable);
  const Binding& at(typed::VariableId variable) const noexcept;
  // No variable from this id on is set.
  size_t size() const noexcept { return groups_.size() * kGroupSize * kBlockSize; }

  // Whether control can reach this point.
  bool isReachable() const noexcept { return is_reachable_; }
  void setUnreachable() noexcept { is_reachable_ = false; }

  // Merges the state of another path that meets this one; an unreachable path does not count.
  void join(const Environment& other);

  // Returns the recasts that move the variables from their slots here to those in [target].
  typed::Recasts recastsTo(const Environment& target) const;

  friend bool operator==(const Environment& a, const Environment& b) noexcept;

 private:
  // There are two levels, so each of a long script's copies of a thousand variables costs one pointer.
  static constexpr size_t kBlockSize = 32;
  static constexpr size_t kGroupSize = 32;
  using Block = std::array<Binding, kBlockSize>;
  using Group = std::array<std::shared_ptr<Block>, kGroupSize>;

  // Calls [visit] for the variables that may differ between this and [other].
  template <class Visit>
  void eachApart(const Environment& other, Visit visit) const;

  std::vector<std::shared_ptr<Group>> groups_;  // null if nothing is set, as for their blocks
  bool is_reachable_ = true;
};

}  // namespace boxcar::interp
