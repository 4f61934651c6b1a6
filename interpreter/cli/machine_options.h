#pragma once

#include <boxcar/dispatcher/handlers/cpu_fallback/cpu_fallback.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace boxcar::cli {

// What of the machine a command may use.
struct MachineOptions {
  // 0: what BOXCAR_NUM_THREADS says, or every processor.
  int threads = 0;
  // The kind of device whose missing operators run on the CPU; kEveryDevice for all, "" for none.
  std::string cpu_fallback;
  std::vector<std::string> forced;
};

inline constexpr const char* kEveryDevice = "*";

// Adds --threads.
void addThreadsOption(CLI::App& command, const std::shared_ptr<MachineOptions>& options);
// Adds --threads, --cpu-fallback and --cpu-fallback-force.
void addMachineOptions(CLI::App& command, const std::shared_ptr<MachineOptions>& options);

// Sets the number of threads. An Error where BOXCAR_NUM_THREADS is none.
void applyThreads(const MachineOptions& options);

// Registers the fallbacks that were asked for, for the devices that are there by now, and takes them back at its end.
class CpuFallbacks final {
 public:
  explicit CpuFallbacks(const MachineOptions& options);

  // What they served, for stderr; "" where none was asked for.
  std::string report() const;

 private:
  bool is_on_ = false;
  std::vector<CpuFallback> fallbacks_;
};

}  // namespace boxcar::cli
