#pragma once

#include <boxcar/dispatcher/fallbacks/handler.h>
#include <boxcar/dispatcher/fallbacks/handler_kinds.h>
#include <boxcar/ivalue/macros.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace boxcar {

// What the calls of one operator cost. The work of calls that an operator's kernel makes is those operators'; where
// they only make views and memory, it is its own.
struct OperatorWork {
  std::string name;
  uint64_t calls = 0;
  uint64_t leaves = 0;   // calls that did the work themselves
  uint64_t unknown = 0;  // leaves of which nobody knows how many operations they are
  double flops = 0;
  double bytes = 0;                 // read and written
  std::chrono::nanoseconds time{};  // less that of the calls below
};

// Counts the floating point operations and the bytes of each operator's calls, takes their time, and holds both against
// what the processor can do, which it measures at the end. The operations are what operator_cost.h knows; else one for
// each element of the results of a pointwise operator. The bytes are, unless they are known, those of the tensors that
// a call takes and gives: all that is behind a view counts once, what only looks at a tensor's shape counts nothing.
class BOXCAR_API CostCounter final : public Handler {
 public:
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  ModeOptions modeOptions() const override { return {.sees_calls_below = true}; }
  std::string finish(bool failed) override;

  // What was counted so far, the longest time first.
  std::vector<OperatorWork> work() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const OperatorEntry*, OperatorWork> work_;
};

extern const HandlerKind kCostKind;

}  // namespace boxcar
