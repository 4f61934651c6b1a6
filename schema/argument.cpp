#include <boxcar/ivalue/error.h>
#include <boxcar/schema/argument.h>
#include <boxcar/schema/default_value.h>
#include <boxcar/schema/words.h>

#include <algorithm>

namespace boxcar {
namespace {

TypePtr sizedListOf(TypePtr type) { return type->isOptional() ? type->element() : type; }

// Whether an annotation has the shape of its type, and occurs only where one can be written.
bool fits(AliasInfoPtr alias, TypePtr type) {
  if (alias == nullptr) return true;
  if (type->isOptional()) return fits(alias, type->element());
  switch (type->kind()) {
    case TypeKind::Tuple:
    case TypeKind::Future:
    case TypeKind::Await:
    case TypeKind::RRef:
    case TypeKind::Class:
      if (!alias->text().empty()) return false;
      break;
    default: break;
  }
  const std::span<const AliasInfoPtr> inner = alias->containedTypes();
  return inner.empty() || std::ranges::equal(inner, type->contained(), fits);
}

// Equality that distinguishes 1 from 1.0 and True, unlike == of values.
bool sameDefault(const std::optional<IValue>& a, const std::optional<IValue>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a.has_value() || (a->tag() == b->tag() && *a == *b);
}

}  // namespace

Argument::Argument(std::string name, TypePtr type, std::optional<std::int32_t> N, std::optional<IValue> default_value,
                   bool kwarg_only, AliasInfoPtr alias_info)
    : name_(std::move(name)),
      type_(type == nullptr ? Type::tensor() : type),
      alias_info_(alias_info),
      size_(N.value_or(-1)),
      kwarg_only_(kwarg_only),
      default_value_(std::move(default_value)) {
  BOXCAR_CHECK(name_.empty() || detail::isName(name_),
               "'{}' cannot name an argument: a name is a word that is not a keyword", name_);
  BOXCAR_CHECK(!N || (*N >= 0 && sizedListOf(type_)->isList()),
               "argument '{}' of type {} cannot have the length {}: only lists have one, from 0 on", name_, *type_,
               N.value_or(0));
  BOXCAR_CHECK(fits(alias_info_, type_), "the alias annotation of argument '{}' does not fit its type {}", name_,
               *type_);
  if (default_value_) default_spelling_ = detail::spellDefault(*default_value_, type_, size_);
}

bool Argument::operator==(const Argument& other) const {
  return name_ == other.name_ && type_ == other.type_ && alias_info_ == other.alias_info_ && size_ == other.size_ &&
         kwarg_only_ == other.kwarg_only_ && sameDefault(default_value_, other.default_value_);
}

std::string toString(const Argument& argument) {
  std::string text;
  if (const std::optional<std::int32_t> size = argument.N()) {
    const TypePtr list = sizedListOf(argument.type());
    const AliasInfoPtr alias = argument.alias_info();
    text = toString(list->element(), alias == nullptr ? nullptr : alias->containedAt(0));
    text.append("[").append(std::to_string(*size)).append("]");
    if (alias != nullptr) text += alias->text();
    if (argument.type()->isOptional()) text += '?';
  } else {
    text = toString(argument.type(), argument.alias_info());
  }
  if (!argument.name().empty()) text.append(" ").append(argument.name());
  if (argument.default_value()) text.append("=").append(argument.default_spelling());
  return text;
}

}  // namespace boxcar
