#pragma once

#include <boxcar/dispatcher/registry/registration_handle.h>
#include <boxcar/ivalue/dispatch_key.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/operator_name.h>

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace boxcar {

struct CpuFallbackOptions {
  // Operators that run on the CPU even if the device has a kernel: names or patterns (name_pattern.h).
  std::vector<std::string> force = {};
};

// What a CPU fallback ran of one operator.
struct ServedOperator {
  OperatorName name;
  uint64_t calls = 0;
  // Moved between the device and the CPU.
  uint64_t bytes_to_cpu = 0;
  uint64_t bytes_back = 0;
};

// Runs the operators that a device lacks on the CPU while it lives: copies their tensors to the CPU, calls them, and
// copies the results back.
//
//   CpuFallback fallback = registerCpuFallback(DispatchKey::PrivateUse1, {.force = {"aten::mm"}});
//   model(x.to("privateuseone"));
//   std::cerr << fallback.report();
//
// Tensors that share memory on the device also share it in the copies. Tensors that the schema marks as written, in
// place or as out= arguments, are written back into the original tensors, which are resized if the operator resizes
// them, and which are the results. If an operator fails, its arguments are unchanged.
//
// Throws Error for: operators that return views, because a copy shares no memory; factories, because no tensor ties
// them to the device; random operators, because the CPU draws other numbers; and aten::copy_, which it uses to copy.
// All tensors of a call must be on one device; a scalar (a 0-dimensional CPU tensor that is not written) goes with any.
class BOXCAR_API CpuFallback final {
 public:
  // A fallback that serves nothing.
  CpuFallback() noexcept = default;

  // Runs the operators that match [pattern] on the CPU from now on. Throws Error if none match, or if none of them can
  // run there.
  void force(const std::string& pattern);

  // Returns what it served so far, most calls first, without calls that failed.
  std::vector<ServedOperator> served() const;
  // Returns the same as a human-readable table; "" if it served nothing.
  std::string report() const;

 private:
  class State;
  friend CpuFallback registerCpuFallback(DispatchKey, const CpuFallbackOptions&, std::source_location);

  std::shared_ptr<State> state_;
  std::vector<RegistrationHandleRAII> registrations_;
};

// Registers a CPU fallback for [key], the key of a device's dense tensors: DispatchKey::PrivateUse1, CUDA. Throws Error
// if [key] is not such a key of a device other than the CPU, or if it already has a fallback. Leave out [where]: it
// defaults to the caller's place.
[[nodiscard]] BOXCAR_API CpuFallback registerCpuFallback(DispatchKey key, const CpuFallbackOptions& options = {},
                                                         std::source_location where = std::source_location::current());

}  // namespace boxcar
