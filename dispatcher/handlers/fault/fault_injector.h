#pragma once

#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/ivalue/macros.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace boxcar {

// Which calls a FaultInjector makes fail, and how.
struct FaultOptions {
  // The operators (name_pattern.h); calls that kernels make count too.
  std::string pattern;
  // The number of the call to fail, counted from 1 over all threads; unused if `probability` is more than 0.
  int64_t n = 1;
  // Whether to flip a bit of a result instead of throwing an Error.
  bool corrupt = false;
  // The seed for the place of the bit, and for the choice of calls if `probability` is more than 0.
  int64_t seed = 0;
  // The probability that each call is chosen.
  double probability = 0;
};

// Returns which option is invalid, and why; "" if all are valid.
BOXCAR_API std::string faultOf(const FaultOptions& options);

// Makes chosen calls fail, to test how a program copes. They throw an Error that says so before anything runs, or
// return results with one wrong bit. The same options choose the same calls, by number, in every run.
class BOXCAR_API FaultInjector final : public Handler {
 public:
  // Throws Error if an option is invalid (faultOf).
  explicit FaultInjector(FaultOptions options);

  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  ModeOptions modeOptions() const override { return {.sees_calls_below = true}; }
  std::string finish(bool failed) override;

  // The number of faults so far.
  uint64_t injected() const noexcept { return injected_.load(); }

 private:
  bool chooses(uint64_t number) const;
  void note(uint64_t number, const std::string& what);

  const FaultOptions options_;
  std::atomic<uint64_t> matched_ = 0;
  std::atomic<uint64_t> injected_ = 0;
  std::mutex mutex_;
  uint64_t noted_ = 0;  // only the first ones are kept in notes_
  std::vector<std::string> notes_;
};

extern const HandlerKind kInjectKind;

}  // namespace boxcar
