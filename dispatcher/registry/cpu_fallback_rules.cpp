#include <boxcar/dispatcher/registry/cpu_fallback_rules.h>
#include <boxcar/dispatcher/registry/tag.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/schema/function_schema.h>

#include <algorithm>

namespace boxcar {
namespace {

// Whether a value of [type] can be, or contain, a value of [kind].
bool mayHold(TypePtr type, TypeKind kind) {
  return type->kind() == kind || (type->kind() == TypeKind::Any && kind == TypeKind::Tensor) ||
         std::ranges::any_of(type->contained(), [kind](TypePtr inner) { return mayHold(inner, kind); });
}

bool takes(const FunctionSchema& schema, TypeKind kind) {
  return std::ranges::any_of(schema.arguments(),
                             [kind](const Argument& argument) { return mayHold(argument.type(), kind); });
}

// Whether a result shares memory with an argument that is not written.
bool givesViews(const FunctionSchema& schema) {
  return std::ranges::any_of(schema.returns(), [](const Argument& result) {
    return result.alias_info() != nullptr && !result.alias_info()->isWrite();
  });
}

}  // namespace

bool detail::canFallBackToCpu(DispatchKey key) noexcept {
  return isRuntimeDispatchKey(key) && toFunctionalityKey(key) == DispatchKey::Dense && key != DispatchKey::CPU &&
         key != DispatchKey::Meta && toDeviceType(toBackendComponent(key)).has_value();
}

std::optional<std::string> detail::whyNotOnCpu(const OperatorHandle& op) {
  const FunctionSchema& schema = op.schema();
  const OperatorName& name = op.operator_name();
  if (name.name == "aten::copy_") return "copies tensors to the CPU and back, so a device needs its own";
  if (op.hasTag(boxcar::Tag::inplace_view) || givesViews(schema))
    return "returns a view, and a copy on the CPU would not share its memory";
  if (op.hasTag(boxcar::Tag::nondeterministic_seeded))
    return "draws random numbers, and the CPU's differ from the device's";
  if (schema.is_vararg()) return "takes any arguments, and no schema says which are written";
  if (takes(schema, TypeKind::Storage)) return "takes a storage, which would not be the same after a copy to the CPU";
  if (!takes(schema, TypeKind::Tensor)) return "takes no tensor that would tell the device of its result";
  return std::nullopt;
}

}  // namespace boxcar
