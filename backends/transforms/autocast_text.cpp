#include <boxcar/backends/transforms/autocast_classes.h>
#include <boxcar/backends/transforms/autocast_state.h>
#include <boxcar/backends/transforms/level_text.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// What tools say about autocast.

namespace boxcar::autocast {
namespace {

// Whether the kernel for [op] at the device's key is that of its class, and not an operator's own.
bool hasKernelOfClass(const OperatorHandle& op, DeviceType device, const OperatorClass& known) {
  const TableEntry entry = Dispatcher::singleton().computeTableEntry(op, autocastKeyOf(device));
  return entry.kernel->kind == KernelKind::Function && entry.site == RegistrationSite{kClassesFile, known.line};
}

std::string effectOf(CastPolicy policy, DeviceType device) {
  switch (policy) {
    case CastPolicy::lower_precision_fp:
      return fmt::format("arguments are cast to {}", dtypeName(get_autocast_dtype(device)));
    case CastPolicy::fp32: return "arguments are cast to float32";
    case CastPolicy::fp32_set_opt_dtype: return "the argument 'dtype' becomes float32, unless it is given";
    case CastPolicy::fp32_append_dtype: return "the overload with the argument 'dtype' is called, with float32";
    case CastPolicy::promote: return "arguments are cast to the widest dtype among them";
    case CastPolicy::banned: return "the call is an error";
    case CastPolicy::whole: return "nothing is cast, also in the calls that the operator makes";
  }
  return {};
}

// What a call casts: the names of its arguments, and the dtypes that they have, "float32 and float16".
struct FoundCasts {
  std::vector<std::string> names;
  std::vector<std::string> dtypes;
};

bool mayBeCast(ScalarType dtype) { return isFloatingType(dtype) && dtype != ScalarType::Double; }

bool isOnDevice(const ArgumentKeys& argument, DeviceType device) {
  const DispatchKey key = device == DeviceType::CUDA ? DispatchKey::CUDA : DispatchKey::CPU;
  return argument.keys.has_backend(toBackendComponent(key)) && argument.type->kind() != TypeKind::Generator;
}

// Finds the casts to [dtype], and makes [call] that on what is cast.
FoundCasts castTo(LevelCall& call, ScalarType dtype, DeviceType device) {
  FoundCasts found;
  for (ArgumentKeys& argument : call.arguments) {
    if (!isOnDevice(argument, device)) continue;
    bool is_cast = false;
    std::vector<ScalarType> after;
    for (const ScalarType own : argument.dtypes) {
      const bool differs = mayBeCast(own) && own != dtype;
      const ScalarType then = differs ? dtype : own;
      if (std::ranges::find(after, then) == after.end()) after.push_back(then);
      if (!differs) continue;
      is_cast = true;
      const std::string name(dtypeName(own));
      if (std::ranges::find(found.dtypes, name) == found.dtypes.end()) found.dtypes.push_back(name);
    }
    if (is_cast) found.names.push_back(argument.name);
    argument.dtypes = std::move(after);
  }
  return found;
}

bool hasUnknownDtypes(const LevelCall& call, DeviceType device) {
  return std::ranges::any_of(call.arguments, [&](const ArgumentKeys& argument) {
    return isOnDevice(argument, device) && argument.dtypes.empty();
  });
}

// The widest of what [policy] promotes: float32, if there is one.
ScalarType widestOf(const LevelCall& call, DeviceType device) {
  for (const ArgumentKeys& argument : call.arguments) {
    if (isOnDevice(argument, device) &&
        std::ranges::find(argument.dtypes, ScalarType::Float) != argument.dtypes.end()) {
      return ScalarType::Float;
    }
  }
  return get_autocast_dtype(device);
}

// The first dtype that [policy] promote refuses.
std::optional<ScalarType> notPromoted(const LevelCall& call, DeviceType device) {
  for (const ArgumentKeys& argument : call.arguments) {
    if (!isOnDevice(argument, device)) continue;
    for (const ScalarType own : argument.dtypes) {
      if (mayBeCast(own) && own != ScalarType::Float && own != get_autocast_dtype(device)) return own;
    }
  }
  return std::nullopt;
}

std::string castsOf(LevelCall& call, CastPolicy policy, DeviceType device) {
  if (policy == CastPolicy::promote) {
    if (const std::optional<ScalarType> other = notPromoted(call, device)) {
      call.next = LevelCall::Next::kEnd;
      return fmt::format("refuses tensors of {}: it promotes those of {} and float32 alone", dtypeName(*other),
                         dtypeName(get_autocast_dtype(device)));
    }
  }
  if (hasUnknownDtypes(call, device))
    return fmt::format("casts by its class {}: {}", toString(policy), effectOf(policy, device));
  const ScalarType dtype = policy == CastPolicy::lower_precision_fp ? get_autocast_dtype(device)
                           : policy == CastPolicy::promote          ? widestOf(call, device)
                                                                    : ScalarType::Float;
  const FoundCasts found = castTo(call, dtype, device);
  if (found.names.empty()) return fmt::format("casts nothing, as no argument is to be cast to {}", dtypeName(dtype));
  return fmt::format("casts {} from {} to {}", enumerated(found.names), enumerated(found.dtypes), dtypeName(dtype));
}

}  // namespace

void describeAutocastLevel(LevelCall& call) {
  const DeviceType device = call.key == DispatchKey::AutocastCUDA ? DeviceType::CUDA : DeviceType::CPU;
  const OperatorClass* const known = findOperatorClass(toString(call.op.operator_name()));
  const size_t index = device == DeviceType::CUDA ? 1 : 0;
  if (known == nullptr || !known->policies[index].has_value() || !hasKernelOfClass(call.op, device, *known)) return;
  call.excluded = DispatchKeySet(call.key);
  const CastPolicy policy = *known->policies[index];
  switch (policy) {
    case CastPolicy::lower_precision_fp:
    case CastPolicy::fp32:
    case CastPolicy::promote: call.effect = castsOf(call, policy, device); return;
    case CastPolicy::fp32_set_opt_dtype:
      call.effect = "asks for float32 by the argument 'dtype', unless that is given";
      return;
    case CastPolicy::fp32_append_dtype:
      call.effect = "calls the overload with the argument 'dtype', with float32";
      call.next = LevelCall::Next::kParts;
      return;
    case CastPolicy::banned:
      call.effect = "refuses the call, as its gradients may be too large for float16";
      call.next = LevelCall::Next::kEnd;
      return;
    case CastPolicy::whole: call.effect = "casts nothing, also in the calls that the operator makes"; return;
  }
}

std::string describeAutocast(const OperatorHandle& op) {
  registerAutocastKernels();
  const OperatorClass* const known = findOperatorClass(toString(op.operator_name()));
  if (known == nullptr) return {};
  const auto [cpu, cuda] = known->policies;
  std::string text;
  if (cpu.has_value()) text = fmt::format("{} on cpu", toString(*cpu));
  if (cpu.has_value() && cpu == cuda) {
    text += " and cuda";
  } else if (cuda.has_value()) {
    text += fmt::format("{}{} on cuda", text.empty() ? "" : ", ", toString(*cuda));
  }
  return fmt::format("{}, by {}:{}", text, kClassesFile, known->line);
}

std::string describeCast(const OperatorHandle& op) {
  const OperatorClass* const known = findOperatorClass(toString(op.operator_name()));
  std::string text;
  for (size_t i = 0; known != nullptr && i < kDevices.size(); ++i) {
    const DeviceType device = kDevices[i];
    if (!known->policies[i].has_value() || !is_autocast_enabled(device) || !hasKernelOfClass(op, device, *known)) {
      continue;
    }
    text +=
        fmt::format("{}on {}, {}", text.empty() ? "" : "; ", toString(device), effectOf(*known->policies[i], device));
  }
  return text;
}

}  // namespace boxcar::autocast
