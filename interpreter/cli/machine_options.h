#pragma once

#include <boxcar/dispatcher/handlers/cpu_fallback/cpu_fallback.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace boxcar::cli {

// Which of the machine's resources a command may use.
struct MachineOptions {
  // 0: what BOXCAR_NUM_THREADS says, or every processor.
  int threads = 0;
  // The device type whose missing operators run on the CPU; kEveryDevice for all, "" for none.
  std::string cpu_fallback;
  std::vector<std::string> forced;
};

inline constexpr const char* kEveryDevice = "*";

// Adds --threads.
void addThreadsOption(CLI::App& command, const std::shared_ptr<MachineOptions>& options);
// Adds --threads, --cpu-fallback and --cpu-fallback-force.
void addMachineOptions(CLI::App& command, const std::shared_ptr<MachineOptions>& options);

// Sets the number of threads. Throws Error if BOXCAR_NUM_THREADS is not a number of threads.
void applyThreads(const MachineOptions& options);

// Registers the requested fallbacks for the devices that exist by now, and removes them at its end.
class CpuFallbacks final {
 public:
  explicit CpuFallbacks(const MachineOptions& options);

  // Returns what the fallbacks served, for stderr; "" if none was requested.
  std::string report() const;

 private:
  bool is_on_ = false;
  std::vector<CpuFallback> fallbacks_;
};

}  // namespace boxcar::cli
