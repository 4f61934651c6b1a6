#include <boxcar/interpreter/import/script_words.h>
#include <boxcar/interpreter/import/torchscript/translation.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace boxcar::interp::torchscript {
namespace {

// NamedTuples in NamedTuples could make texts that are exponentially long.
constexpr size_t kLongestText = 4096;

}  // namespace

void Translation::reach(const ClassInfo& its_class, const Function& method) {
  noteClass(its_class);
  if (reached_.insert(&method).second) waiting.push_back({&its_class, nullptr, &method, its_class.file});
}

void Translation::reach(const FunctionInfo& function) {
  if (reached_.insert(function.definition).second)
    waiting.push_back({nullptr, &function, function.definition, function.file});
}

void Translation::restart() {
  reached_.clear();
  waiting.clear();
  missing_.clear();
  perhaps_missing_.clear();
}

std::string Translation::typeText(TypePtr type) {
  if (const ClassInfo* const info = unit.classOf(type); info != nullptr) {
    switch (info->kind) {
      case ClassInfo::Kind::NamedTuple: return typeText(unit.withoutNames(type));
      case ClassInfo::Kind::Interface: return "Any";
      case ClassInfo::Kind::Enum:
      case ClassInfo::Kind::Object: noteClass(*info); return placeholder(*info);
    }
  }
  switch (type->kind()) {
    case TypeKind::None: return "Any?";
    case TypeKind::List: return typeText(type->element()) + "[]";
    case TypeKind::Optional: {
      const std::string element = typeText(type->element());
      return element.ends_with('?') ? element : element + "?";
    }
    case TypeKind::Dict:
      return fmt::format("Dict({}, {})", typeText(type->contained()[0]), typeText(type->contained()[1]));
    case TypeKind::Tuple: {
      if (type->contained().size() < 2) return "Any";
      std::vector<std::string> parts;
      for (const TypePtr each : type->contained()) parts.push_back(typeText(each));
      std::string text = fmt::format("({})", fmt::join(parts, ", "));
      return text.size() > kLongestText ? "Any" : text;
    }
    default: return std::string(type->text());
  }
}

std::string Translation::unsetValue(TypePtr type) {
  if (const TypePtr plain = unit.withoutNames(type); plain != type) return unsetValue(plain);
  switch (type->kind()) {
    case TypeKind::Tensor: return "empty(0)";
    case TypeKind::Int: return "0";
    case TypeKind::Float: return "0.0";
    case TypeKind::Bool: return "False";
    case TypeKind::Complex: return "0j";
    case TypeKind::Scalar: return "0";
    case TypeKind::String: return "\"\"";
    case TypeKind::List: return "[]";
    case TypeKind::Dict: return "{}";
    case TypeKind::Tuple: {
      std::vector<std::string> parts;
      for (const TypePtr each : type->contained()) parts.push_back(unsetValue(each));
      std::string text = fmt::format("({}{})", fmt::join(parts, ", "), parts.size() == 1 ? "," : "");
      return text.size() > kLongestText ? "None" : text;
    }
    default: return "None";
  }
}

std::string Translation::fieldName(std::string_view name) {
  std::string text(name);
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) text = "item" + text;
  for (char& c : text) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!is_word) c = '_';
  }
  if (isReservedWord(text) && text != "name" && text != "weights") text += "_";
  return text;
}

std::string Translation::methodName(const ClassInfo& its_class, std::string_view name) {
  if (!name.starts_with("__")) return std::string(name);
  std::string text(
      name.substr(name.find_first_not_of('_') == std::string_view::npos ? 0 : name.find_first_not_of('_')));
  while (text.ends_with('_')) text.pop_back();
  // No operator has this name, so that sort_objects() of torchscript.ops finds it.
  if (text == "lt") text = "less_than";
  while (its_class.findMethod(text) != nullptr || its_class.findField(text) != nullptr) text += "_method";
  return text;
}

std::string Translation::memberName(const ClassInfo& its_enum, std::string_view member) {
  return fmt::format("{}_{}", placeholder(its_enum), member);
}

}  // namespace boxcar::interp::torchscript
