#include <boxcar/interpreter/import/torchscript/compilation_unit.h>
#include <boxcar/interpreter/import/torchscript/counted_loops.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

namespace boxcar::interp::torchscript {
namespace {

struct NamedType {
  std::string_view name;
  TypePtr (*type)() noexcept;
};

constexpr NamedType kNamedTypes[] = {
    {"Tensor", Type::tensor},        {"int", Type::integer},
    {"float", Type::floating},       {"bool", Type::boolean},
    {"str", Type::string},           {"complex", Type::complex},
    {"number", Type::scalar},        {"NoneType", Type::none},
    {"Device", Type::device},        {"Generator", Type::generator},
    {"Stream", Type::stream},        {"Storage", Type::storage},
    {"ScalarType", Type::integer},   {"Layout", Type::integer},
    {"MemoryFormat", Type::integer}, {"Any", Type::any},
};

ClassInfo::Kind kindOf(std::string_view base) {
  if (base == "NamedTuple") return ClassInfo::Kind::NamedTuple;
  if (base == "Enum") return ClassInfo::Kind::Enum;
  if (base.ends_with("Interface")) return ClassInfo::Kind::Interface;
  return ClassInfo::Kind::Object;
}

}  // namespace

const Function* ClassInfo::findMethod(std::string_view name) const {
  const auto found = std::ranges::find(definition->methods, name, &Function::name);
  return found != definition->methods.end() ? &*found : nullptr;
}

const Field* ClassInfo::findField(std::string_view name) const {
  const auto found = std::ranges::find(definition->fields, name, &Field::name);
  return found != definition->fields.end() ? &*found : nullptr;
}

// "__torch__.a.b.C" is in "code/__torch__/a/b.py".
const CompilationUnit::File* CompilationUnit::fileOf(std::string_view qualified_name) {
  const size_t end = qualified_name.rfind('.');
  if (end == std::string_view::npos) return nullptr;
  std::string name = fmt::format("code/{}.py", qualified_name.substr(0, end));
  std::replace(name.begin() + 5, name.end() - 3, '.', '/');
  const auto found = files_.find(name);
  if (found != files_.end()) return found->second.get();
  const std::optional<std::string_view> text = read_(name);
  std::unique_ptr<File> file;
  if (text.has_value()) {
    Unit unit = parseUnit(*text, fmt::format("'{}', {}", archive_, name));
    for (Function& function : unit.functions) recoverCountedLoops(function);
    for (Class& each : unit.classes) {
      for (Function& method : each.methods) recoverCountedLoops(method);
    }
    file = std::make_unique<File>(name, std::move(unit));
  }
  return files_.emplace(std::move(name), std::move(file)).first->second.get();
}

const ClassInfo* CompilationUnit::findClass(const std::string& qualified_name) {
  if (const auto found = class_by_name_.find(qualified_name); found != class_by_name_.end()) return found->second;
  ClassInfo* info = nullptr;
  if (const File* const file = fileOf(qualified_name); file != nullptr) {
    const std::string name = qualified_name.substr(qualified_name.rfind('.') + 1);
    const auto definition = std::ranges::find(file->unit.classes, name, &Class::name);
    if (definition != file->unit.classes.end()) {
      const size_t number = classes_.size();
      info = &classes_.emplace_back(
          ClassInfo{.qualified_name = qualified_name,
                    .definition = &*definition,
                    .kind = kindOf(definition->base),
                    .number = number,
                    .type = Type::classNamed(fmt::format("__torch__.torch.classes.torchscript.c{}", number)),
                    .file = file->name});
      class_by_type_.emplace(info->type, info);
    }
  }
  class_by_name_.emplace(qualified_name, info);
  return info;
}

const FunctionInfo* CompilationUnit::findFunction(const std::string& qualified_name) {
  if (const auto found = function_by_name_.find(qualified_name); found != function_by_name_.end()) return found->second;
  FunctionInfo* info = nullptr;
  if (const File* const file = fileOf(qualified_name); file != nullptr) {
    const std::string name = qualified_name.substr(qualified_name.rfind('.') + 1);
    const auto definition = std::ranges::find(file->unit.functions, name, &Function::name);
    if (definition != file->unit.functions.end()) {
      info = &functions_.emplace_back(FunctionInfo{.qualified_name = qualified_name,
                                                   .definition = &*definition,
                                                   .number = functions_.size(),
                                                   .file = file->name});
    }
  }
  function_by_name_.emplace(qualified_name, info);
  return info;
}

const ClassInfo* CompilationUnit::classOf(TypePtr type) const {
  const auto found = class_by_type_.find(type);
  return found != class_by_type_.end() ? found->second : nullptr;
}

TypePtr CompilationUnit::typeOf(const Expr& annotation) {
  if (annotation.kind == Expr::Kind::Name) {
    const auto* const found = std::ranges::find(kNamedTypes, annotation.text, &NamedType::name);
    return found != std::end(kNamedTypes) ? found->type() : Type::any();
  }
  if (annotation.kind == Expr::Kind::Index) {
    const std::string generic = dottedName(*annotation.items[0]);
    const Expr& inside = *annotation.items[1];
    if (generic == "List") return Type::listOf(typeOf(inside));
    if (generic == "Optional") return Type::optionalOf(typeOf(inside));
    if (generic == "Future" || generic == "Final") return typeOf(inside);
    std::vector<TypePtr> types;
    if (inside.kind == Expr::Kind::Tuple) {
      for (const ExprPtr& each : inside.items) types.push_back(typeOf(*each));
    } else {
      types.push_back(typeOf(inside));
    }
    if (generic == "Dict" && types.size() == 2) return Type::dictOf(types[0], types[1]);
    if (generic == "Tuple") return Type::tupleOf(types);
    return Type::any();
  }
  const std::string name = dottedName(annotation);
  if (name.starts_with("__torch__.")) {
    const ClassInfo* const info = findClass(name);
    if (info != nullptr) return info->type;
  }
  return Type::any();
}

// Without an annotation it is a Tensor.
TypePtr CompilationUnit::resultOf(const Function& function) {
  return function.result != nullptr ? typeOf(*function.result) : Type::tensor();
}

TypePtr CompilationUnit::typeOfField(const ClassInfo& its_class, std::string_view name) {
  const Field* const field = its_class.findField(name);
  return field != nullptr && field->type != nullptr ? typeOf(*field->type) : Type::any();
}

TypePtr CompilationUnit::withoutNames(TypePtr type) {
  const ClassInfo* const info = classOf(type);
  if (info == nullptr || info->kind != ClassInfo::Kind::NamedTuple) return type;
  std::vector<TypePtr> types;
  for (const Field& field : info->definition->fields) types.push_back(typeOfField(*info, field.name));
  return Type::tupleOf(types);
}

int64_t CompilationUnit::formatVersion() {
  if (!format_version_.has_value()) {
    format_version_ = std::numeric_limits<int64_t>::max();
    for (const char* const member : {".data/version", "version"}) {
      const std::optional<std::string_view> text = read_(member);
      int64_t version = 0;
      if (!text.has_value()) continue;
      const auto parsed = std::from_chars(text->data(), text->data() + text->size(), version);
      if (parsed.ec == std::errc()) format_version_ = version;
    }
  }
  return *format_version_;
}

std::string CompilationUnit::placeOf(const std::string& file, uint32_t line) {
  std::string place = fmt::format("{}, line {}", file, line);
  if (!read_lines_) return place;
  auto found = lines_.find(file);
  if (found == lines_.end()) found = lines_.emplace(file, read_lines_(file)).first;
  const std::optional<std::string_view> text = read_(file);
  if (found->second.empty() || !text.has_value()) return place;
  size_t begin = 0;
  for (uint32_t i = 1; i < line && begin != std::string_view::npos; ++i) begin = text->find('\n', begin) + 1;
  const size_t end = std::min(text->find('\n', begin), text->size());
  // The first part that begins in the line, or else the last one before it.
  const SourceLine* source = nullptr;
  for (const SourceLine& each : found->second) {
    if (each.begin >= end || (source != nullptr && source->begin >= begin)) break;
    source = &each;
  }
  if (source != nullptr) place += fmt::format(", which is {}, line {}", source->file, source->line);
  return place;
}

}  // namespace boxcar::interp::torchscript
