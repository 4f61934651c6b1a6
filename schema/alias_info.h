#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/type.h>

#include <atomic>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar {

class AliasInfo;

// Annotations are made once and never freed: they are equal exactly if the pointers are. Null means no annotation.
using AliasInfoPtr = const AliasInfo*;

// What a schema says about aliasing at one position of a type, and at those inside it: the alias sets of a value before
// and after the call, and whether it is written. `Tensor(a!)`, `Tensor(a -> *)`, `Tensor!`, `Tensor(a)[](b)`. It is a
// tree in the shape of the type, in which optionals do not count: the alias of `T?` is that of `T`.
class BOXCAR_API AliasInfo {
 public:
  // Returns the annotation `(before! -> after)`. Sets keep their order; an empty [after] means the same as before.
  // Without any set, [is_write] alone is `!`, a set of its own. [contained] has an entry, perhaps null, for each type
  // inside, or none at all.
  static AliasInfoPtr of(std::span<const std::string_view> before, bool is_write,
                         std::span<const std::string_view> after = {}, std::span<const AliasInfoPtr> contained = {});

  // Returns `(set)` or `(set!)` for a set named by one lower-case letter, as nearly all are.
  static AliasInfoPtr ofLetter(char set, bool is_write);

  // Returns an annotation of inner types only, such as the elements' in `Tensor(a!)[]`; null where all of [contained]
  // are null.
  static AliasInfoPtr holding(std::span<const AliasInfoPtr> contained);

  // Returns this annotation for a type that has [contained] inside it.
  AliasInfoPtr withContained(std::span<const AliasInfoPtr> contained) const;

  // Whether the value, or one inside it, is written.
  bool isWrite() const noexcept { return is_write_ || contains_write_; }
  // Whether this very position is written.
  bool isWriteHere() const noexcept { return is_write_; }

  const std::vector<std::string>& beforeSets() const noexcept { return before_; }
  const std::vector<std::string>& afterSets() const noexcept { return after_.empty() ? before_ : after_; }
  bool isWildcardBefore() const noexcept;
  bool isWildcardAfter() const noexcept;

  // One entry for each type inside, null where it has no annotation; or empty.
  std::span<const AliasInfoPtr> containedTypes() const noexcept { return contained_; }
  AliasInfoPtr containedAt(std::size_t index) const noexcept {
    return index < contained_.size() ? contained_[index] : nullptr;
  }

  // The text behind the type at this very position: `(a! -> *)`, `!` or nothing.
  std::string_view text() const noexcept { return text_; }

  // Returns `Tensor(a!)[]`: the annotation of a list whose elements have this one.
  AliasInfoPtr inList() const;

  AliasInfo(const AliasInfo&) = delete;
  AliasInfo& operator=(const AliasInfo&) = delete;

 private:
  friend class AliasTable;
  AliasInfo() = default;

  std::vector<std::string> before_;
  std::vector<std::string> after_;
  std::vector<AliasInfoPtr> contained_;
  std::string text_;
  bool is_write_ = false;
  bool contains_write_ = false;
  mutable std::atomic<AliasInfoPtr> in_list_{nullptr};
};

// The annotation at this very position, without those inside: `(a! -> *)`.
inline std::string_view toString(const AliasInfo& alias) noexcept { return alias.text(); }

// The type with its annotations at every position: `(Tensor(a)?[], int)`.
BOXCAR_API std::string toString(TypePtr type, AliasInfoPtr alias);

}  // namespace boxcar
