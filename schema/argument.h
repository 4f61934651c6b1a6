#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/alias_info.h>
#include <boxcar/schema/type.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace boxcar {

// One argument or result of a schema. `Tensor(a!) self`, `int[2] stride=1`, `*, ScalarType? dtype=None`.
class BOXCAR_API Argument {
 public:
  // A null [type] means Tensor. [N] is the length of a sized list. Throws Error if the default cannot be written in a
  // schema or is not of the type.
  explicit Argument(std::string name = "", TypePtr type = nullptr, std::optional<std::int32_t> N = std::nullopt,
                    std::optional<IValue> default_value = std::nullopt, bool kwarg_only = false,
                    AliasInfoPtr alias_info = nullptr);

  // Empty for a result without a name.
  const std::string& name() const noexcept { return name_; }
  TypePtr type() const noexcept { return type_; }
  // The length in `int[2]`, where one int may stand for all elements; the type is then a list or an optional list.
  std::optional<std::int32_t> N() const noexcept {
    return size_ < 0 ? std::nullopt : std::optional<std::int32_t>(size_);
  }
  const std::optional<IValue>& default_value() const noexcept { return default_value_; }
  // The default as the schema spells it, `1e-05`; empty if there is none.
  const std::string& default_spelling() const noexcept { return default_spelling_; }
  bool kwarg_only() const noexcept { return kwarg_only_; }
  // Null if there is no annotation.
  AliasInfoPtr alias_info() const noexcept { return alias_info_; }
  // Whether the call writes into it.
  bool is_write() const noexcept { return alias_info_ != nullptr && alias_info_->isWrite(); }
  // Whether it receives a result: it is written and keyword-only.
  bool is_out() const noexcept { return kwarg_only_ && is_write(); }

  // Equal in everything but the spelling of the default.
  bool operator==(const Argument& other) const;

 private:
  friend class SchemaBuilder;
  struct Unchecked {};

 public:
  // For the parser, which has already checked: only it can name the first parameter.
  Argument(Unchecked, std::string_view name, TypePtr type, std::int32_t size, AliasInfoPtr alias_info, bool kwarg_only)
      : name_(name), type_(type), alias_info_(alias_info), size_(size), kwarg_only_(kwarg_only) {}

 private:
  std::string name_;
  TypePtr type_;
  AliasInfoPtr alias_info_;
  std::int32_t size_;
  bool kwarg_only_;
  std::optional<IValue> default_value_;
  std::string default_spelling_;
};

// `Tensor(a!)[] self`, `int[2] stride=1`: as in a schema, without the `*` before keyword-only arguments.
BOXCAR_API std::string toString(const Argument& argument);

}  // namespace boxcar
