#include <boxcar/dispatcher/handlers/trace/trace_function.h>
#include <boxcar/dispatcher/handlers/trace/trace_text.h>
#include <boxcar/ivalue/dict.h>
#include <boxcar/ivalue/list.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/ivalue/value_tensors.h>
#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace boxcar::detail {
namespace {

bool isPlain(const IValue& value) {
  return value.isNone() || value.isBool() || value.isInt() || value.isString() ||
         (value.isDouble() && !std::isnan(value.toDouble()));
}

// Whether a script can compare the value with a constant.
bool isComparable(const IValue& value, TypePtr type) {
  while (type->isOptional()) type = type->element();
  switch (type->kind()) {
    // Of these, a script knows the number alone where their type is Any.
    case TypeKind::ScalarType:
    case TypeKind::Layout:
    case TypeKind::MemoryFormat: return value.isInt() || value.isNone();
    default: break;
  }
  if (!value.isList()) return isPlain(value);
  for (size_t i = 0; i < value.length(); ++i) {
    if (!isPlain(value.elementAt(i))) return false;
  }
  return true;
}

// Whether a parameter of [type] may have [value], which is comparable, as its default.
bool mayBeDefault(const IValue& value, TypePtr type) {
  if (value.isNone()) return type->isOptional();
  while (type->isOptional() || type->isList()) type = type->element();
  switch (type->kind()) {
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::SymInt:
    case TypeKind::Float: return true;
    case TypeKind::Scalar:
    case TypeKind::String: return !value.isList();
    default: return false;
  }
}

std::string returnsText(const FunctionSchema& schema) {
  const std::vector<Argument>& returns = schema.returns();
  if (returns.size() == 1) return std::string(returns[0].type()->text());
  std::string text;
  for (const Argument& result : returns) text += fmt::format("{}{}", text.empty() ? "" : ", ", result.type()->text());
  return fmt::format("({})", text);
}

// The lines of a comment that show the tensors of a value: "x: float32 [2, 3]".
void describe(const IValue& value, const std::string& name, std::string& lines, int depth) {
  if (depth > kMostNested) return;
  if (value.isTensor()) {
    const Tensor& tensor = value.toTensor();
    if (!tensor.defined()) return;
    lines += fmt::format("# {}: {} {}\n", name, dtypeName(tensor.scalar_type()), sizesText(tensor.sizes()));
  } else if (value.isGenericDict()) {
    const GenericDict dict = value.toGenericDict();
    for (size_t i = 0; i < dict.size(); ++i) {
      const auto [key, held] = dict.entryAt(i);
      if (tensorsIn(held) > 0) describe(held, fmt::format("{}[{}]", name, constantText(key)), lines, depth + 1);
    }
  } else if (value.isList() || value.isTuple()) {
    for (size_t i = 0; i < value.length(); ++i) {
      describe(value.elementAt(i), fmt::format("{}[{}]", name, i), lines, depth + 1);
    }
  }
}

}  // namespace

TraceFunction::TraceFunction(const FunctionSchema& schema, std::span<const IValue> arguments)
    : schema_(schema), arguments_(arguments.begin(), arguments.end()) {
  while (schema.argumentIndexWithName(dict_).has_value()) dict_ += '_';
  comment_ = fmt::format(
      "# A trace of {}: the operator calls of one call, in their order. What that call computed without operators, "
      "such\n"
      "# as numbers from x.item(), sizes, its loops and its decisions, is constant here, whatever the tensors hold.\n",
      schema.name());
  std::string shapes;
  for (size_t i = 0; i < arguments.size(); ++i) describe(arguments[i], schema.arguments()[i].name(), shapes, 0);
  if (!shapes.empty()) comment_ += "#\n" + shapes;

  // A parameter with a default has none without one behind it, among those by position.
  std::vector<std::string> defaults(arguments.size());
  bool may_have_default = true;
  for (size_t i = arguments.size(); i-- > 0;) {
    const Argument& parameter = schema.arguments()[i];
    const bool is_fixed = isComparable(arguments[i], parameter.type()) && mayBeDefault(arguments[i], parameter.type());
    if (!parameter.kwarg_only()) may_have_default = may_have_default && is_fixed;
    if (is_fixed && (may_have_default || parameter.kwarg_only())) {
      defaults[i] = "=" + constantText(arguments[i], parameter.type());
    }
  }
  std::string parameters;
  bool by_keyword = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& parameter = schema.arguments()[i];
    if (!parameters.empty()) parameters += ", ";
    if (parameter.kwarg_only() && !by_keyword) parameters += "*, ";
    by_keyword = by_keyword || parameter.kwarg_only();
    parameters += fmt::format("{} {}{}", parameter.type()->text(), parameter.name(), defaults[i]);
  }
  head_ = fmt::format("fn {}({}) -> {} {{\n", schema.name(), parameters, returnsText(schema));
}

std::vector<std::string> TraceFunction::checksOf(size_t index) const {
  const IValue& value = arguments_[index];
  const Argument& parameter = schema_.arguments()[index];
  const std::string& name = parameter.name();
  if (tensorsIn(value) > 0) {
    if (!value.isList()) return {};
    return {fmt::format("assert len({0}) == {1}, 'this trace of {2} is for len({0}) == {1}'", name, value.length(),
                        schema_.name())};
  }
  if (!isComparable(value, parameter.type())) return {};
  const std::string constant = constantText(value, parameter.type());
  const std::string message =
      pythonStringRepr(fmt::format("this trace of {} is for {}={}", schema_.name(), name, constant));
  return {fmt::format("assert {} {} {}, {}", name, value.isNone() ? "is" : "==", constant, message)};
}

void TraceFunction::addSaved(const Storage& storage, size_t at, size_t size) { saved_.push_back({storage, at, size}); }

void TraceFunction::noteWrite(const Storage& storage) {
  for (Saved& saved : saved_) saved.is_written = saved.is_written || saved.storage == storage;
}

std::string TraceFunction::withCopies(const std::string& body) const {
  std::string text;
  size_t done = 0;
  for (const Saved& saved : saved_) {
    if (!saved.is_written) continue;
    text.append(body, done, saved.at - done);
    text += fmt::format("aten::clone({})", body.substr(saved.at, saved.size));
    done = saved.at + saved.size;
  }
  return text.append(body, done);
}

IValue withOwnContainers(const IValue& value) {
  if (value.isGenericDict()) {
    const GenericDict dict = value.toGenericDict();
    const GenericDict copy;
    for (size_t i = 0; i < dict.size(); ++i) {
      const auto [key, held] = dict.entryAt(i);
      copy.insert(key, withOwnContainers(held));
    }
    return copy;
  }
  if (!value.isList() && !value.isTuple()) return value;
  std::vector<IValue> elements;
  for (size_t i = 0; i < value.length(); ++i) elements.push_back(withOwnContainers(value.elementAt(i)));
  if (value.isTuple()) return Tuple(std::move(elements));
  return GenericList(std::span<const IValue>(elements));
}

size_t tensorsIn(const IValue& value) {
  size_t count = 0;
  visitTensors(
      value, [&count](const Tensor&) { ++count; }, kMostNested);
  return count;
}

}  // namespace boxcar::detail
