#pragma once

#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/dispatcher/handlers/profile/profile_table.h>
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
  // Files to be written at the end; empty: none. The first is in Chrome's trace format, for Perfetto or
  // chrome://tracing; the other is a page for a browser.
  std::string trace = {};
  std::string page = {};
  ProfileTableOptions table = {};
  // How many calls of a thread the timeline keeps: the last ones. Rounded up to a power of two; 128 bytes each.
  size_t most_calls = size_t{1} << 17;
};

// Measures every call, including those that kernels make: when and how long, on which thread, by which key's kernel,
// with which shapes and dtypes, and the bytes of storages allocated meanwhile. finish() returns a table of where the
// time went, by operator.
//
// A thread logs its calls in its own memory, which is allocated when it switches the profiler on: a call takes no lock
// and allocates nothing. Time is the caller's: work that a device continues asynchronously is not included. The total
// of a recursive operator counts its inner calls twice.
class BOXCAR_API Profiler final : public Handler {
 public:
  // Opens the files. Throws Error if one cannot be opened.
  explicit Profiler(ProfilerOptions options = {});
  ~Profiler() override;

  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  ModeOptions modeOptions() const override { return {.sees_calls_below = true, .only_redispatches = true}; }
  // Changes nothing if the thread already has it on.
  std::shared_ptr<void> enter() override;
  std::string finish(bool failed) override;

  // Returns the counter of this thread's finished calls, for code that monitors the thread, such as its signal handler.
  const volatile uint64_t* callCountOfThread();

 private:
  struct Scope;

  detail::CallLog& logOfThread();

  const ProfilerOptions options_;
  std::optional<OutputFile> trace_;
  std::optional<OutputFile> page_;
  std::mutex mutex_;
  // Keyed by thread number, which the process never reuses.
  std::map<uint64_t, detail::CallLog*> log_of_thread_;
  std::vector<std::unique_ptr<detail::CallLog>> logs_;
};

// profile("out.json"): writes the trace, or the page if the name ends in .html, and returns the table's first rows;
// profile(): only these rows.
extern const HandlerKind kProfileKind;

}  // namespace boxcar
