#pragma once

#include <boxcar/dispatcher/fallbacks/handler.h>
#include <boxcar/dispatcher/fallbacks/handler_kinds.h>
#include <boxcar/ivalue/macros.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace boxcar {

// Which calls a FaultInjector makes fail, and how.
struct FaultOptions {
  // Names the operators (name_pattern.h); calls that kernels make count, too.
  std::string pattern;
  // Which of their calls, counted from 1 over all threads; none where `probability` is more than 0.
  int64_t n = 1;
  // Whether a bit of a result is flipped, in place of an Error.
  bool corrupt = false;
  // What the place of the bit, and the choice of the calls where `probability` is more than 0, are drawn from.
  int64_t seed = 0;
  // How likely each call is chosen.
  double probability = 0;
};

// Which of the options makes no sense, and why: "" if all do.
BOXCAR_API std::string faultOf(const FaultOptions& options);

// Makes chosen calls fail, to see what becomes of it: they throw an Error that says so before anything ran, or give
// results of which one bit is wrong. The same options choose the same calls, by their number, in every run.
class BOXCAR_API FaultInjector final : public Handler {
 public:
  // An Error where an option makes no sense (faultOf).
  explicit FaultInjector(FaultOptions options);

  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  ModeOptions modeOptions() const override { return {.sees_calls_below = true}; }
  std::string finish(bool failed) override;

  // How many faults there were so far.
  uint64_t injected() const noexcept { return injected_.load(); }

 private:
  bool chooses(uint64_t number) const;
  void note(uint64_t number, const std::string& what);

  const FaultOptions options_;
  std::atomic<uint64_t> matched_ = 0;
  std::atomic<uint64_t> injected_ = 0;
  std::mutex mutex_;
  uint64_t noted_ = 0;  // of which the first are kept
  std::vector<std::string> notes_;
};

extern const HandlerKind kInjectKind;

}  // namespace boxcar
