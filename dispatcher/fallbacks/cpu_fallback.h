#pragma once

#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/dispatcher/registration_handle.h>
#include <boxcar/ivalue/dispatch_key.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace boxcar {

struct CpuFallbackOptions {
  // Operators that run on the CPU although the device has a kernel: names or patterns (name_pattern.h).
  std::vector<std::string> force = {};
};

// What a CPU fallback did of one operator.
struct ServedOperator {
  OperatorName name;
  uint64_t calls = 0;
  // Moved between the device and the CPU.
  uint64_t bytes_to_cpu = 0;
  uint64_t bytes_back = 0;
};

// Runs the operators that a device lacks on the CPU, as long as it lives: copies their tensors there, calls them, and
// copies the results back.
//
//   CpuFallback fallback = registerCpuFallback(DispatchKey::PrivateUse1, {.force = {"aten::mm"}});
//   model(x.to("privateuseone"));
//   std::cerr << fallback.report();
//
// What shares memory on the device shares it among the copies. What the schema says is written, in place or as an out=
// argument, is written back into the very tensors, which are resized where the operator does so, and they are the
// results. Where an operator fails, its arguments stay as they were.
//
// It refuses, with an Error: operators that give views, for a copy shares no memory; factories, which no tensor ties to
// the device; random operators, for the CPU draws other numbers; and aten::copy_, by which it copies. All tensors of a
// call must lie on one device; a number (a tensor on the CPU without dimensions that is not written) goes with any.
class BOXCAR_API CpuFallback final {
 public:
  // One that serves nothing.
  CpuFallback() noexcept = default;

  // Runs the operators that [pattern] names on the CPU from now on. An Error where there is none, or none of them can.
  void force(const std::string& pattern);

  // What it served so far, most calls first. Calls that failed are not among it.
  std::vector<ServedOperator> served() const;
  // The same as a table for people; "" where it served nothing.
  std::string report() const;

 private:
  class State;
  friend CpuFallback registerCpuFallback(DispatchKey, const CpuFallbackOptions&, std::source_location);

  std::shared_ptr<State> state_;
  std::vector<RegistrationHandleRAII> registrations_;
};

// Registers one for [key], a device's dense tensors: DispatchKey::PrivateUse1, CUDA. An Error for a key that is none of
// another device than the CPU, and where the key has a fallback already. Nobody gives [where], the caller's place.
[[nodiscard]] BOXCAR_API CpuFallback registerCpuFallback(DispatchKey key, const CpuFallbackOptions& options = {},
                                                         std::source_location where = std::source_location::current());

namespace detail {

// Why no CPU fallback serves [op], "gives a view, which …"; nothing where it does.
BOXCAR_API std::optional<std::string> whyNotOnCpu(const OperatorHandle& op);
// Whether there can be one for [key].
BOXCAR_API bool canFallBackToCpu(DispatchKey key) noexcept;

}  // namespace detail
}  // namespace boxcar
