#pragma once

#include <boxcar/dispatcher/fallbacks/handler.h>
#include <boxcar/dispatcher/fallbacks/handler_kinds.h>
#include <boxcar/dispatcher/fallbacks/profile_table.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/output_file.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace boxcar {

namespace detail {
class CallLog;
}

struct ProfilerOptions {
  // Files to be written at the end; none where they are empty. The first is in Chrome's trace format, for Perfetto or
  // chrome://tracing; the other is a page for a browser.
  std::string trace = {};
  std::string page = {};
  ProfileTableOptions table = {};
  // How many calls of a thread are on the time line: the last ones. Rounded up to a power of two; 128 bytes each.
  size_t most_calls = size_t{1} << 17;
};

// Measures every call, also those that kernels make: when and how long, on which thread, by which key's kernel, with
// which shapes and dtypes, and the bytes of storages that were allocated meanwhile. finish() gives a table of where the
// time went, by operator.
//
// A thread logs its calls in memory of its own, set up when it switches the profiler on: a call takes no lock, and
// allocates nothing. Time is the caller's: work that a device goes on with afterwards is not in it. The total of an
// operator that calls itself has the calls inside it twice.
class BOXCAR_API Profiler final : public Handler {
 public:
  // Opens the files: an Error where one cannot be.
  explicit Profiler(ProfilerOptions options = {});
  ~Profiler() override;

  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  ModeOptions modeOptions() const override { return {.sees_calls_below = true, .only_redispatches = true}; }
  // Where the thread has it on already this changes nothing.
  std::shared_ptr<void> enter() override;
  std::string finish(bool failed) override;

  // Where the calls of this thread are counted as they end; for those who watch, as a signal handler of the thread.
  const volatile uint64_t* callCountOfThread();

 private:
  struct Scope;

  detail::CallLog& logOfThread();

  const ProfilerOptions options_;
  std::optional<OutputFile> trace_;
  std::optional<OutputFile> page_;
  std::mutex mutex_;
  // By the number of the thread, which no other thread of the process ever has.
  std::map<uint64_t, detail::CallLog*> log_of_thread_;
  std::vector<std::unique_ptr<detail::CallLog>> logs_;
};

// profile("out.json"): the trace, or the page where the name ends in .html, and the table's first rows; profile():
// these alone.
extern const HandlerKind kProfileKind;

}  // namespace boxcar
