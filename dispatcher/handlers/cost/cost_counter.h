#pragma once

#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/ivalue/macros.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace boxcar {

// What the calls of one operator cost. The work of calls that an operator's kernel makes counts for those operators; if
// they only make views and allocate memory, it counts for the outer operator.
struct OperatorWork {
  std::string name;
  uint64_t calls = 0;
  uint64_t leaves = 0;   // calls that did the work themselves
  uint64_t unknown = 0;  // leaves whose number of operations is unknown
  double flops = 0;
  double bytes = 0;                 // read and written
  std::chrono::nanoseconds time{};  // without the calls below
};

// Counts the floating-point operations and bytes of each operator's calls, takes their time, and compares both with
// what the processor can do, which it measures at the end. Operations come from operator_cost.h; otherwise a pointwise
// operator counts one per result element. Bytes, unless registered, are those of the tensors that a call takes and
// returns: memory behind a view counts once; operators that only read a tensor's shape count nothing.
class BOXCAR_API CostCounter final : public Handler {
 public:
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  ModeOptions modeOptions() const override { return {.sees_calls_below = true}; }
  std::string finish(bool failed) override;

  // Returns the counts so far, longest time first.
  std::vector<OperatorWork> work() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const OperatorEntry*, OperatorWork> work_;
};

extern const HandlerKind kCostKind;

}  // namespace boxcar
