#include <boxcar/backends/transforms/autocast_classes.h>
#include <boxcar/backends/transforms/autocast_state.h>
#include <boxcar/backends/transforms/autocast_typed.h>
#include <boxcar/backends/transforms/level_text.h>
#include <boxcar/dispatcher/call/call_site.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ops.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/parse_schema.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

// The kernels at the autocast keys: one for each class of operators. They cast arguments, and go on below. Operators
// without a class have none, and their calls pass the keys over.

namespace boxcar::autocast {
namespace {

template <class Visit>
void forEachOwnTensor(std::span<const IValue> arguments, const Visit& visit) {
  for (const IValue& argument : arguments) {
    if (argument.isTensor()) {
      visit(argument.toTensor());
    } else if (argument.isTensorList()) {
      for (const Tensor& tensor : argument.toTensorList().span()) visit(tensor);
    }
  }
}

void castAll(std::span<IValue> arguments, ScalarType dtype, DeviceType device) {
  const auto differs = [&](const Tensor& tensor) {
    return isEligible(tensor, device) && tensor.scalar_type() != dtype;
  };
  for (IValue& argument : arguments) {
    if (argument.isTensor()) {
      if (differs(argument.toTensor())) argument = cached_cast(dtype, argument.toTensor(), device);
    } else if (argument.isTensorList()) {
      const List<Tensor> given = argument.toTensorList();
      if (std::ranges::none_of(given.span(), differs)) continue;
      List<Tensor> cast;  // the caller has the other
      for (const Tensor& tensor : given.span()) cast.push_back(cached_cast(dtype, tensor, device));
      argument = std::move(cast);
    }
  }
}

void castToLower(const OperatorHandle&, std::span<IValue> arguments, DeviceType device) {
  castAll(arguments, region_dtypes.on(device), device);
}

void castToFloat(const OperatorHandle&, std::span<IValue> arguments, DeviceType device) {
  castAll(arguments, ScalarType::Float, device);
}

void castToWidest(const OperatorHandle& op, std::span<IValue> arguments, DeviceType device) {
  const ScalarType lower = region_dtypes.on(device);
  ScalarType widest = lower;
  forEachOwnTensor(arguments, [&](const Tensor& tensor) {
    if (!isEligible(tensor, device)) return;
    const ScalarType dtype = tensor.scalar_type();
    BOXCAR_CHECK(dtype == ScalarType::Float || dtype == lower,
                 "{} got a tensor of {} where autocast(\"{}\", {}) is on: it promotes tensors of {} and float32 alone. "
                 "Cast it before, or use that dtype for the block",
                 op, dtypeName(dtype), toString(device), dtypeName(lower), dtypeName(lower));
    if (dtype == ScalarType::Float) widest = dtype;
  });
  castAll(arguments, widest, device);
}

void askForFloat(const OperatorHandle& op, std::span<IValue> arguments, DeviceType device) {
  if (arguments.empty() || !arguments[0].isTensor() || !isEligible(arguments[0].toTensor(), device)) return;
  static const TypePtr optional_dtype = Type::optionalOf(Type::scalarType());
  const std::vector<Argument>& parameters = op.schema().arguments();
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (arguments[i].isNone() && parameters[i].type() == optional_dtype) arguments[i] = IValue(ScalarType::Float);
  }
}

void refuse(const OperatorHandle& op, std::span<IValue> arguments, DeviceType device) {
  forEachOwnTensor(arguments, [&](const Tensor& tensor) {
    BOXCAR_CHECK(!tensor.defined() || tensor.device().type() != device,
                 "{} is unsafe where autocast(\"{}\") is on: its gradients may be too large for float16. Call "
                 "binary_cross_entropy_with_logits on what sigmoid() gets, or call it in a block `with "
                 "autocast(\"{}\", enabled=False)`",
                 op, toString(device), toString(device));
  });
}

void leave(const OperatorHandle&, std::span<IValue>, DeviceType) {}

using Cast = void (*)(const OperatorHandle& op, std::span<IValue> arguments, DeviceType device);

std::span<IValue> argumentsOn(Stack& stack, const OperatorHandle& op) {
  return last(stack, op.entry().argumentBytes() / sizeof(IValue));
}

// The dtypes of the arguments on [device].
uint32_t dtypesOf(std::span<const IValue> arguments, DeviceType device) {
  uint32_t bits = 0;
  for (const IValue& argument : arguments) {
    if (argument.isTensor()) {
      bits |= dtypeBits(argument.unsafeGet<IValue::Tag::Tensor>(), device);
    } else if (argument.isTensorList()) {
      for (const Tensor& tensor : argument.unsafeGet<IValue::Tag::TensorList>()->values) {
        bits |= dtypeBits(tensor, device);
      }
    }
  }
  return bits;
}

template <DeviceType device, CastPolicy policy, Cast cast>
void castAndGoOn(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  constexpr DispatchKey key = autocastKeyOf(device);
  // What kernels call is part of this call.
  const WithoutKey below(key);
  const std::span<IValue> arguments = argumentsOn(stack, op);
  if (!leavesAlone(policy, dtypesOf(arguments, device), device)) cast(op, arguments, device);
  op.redispatchBoxed(keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, key), stack);
}

