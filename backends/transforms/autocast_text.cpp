#include <boxcar/backends/transforms/autocast_classes.h>
#include <boxcar/backends/transforms/autocast_state.h>
#include <fmt/format.h>

#include <string>

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

}  // namespace

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
