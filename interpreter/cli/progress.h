#pragma once

#include <cstdint>
#include <memory>

namespace boxcar::cli {

// Sets what --no-progress says; true until then.
void setProgressAllowed(bool allowed);

// How far a long task has got, as far as that is known. It is read while the thread that began the Progress is
// interrupted.
struct ProgressCount {
  const volatile uint64_t* done = nullptr;
  uint64_t total = 0;     // 0: unknown
  const char* what = "";  // "calls"
};

// While it lives and its task takes longer than two seconds, a line at the end of the terminal shows how long the task
// has run: "boxcar profile: 12 s, 340 calls". There is no line if stderr is no terminal or a dumb one, or if the
// program is in the background. Create it on the thread that works; only one may exist at a time.
//
// When the task writes to stdout or stderr through their FILEs, the line is removed first. It comes back within a
// second, unless the output ended in the middle of a line.
//
// The line is written by the handler of a timer's signal, which interrupts the thread once a second. A second thread
// that waits would make the process multithreaded, so that every reference count would use atomic instructions;
// checking the clock between calls would cost each call time. System calls continue after the signal (SA_RESTART),
// except those that wait with a timeout.
class Progress final {
 public:
  explicit Progress(const char* command, ProgressCount count = {});
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

 private:
  class Watch;

  std::unique_ptr<Watch> watch_;
};

}  // namespace boxcar::cli
