#include <boxcar/interpreter/import/script_words.h>
#include <boxcar/interpreter/import/torchscript/object_text.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/text.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>

namespace boxcar::interp::torchscript {

std::string classNameOf(const IValue& value) {
  if (!value.isGenericDict()) return {};
  const GenericDict dict = value.toGenericDict();
  const auto name = dict.get("__class__");
  return name.has_value() && name->isString() && dict.contains("state") ? name->toStringRef() : std::string();
}

std::set<std::string> classNamesIn(const IValue& value) {
  std::set<std::string> names;
  std::unordered_set<const void*> seen;
  const auto walk = [&](const auto& again, const IValue& each) -> void {
    if (each.isTuple() || each.isList()) {
      for (size_t i = 0; i < each.length(); ++i) again(again, each.elementAt(i));
    }
    if (!each.isGenericDict() || !seen.insert(each.object()).second) return;
    const std::string name = classNameOf(each);
    if (!name.empty()) names.insert(name);
    for (const auto& entry : each.toGenericDict()) again(again, entry.value());
  };
  walk(walk, value);
  return names;
}

void ObjectText::countUses(const IValue& value) {
  if (value.isTuple() || value.isList()) {
    for (size_t i = 0; i < value.length(); ++i) countUses(value.elementAt(i));
  }
  if (!value.isGenericDict()) return;
  if (++uses_[value.object()] > 1) return;
  for (const auto& entry : value.toGenericDict()) countUses(entry.value());
}

// Tied weights have one key.
std::string ObjectText::tensor(const Tensor& value, const std::string& path) {
  const std::string what =
      fmt::format("{} {} {} {} {}", static_cast<const void*>(value.storage().get()), value.storage_offset(),
                  fmt::join(value.sizes(), ","), fmt::join(value.strides(), ","), dtypeName(value.scalar_type()));
  const std::string& key = tensor_keys_.emplace(what, path).first->second;
  return fmt::format("weights[{}]", scriptString(key));
}

std::string ObjectText::object(const GenericDict& value, const std::string& path) {
  const std::string class_name = value.at("__class__").toStringRef();
  const ClassInfo* const info = translation_.unit.findClass(class_name);
  BOXCAR_CHECK(info != nullptr, "the attribute '{}' is an object of {}, whose code the archive does not have", path,
               class_name);
  const IValue state = value.at("state");
  const std::vector<IValue> arguments = [&] {
    std::vector<IValue> found;
    const auto given = value.get("arguments");
    if (given.has_value() && given->isList()) {
      for (size_t i = 0; i < given->length(); ++i) found.push_back(given->elementAt(i));
    }
    return found;
  }();
  if (info->kind == ClassInfo::Kind::Enum) {
    translation_.noteClass(*info);
    for (const Field& field : info->definition->fields) {
      const Expr* const its = field.default_value.get();
      if (its == nullptr || arguments.empty()) continue;
      const IValue& wanted = arguments[0];
      const bool is_it = (wanted.isInt() && its->kind == Expr::Kind::Int && wanted.toInt() == its->integer) ||
                         (wanted.isDouble() && its->kind == Expr::Kind::Float && wanted.toDouble() == its->number) ||
                         (wanted.isString() && its->kind == Expr::Kind::String && wanted.toStringView() == its->text);
      if (is_it) return Translation::memberName(*info, field.name);
    }
    BOXCAR_FAIL("the attribute '{}' is no member of {}", path, class_name);
  }
  if (info->kind == ClassInfo::Kind::NamedTuple) {
    BOXCAR_CHECK(arguments.size() == 1, "the attribute '{}' is no {}", path, class_name);
    return expression(arguments[0], translation_.unit.withoutNames(info->type), path);
  }
  BOXCAR_CHECK(state.isGenericDict(), "the attribute '{}' has a state of its own making, which only its class can read",
               path.empty() ? "self" : path);
  translation_.noteClass(*info);
  const GenericDict fields = state.toGenericDict();
  std::vector<std::string> texts;
  for (const Field& field : info->definition->fields) {
    if (field.default_value != nullptr || !translation_.isUsed(*info, field.name)) continue;
    const auto held = fields.get(field.name);
    BOXCAR_CHECK(held.has_value(), "the object '{}' of {} has no attribute '{}'", path.empty() ? "self" : path,
                 class_name, field.name);
    const std::string inner = path.empty() ? field.name : path + "." + field.name;
    texts.push_back(fmt::format("{}={}", Translation::fieldName(field.name),
                                expression(*held, translation_.unit.typeOfField(*info, field.name), inner)));
  }
  return fmt::format("{}({})", Translation::placeholder(*info), fmt::join(texts, ", "));
}

std::string ObjectText::expression(const IValue& value, TypePtr type, const std::string& path, bool is_inside) {
  if (value.isTensor()) return tensor(value.toTensor(), path);
  if (value.isNone() || value.isBool() || value.isInt() || value.isDouble() || value.isComplexDouble()) {
    return repr(value);
  }
  if (value.isString()) return scriptString(value.toStringView());
  const TypePtr plain = translation_.unit.withoutNames(type->isOptional() ? type->element() : type);
  const auto within = [&](size_t i) -> TypePtr {
    if (plain->isList()) return plain->element();
    if (plain->kind() == TypeKind::Tuple && i < plain->contained().size()) return plain->contained()[i];
    return Type::any();
  };
  const bool is_empty =
      (value.isList() && value.length() == 0) || (value.isGenericDict() && value.toGenericDict().empty());
  if (is_empty && is_inside && (plain->isList() || plain->kind() == TypeKind::Dict)) {
    const std::string made = fmt::format("empty_{}", empties_.size() + 1);
    return empties_.emplace(translation_.typeText(plain), made).first->second + "()";
  }
  if (value.isTuple() || value.isList()) {
    std::vector<std::string> texts;
    for (size_t i = 0; i < value.length(); ++i) {
      texts.push_back(expression(value.elementAt(i), within(i), fmt::format("{}.{}", path, i), true));
    }
    if (value.isTuple()) return fmt::format("({}{})", fmt::join(texts, ", "), texts.size() == 1 ? "," : "");
    return fmt::format("[{}]", fmt::join(texts, ", "));
  }
  if (value.isDevice()) return scriptString(toString(value.toDevice()));
  BOXCAR_CHECK(value.isGenericDict(), "the attribute '{}' is of a kind that scripts do not have", path);
  const GenericDict dict = value.toGenericDict();
  if (classNameOf(value).empty()) {
    std::vector<std::string> texts;
    for (const auto& entry : dict) {
      const IValue key = entry.key();
      const std::string inner = fmt::format("{}.{}", path, key.isString() ? key.toStringRef() : repr(key));
      texts.push_back(
          fmt::format("{}: {}", key.isString() ? scriptString(key.toStringView()) : repr(key),
                      expression(entry.value(), plain->kind() == TypeKind::Dict ? plain->contained()[1] : Type::any(),
                                 inner, true)));
    }
    return fmt::format("{{{}}}", fmt::join(texts, ", "));
  }
  const void* const identity = value.object();
  if (const auto found = names_.find(identity); found != names_.end()) return found->second;
  std::string text = object(dict, path);
  const bool is_made = text.ends_with(')');
  if (uses_[identity] < 2 || !is_made) return text;
  std::string name;
  for (const char c : path) name += c == '.' ? '_' : c;
  name = Translation::fieldName("shared_" + name);
  shared_.push_back(fmt::format("const {} = {}", name, text));
  return names_.emplace(identity, name).first->second;
}

}  // namespace boxcar::interp::torchscript
