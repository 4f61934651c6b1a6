#include <boxcar/backends/autograd/function_call.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/value_type.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar::autograd {
namespace {

// Whether a value is nested in lists as deeply as [type] is.
bool isNestedLike(const IValue& value, TypePtr type) {
  if (type->isOptional()) return value.isNone() || isNestedLike(value, type->element());
  if (!type->isList()) return true;
  if (!value.isList()) return false;
  return value.length() == 0 || isNestedLike(value.elementAt(0), type->element());
}

// Whether a number of type [given] may be converted to [wanted]: a bool to int, both to float. A Scalar may be any.
bool mayBecome(TypePtr given, TypePtr wanted) noexcept {
  if (given->kind() == TypeKind::Scalar) return isSubtypeOf(wanted, given);
  const TypeKind from = given->underlying()->kind();
  const TypeKind to = wanted->underlying()->kind();
  return (from == TypeKind::Bool && to == TypeKind::Int) ||
         (to == TypeKind::Float && (from == TypeKind::Int || from == TypeKind::Bool));
}

std::string keysOf(const GenericDict& dict) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < dict.size(); ++i) keys.push_back(repr(dict.entryAt(i).first));
  return fmt::format("[{}]", fmt::join(keys, ", "));
}

void addTensorsLike(std::string_view role, const IValue& like, const IValue& value, std::vector<Tensor>& tensors) {
  if (like.isGenericDict()) {
    const GenericDict wanted = like.toGenericDict();
    BOXCAR_CHECK(value.isGenericDict(), "{} of a dict must be a dict with its keys, {}, not {}", role, keysOf(wanted),
                 *typeOf(value));
    const GenericDict given = value.toGenericDict();
    for (size_t i = 0; i < wanted.size(); ++i) {
      const auto [key, element] = wanted.entryAt(i);
      BOXCAR_CHECK(given.size() == wanted.size() && given.contains(key),
                   "{} of a dict must be a dict with its keys, {}, not one with {}", role, keysOf(wanted),
                   keysOf(given));
      addTensorsLike(role, element, given.at(key), tensors);
    }
    return;
  }
  if (isSequence(like) && isSequence(value) && like.length() == value.length()) {
    for (size_t i = 0; i < like.length(); ++i) {
      addTensorsLike(role, like.elementAt(i), value.elementAt(i), tensors);
    }
    return;
  }
  const std::vector<Tensor> found = tensorsIn({&value, 1});
  tensors.insert(tensors.end(), found.begin(), found.end());
}

}  // namespace

IValue callFunction(std::string_view what, const FunctionObject& function, std::span<const IValue> args) {
  const FunctionSchema& schema = function.schema();
  const std::vector<Argument>& parameters = schema.arguments();
  BOXCAR_CHECK(schema.is_vararg() || args.size() <= parameters.size(), "{}: {} takes {} argument{}, not {}\n  {}", what,
               function.text(), parameters.size(), parameters.size() == 1 ? "" : "s", args.size(), schema);
  Stack stack;
  for (const IValue& arg : args) stack.push_back(arg);
  for (size_t i = args.size(); i < parameters.size(); ++i) {
    BOXCAR_CHECK(parameters[i].default_value().has_value(), "{}: argument '{}' of {} is missing\n  {}", what,
                 parameters[i].name(), function.text(), schema);
    // The function may change a list.
    stack.push_back(ValueCopier().copy(*parameters[i].default_value()));
  }
  function.call(stack);
  if (stack.empty()) return {};
  return stack.size() == 1 ? pop(stack) : IValue(Tuple(pop(stack, stack.size())));
}

std::vector<IValue> elementsOf(const IValue& list) {
  std::vector<IValue> elements;
  for (size_t i = 0; i < list.length(); ++i) elements.push_back(list.elementAt(i));
  return elements;
}

std::vector<IValue> argumentsFor(const FunctionObject& function, const IValue& list) {
  std::vector<IValue> elements = elementsOf(list);
  const std::vector<Argument>& parameters = function.schema().arguments();
  if (parameters.empty() || elements.empty()) return elements;
  // One number can stand for a list of a given length.
  const bool is_repeated = elements.size() == 1 && parameters[0].N().has_value();
  if (is_repeated || isNestedLike(elements[0], parameters[0].type())) return elements;
  return isNestedLike(list, parameters[0].type()) ? std::vector{list} : elements;
}

bool mayTake(TypePtr wanted, TypePtr given) noexcept {
  if (wanted->isOptional()) wanted = wanted->element();
  if (given->isOptional()) given = given->element();
  if (given->kind() == TypeKind::Any || given->hasVariables() || wanted->hasVariables()) return true;
  if (isSubtypeOf(given, wanted) || given->underlying() == wanted->underlying() || mayBecome(given, wanted))
    return true;
  if (given->kind() != wanted->kind()) return false;
  if (given->isList() || given->kind() == TypeKind::Dict || given->kind() == TypeKind::Tuple) {
    return std::ranges::equal(wanted->contained(), given->contained(), &mayTake);
  }
  return given->kind() == TypeKind::Union;
}

bool isSequence(const IValue& value) noexcept { return value.isTuple() || value.isList(); }

std::vector<Tensor> tensorsLike(std::string_view role, const IValue& like, const IValue& value) {
  std::vector<Tensor> tensors;
  addTensorsLike(role, like, value, tensors);
  return tensors;
}

std::vector<Tensor> tensorsIn(std::span<const IValue> values) {
  std::vector<Tensor> tensors;
  for (const IValue& value : values) {
    mapTensors(value, [&](const Tensor& tensor) {
      tensors.push_back(tensor);
      return tensor;
    });
  }
  return tensors;
}

std::vector<IValue> withTensors(std::span<const IValue> values, std::span<const Tensor> tensors) {
  std::vector<IValue> replaced;
  size_t next = 0;
  for (const IValue& value : values) {
    replaced.push_back(mapTensors(value, [&](const Tensor&) { return tensors[next++]; }));
  }
  return replaced;
}

}  // namespace boxcar::autograd
