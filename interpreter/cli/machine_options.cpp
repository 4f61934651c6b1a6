#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cuda/available.h>
#include <boxcar/dispatcher/registry/cpu_fallback_rules.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/cli/machine_options.h>
#include <boxcar/interpreter/cli/number_range.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <optional>

namespace boxcar::cli {
namespace {

// Returns what is wrong with a DEVICE; "" if nothing is.
std::string faultOfDevice(const std::string& text) {
  if (text == kEveryDevice) return {};
  try {
    const Device device(text);
    if (device.has_index())
      return fmt::format("name a kind of device, without an index: '{}'", toString(device.type()));
    if (detail::canFallBackToCpu(toDispatchKey(device.type()))) return {};
    return fmt::format("'{}' is not a device that can run its operators on the CPU instead", text);
  } catch (const Error& error) {
    return error.message();
  }
}

// Returns the devices that can hold tensors here: those with their own kernel for aten::copy_.
std::vector<DispatchKey> devicesThatAreThere() {
  std::vector<DispatchKey> found;
  static_cast<void>(cuda::isAvailable());  // asking registers its kernels
  const OperatorHandle copy = Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "");
  for (uint8_t number = 1; number <= num_backends; ++number) {
    const auto type = toDeviceType(static_cast<BackendComponent>(number));
    if (!type.has_value()) continue;
    const DispatchKey key = toDispatchKey(*type);
    if (detail::canFallBackToCpu(key) && copy.hasKernelForDispatchKey(key) &&
        !Dispatcher::singleton().hasBackendFallbackForDispatchKey(key))
      found.push_back(key);
  }
  return found;
}

}  // namespace

void addThreadsOption(CLI::App& command, const std::shared_ptr<MachineOptions>& options) {
  command
      .add_option("--threads", options->threads,
                  "The number of threads of CPU kernels (BOXCAR_NUM_THREADS, or one per processor)")
      ->type_name("N")
      ->check(numbersFrom(1, cpu::kMostThreads));
}

void addMachineOptions(CLI::App& command, const std::shared_ptr<MachineOptions>& options) {
  addThreadsOption(command, options);
  CLI::Option* const fallback =
      command
          .add_flag(std::string("--cpu-fallback{") + kEveryDevice + "}", options->cpu_fallback,
                    "Run operators that a device lacks on the CPU, and report them at the end; with DEVICE: only for "
                    "that kind of device")
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
          ->type_name("DEVICE");
  fallback->check(CLI::Validator(faultOfDevice, ""));
  command
      .add_option("--cpu-fallback-force", options->forced,
                  "With --cpu-fallback: operators to run on the CPU although the device has a kernel: names or "
                  "patterns, separated by commas")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs(fallback);
}

void applyThreads(const MachineOptions& options) {
  if (options.threads != 0) cpu::setThreadCount(options.threads);
  // Reports a wrong environment variable before anything runs.
  static_cast<void>(cpu::threadCount());
}

CpuFallbacks::CpuFallbacks(const MachineOptions& options) : is_on_(!options.cpu_fallback.empty()) {
  if (!is_on_) return;
  const CpuFallbackOptions forced{.force = options.forced};
  if (options.cpu_fallback == kEveryDevice) {
    for (const DispatchKey key : devicesThatAreThere()) fallbacks_.push_back(registerCpuFallback(key, forced));
  } else {
    fallbacks_.push_back(registerCpuFallback(toDispatchKey(Device(options.cpu_fallback).type()), forced));
  }
}

std::string CpuFallbacks::report() const {
  std::string text;
  for (const CpuFallback& fallback : fallbacks_) text += fallback.report();
  if (!text.empty() || !is_on_) return text;
  return fallbacks_.empty() ? "CPU fallback: there is no device except the CPU; --plugin loads one\n"
                            : "CPU fallback: no operator needed it\n";
}

}  // namespace boxcar::cli
