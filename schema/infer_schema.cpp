#include <boxcar/schema/infer_schema.h>

#include <fmt/format.h>

#include <algorithm>

namespace boxcar {
namespace detail {

FunctionSchema schemaOfTypes(OperatorName name, TypeFunctions arguments, TypeFunctions returns) {
  std::vector<Argument> inferred_arguments;
  inferred_arguments.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i)
    inferred_arguments.emplace_back(fmt::format("_{}", i), arguments[i]());
  std::vector<Argument> inferred_returns;
  inferred_returns.reserve(returns.size());
  for (const TypeFunction type : returns) inferred_returns.emplace_back("", type());
  return FunctionSchema(std::move(name), std::move(inferred_arguments), std::move(inferred_returns));
}

}  // namespace detail

namespace {

// Whether a list of this element type has its own storage, which a list of IValues cannot replace.
bool hasTypedList(TypePtr element) {
  switch (element->underlying()->kind()) {
    case TypeKind::Tensor:
    case TypeKind::Int:
    case TypeKind::Float:
    case TypeKind::Bool:
    case TypeKind::Complex: return true;
    default: return false;
  }
}

// Whether a C++ value of the type [inferred] can stand for the schema's [given].
bool isCompatible(TypePtr given, TypePtr inferred) {
  if (given == inferred || inferred->kind() == TypeKind::Any) return true;
  // int stands for every type that is an int underneath, but ScalarType does not stand for Layout.
  if (given->underlying() == inferred->underlying()) {
    const bool is_plain = given == given->underlying() || inferred == inferred->underlying();
    return is_plain || given->kind() == TypeKind::SymInt || inferred->kind() == TypeKind::SymInt;
  }
  if (inferred->kind() == TypeKind::AnyClass) {
    return given->kind() == TypeKind::Class || given->kind() == TypeKind::Capsule ||
           given->kind() == TypeKind::Quantizer;
  }
  if (given->kind() != inferred->kind() || given->contained().empty()) return false;
  if (given->isList() && inferred->element()->kind() == TypeKind::Any && hasTypedList(given->element())) return false;
  return std::ranges::equal(given->contained(), inferred->contained(), isCompatible);
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::optional<std::string> findDifference(const std::vector<Argument>& given, const std::vector<Argument>& inferred,
                                          std::string_view what) {
  if (given.size() != inferred.size()) {
    return fmt::format("the schema has {}, the C++ function has {}", counted(given.size(), what), inferred.size());
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (isCompatible(given[i].type(), inferred[i].type())) continue;
    const std::string name = given[i].name().empty() ? "" : fmt::format(" '{}'", given[i].name());
    return fmt::format("{}{} (position {} of {}) is of type {} in the schema, but of type {} in the C++ function", what,
                       name, i + 1, given.size(), *given[i].type(), *inferred[i].type());
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> findSchemaDifferences(const FunctionSchema& given, const FunctionSchema& inferred) {
  if (given.is_vararg() || given.is_varret()) {
    return fmt::format("the schema has any number of {}, which only a boxed kernel can {}",
                       given.is_vararg() ? "arguments" : "results", given.is_vararg() ? "take" : "give");
  }
  if (auto difference = findDifference(given.arguments(), inferred.arguments(), "argument")) return difference;
  return findDifference(given.returns(), inferred.returns(), "result");
}

}  // namespace boxcar
