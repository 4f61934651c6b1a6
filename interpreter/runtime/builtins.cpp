#include <boxcar/interpreter/runtime/builtin_table.h>
#include <boxcar/schema/parse_schema.h>

#include <string>
#include <unordered_map>
#include <utility>

namespace boxcar::interp {
namespace {

BuiltinTable makeTable() {
  BuiltinTable table;
  addGeneralBuiltins(table);
  addNumberBuiltins(table);
  addMathBuiltins(table);
  addTextBuiltins(table);
  addStringBuiltins(table);
  addListBuiltins(table);
  addDictBuiltins(table);
  addTensorBuiltins(table);
  addOperatorBuiltins(table);
  addHandlerBuiltins(table);
  return table;
}

Builtin makeBuiltin(std::string_view text, Builtin::Function function, Builtin::ResultRule rule) {
  const std::string_view name = text.substr(0, text.find('('));
  // A method is written with a dot; a schema's name has none.
  const size_t dot = name.find('.');
  return {std::string(name), parseSchema(text.substr(dot == std::string_view::npos ? 0 : dot + 1)), function, rule};
}

}  // namespace

void addBuiltin(BuiltinTable& table, std::string_view schema, Builtin::Function function, Builtin::ResultRule rule) {
  table.push_back(makeBuiltin(schema, function, rule));
}

void addVariadic(BuiltinTable& table, std::string_view schema, uint16_t least, uint16_t most,
                 Builtin::Function function, Builtin::ResultRule rule) {
  Builtin builtin = makeBuiltin(schema, function, rule);
  builtin.variadic = true;
  builtin.min_variadic = least;
  builtin.max_variadic = most;
  table.push_back(std::move(builtin));
}

const std::vector<Builtin>& builtins() {
  static const BuiltinTable table = makeTable();
  return table;
}

std::optional<uint16_t> findBuiltin(std::string_view name) {
  static const auto indices = [] {
    std::unordered_map<std::string_view, uint16_t> result;
    for (const Builtin& builtin : builtins()) result.emplace(builtin.name(), static_cast<uint16_t>(result.size()));
    return result;
  }();
  const auto found = indices.find(name);
  if (found == indices.end()) return std::nullopt;
  return found->second;
}

TypePtr iteratedType(TypePtr type) {
  switch (type->kind()) {
    case TypeKind::List: return type->element();
    case TypeKind::Dict: return type->contained()[0];
    case TypeKind::String: return Type::string();
    case TypeKind::Tensor: return Type::tensor();
    case TypeKind::Any: return Type::any();
    case TypeKind::Tuple: {
      TypePtr common = nullptr;
      for (const TypePtr element : type->contained()) {
        if (common != nullptr && common != element) return Type::any();
        common = element;
      }
      return common == nullptr ? Type::any() : common;
    }
    default: return nullptr;
  }
}

std::string_view methodPrefix(TypePtr type) noexcept {
  switch (type->kind()) {
    case TypeKind::List: return "list";
    case TypeKind::Dict: return "dict";
    case TypeKind::String: return "str";
    case TypeKind::Tensor: return "tensor";
    case TypeKind::Function: return "operator";
    default: return "";
  }
}

}  // namespace boxcar::interp
