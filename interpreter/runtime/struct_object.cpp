#include <boxcar/interpreter/runtime/conversion.h>
#include <boxcar/interpreter/runtime/dynamic_call.h>
#include <boxcar/interpreter/runtime/operator_value.h>
#include <boxcar/interpreter/runtime/script_function.h>
#include <boxcar/interpreter/runtime/struct_object.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>

namespace boxcar::interp {
namespace {

[[noreturn, gnu::cold, gnu::noinline]] void failStruct(const IValue& value, const StructLayout& wanted) {
  const StructObject* const found = structIn(value);
  const bool is_namesake = found != nullptr && found->layout().name == wanted.name;
  BOXCAR_FAIL("expected {}{}, but found {}{}", wanted.name, is_namesake ? " of " + wanted.source : "", kindName(value),
              is_namesake ? " of " + found->layout().source : "");
}

std::vector<std::string_view> namesOf(const StructLayout& layout) {
  std::vector<std::string_view> names;
  for (const StructField& field : layout.fields) names.push_back(field.name);
  return names;
}

// Returns the exported method of the struct; null if it has none of that name.
const CodeExport* findMethod(const Executable& program, const StructLayout& layout, std::string_view name) {
  for (const CodeExport& exported : program.unit().exports) {
    if (exported.schema.overload_name() == name && exported.schema.name() == layout.name) return &exported;
  }
  return nullptr;
}

StructObject& structWithField(const IValue& value, std::string_view name, uint16_t& index) {
  StructObject* const object = structIn(value);
  const auto found = object == nullptr ? std::nullopt : object->layout().indexOf(name);
  if (!found) {
    const std::string hint = object == nullptr ? "" : didYouMean(name, namesOf(object->layout()));
    BOXCAR_FAIL("{} has no field `{}`{}{}", kindName(value), name, hint.empty() ? "" : ".", hint);
  }
  index = *found;
  return *object;
}

}  // namespace

StructObject* structIn(const IValue& value) noexcept {
  return value.isObject() ? dynamic_cast<StructObject*>(value.toObject().get()) : nullptr;
}

IValue makeStruct(const Executable& program, uint32_t index, std::vector<IValue> fields) {
  const CodeStruct& made = program.unit().structs[index];
  const Executable& owner = made.origin == CodeStruct::Origin::Imported ? program.module(made.module) : program;
  return IValue(makeIntrusive<StructObject>(*layoutOf(made.type), owner.weak_from_this(), std::move(fields)));
}

IValue& fieldOf(const IValue& value, const CodeField& field) {
  const StructLayout* const layout = layoutOf(field.type);
  // Only structs have a layout as their identity.
  if (!value.isObject() || value.toObject()->classIdentity() != layout) [[unlikely]]
    failStruct(value, *layout);
  return static_cast<StructObject&>(*value.toObject()).fields()[field.index];
}

bool hasMember(const IValue& value, std::string_view name) {
  const StructObject* const object = structIn(value);
  if (object == nullptr) return false;
  if (object->layout().indexOf(name)) return true;
  const std::shared_ptr<const Executable> owner = object->owner();
  return owner != nullptr && findMethod(*owner, object->layout(), name) != nullptr;
}

IValue fieldNamed(const IValue& value, std::string_view name) {
  uint16_t index = 0;
  return structWithField(value, name, index).fields()[index];
}

void setFieldNamed(const IValue& value, std::string_view name, const IValue& to) {
  uint16_t index = 0;
  StructObject& object = structWithField(value, name, index);
  const TypePtr type = object.layout().fields[index].type;
  try {
    object.fields()[index] = convertValue(to, {type});
  } catch (const Error&) {
    BOXCAR_FAIL("field `{}` of {} must be {}, not {}", name, object.layout().name, *type, kindName(to));
  }
}

IValue callMethodNamed(std::string_view name, std::span<IValue> arguments, std::span<const std::string_view> keywords) {
  StructObject* const object = structIn(arguments[0]);
  BOXCAR_CHECK(object != nullptr, "{} has no method `{}`", kindName(arguments[0]), name);
  const StructLayout& layout = object->layout();
  const std::shared_ptr<const Executable> owner = object->owner();
  BOXCAR_CHECK(owner != nullptr, "{} is a struct of {}, which is no longer loaded", layout.name, layout.source);
  if (const CodeExport* const method = findMethod(*owner, layout, name)) {
    const IValue function = functionValue(owner->function(method->function));
    return callFunction(toFunction(function, name), arguments, keywords);
  }
  // A field may hold a function.
  if (const auto field = layout.indexOf(name)) {
    const IValue held = object->fields()[*field];
    return callFunction(toFunction(held, fmt::format("the call of field `{}` of {}", name, layout.name)),
                        arguments.subspan(1), keywords.subspan(1));
  }
  std::vector<std::string_view> names;
  for (const CodeExport& exported : owner->unit().exports) {
    if (exported.schema.name() == layout.name) names.push_back(exported.schema.overload_name());
  }
  const std::string hint = didYouMean(name, names);
  BOXCAR_FAIL("{} has no method `{}`{}{}", layout.name, name, hint.empty() ? "" : ".", hint);
}

}  // namespace boxcar::interp