// Calls norm.ScalarOpt_dtype for norm.Scalar, and norm.ScalarOpt_dim_dtype for norm.ScalarOpt_dim.
template <DeviceType device>
void appendFloat(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  constexpr DispatchKey key = autocastKeyOf(device);
  const WithoutKey below(key);
  if (!isEligible(argumentsOn(stack, op)[0].toTensor(), device)) {
    return op.redispatchBoxed(keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, key), stack);
  }
  static const OperatorHandle whole = Dispatcher::singleton().findSchemaOrThrow("aten::norm", "ScalarOpt_dtype");
  static const OperatorHandle along = Dispatcher::singleton().findSchemaOrThrow("aten::norm", "ScalarOpt_dim_dtype");
  stack.push_back(IValue(ScalarType::Float));
  (op.operator_name().overload_name == "Scalar" ? whole : along).callBoxed(stack);
}

template <DeviceType device, CastPolicy policy, Cast cast>
KernelFunction castingKernel() {
  return KernelFunction::makeFromBoxedFunction<&castAndGoOn<device, policy, cast>>();
}

template <DeviceType device>
KernelFunction kernelOf(CastPolicy policy) {
  switch (policy) {
    case CastPolicy::lower_precision_fp: return castingKernel<device, CastPolicy::lower_precision_fp, &castToLower>();
    case CastPolicy::fp32: return castingKernel<device, CastPolicy::fp32, &castToFloat>();
    case CastPolicy::fp32_set_opt_dtype: return castingKernel<device, CastPolicy::fp32_set_opt_dtype, &askForFloat>();
    case CastPolicy::fp32_append_dtype: return KernelFunction::makeFromBoxedFunction<&appendFloat<device>>();
    case CastPolicy::promote: return castingKernel<device, CastPolicy::promote, &castToWidest>();
    case CastPolicy::banned: return castingKernel<device, CastPolicy::banned, &refuse>();
    case CastPolicy::whole: return castingKernel<device, CastPolicy::whole, &leave>();
  }
  return {};
}

template <size_t index>
void registerClasses() {
  constexpr DeviceType device = kDevices[index];
  static std::once_flag once;
  std::call_once(once, [] {
    // Never destroyed: calls may run when the process ends.
    static auto& handles = *new std::vector<RegistrationHandleRAII>;
    Dispatcher& dispatcher = Dispatcher::singleton();
    setLevelDescriber(autocastKeyOf(device), &describeAutocastLevel);
    for (const OperatorClass& each : operatorClasses()) {
      if (!each.policies[index].has_value()) continue;
      const OperatorName name = parseName(each.op);
      const std::optional<OperatorHandle> op = dispatcher.findSchema(name);
      if (!op.has_value()) continue;  // this build was made without it
      const CastPolicy policy = *each.policies[index];
      handles.push_back(dispatcher.registerImpl(name, autocastKeyOf(device),
                                                typedKernel(*op, policy, device, kernelOf<device>(policy)),
                                                {kClassesFile, each.line}));
    }
  });
}

// A kernel of register_autocast().
struct CastInputs {
  DeviceType device;
  ScalarType dtype;

  void operator()(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) const {
    const DispatchKeySet below = keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, autocastKeyOf(device));
    const std::span<IValue> arguments = argumentsOn(stack, op);
    bool is_on_device = false;
    for (const IValue& argument : arguments) {
      visitTensors(argument, [&](const Tensor& tensor) { is_on_device |= tensor.device().type() == device; });
    }
    if (!is_on_device) return op.redispatchBoxed(below, stack);
    const ExcludeDispatchKeyGuard without(autocast_dispatch_keyset);
    for (IValue& argument : arguments) {
      bool is_cast = false;
      visitTensors(argument, [&](const Tensor& tensor) {
        is_cast |= isEligible(tensor, device) && tensor.scalar_type() != dtype;
      });
      if (!is_cast) continue;
      argument = mapTensors(argument, [&](const Tensor& tensor) {
        return isEligible(tensor, device) && tensor.scalar_type() != dtype ? boxcar::_to_copy(tensor, dtype) : tensor;
      });
    }
    op.redispatchBoxed(below - autocast_dispatch_keyset, stack);
  }
};

}  // namespace

void registerKernelsOn(DeviceType device) {
  if (device == DeviceType::CUDA) return registerClasses<1>();
  registerClasses<0>();
}

void registerAutocastKernels() {
  for (const DeviceType device : kDevices) registerKernelsOn(device);
}

RegistrationHandleRAII register_autocast(std::string_view op, DeviceType device, ScalarType cast_inputs,
                                         const std::source_location& where) {
  const OperatorName name = parseName(op);
  const std::optional<OperatorHandle> found = Dispatcher::singleton().findSchema(name);
  BOXCAR_CHECK(found.has_value(), "register_autocast: there is no operator {}; define it, or load its plugin, before",
               op);
  BOXCAR_CHECK(is_autocast_available(device),
               "register_autocast: {} cannot be cast on '{}', which has no autocast; it is for \"cpu\" and \"cuda\"",
               op, toString(device));
  BOXCAR_CHECK(isFloatingType(cast_inputs),
               "register_autocast: arguments of {} are floating point tensors, which are not cast to {}", op,
               dtypeName(cast_inputs));
  registerKernelsOn(device);  // before, so that the newer kernel is this one
  const std::optional<CallSite> line = currentCallSite();
  RegistrationSite site{where.file_name(), where.line()};
  if (line.has_value()) site = RegistrationSite::ofScript(line->file, line->line);
  site.is_script = false;
  return Dispatcher::singleton().registerImpl(
      name, autocastKeyOf(device), KernelFunction::makeFromBoxedFunctor(CastInputs{device, cast_inputs}), site);
}

}  // namespace boxcar::autocast
