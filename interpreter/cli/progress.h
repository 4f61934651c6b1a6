#pragma once

#include <cstdint>
#include <memory>

namespace boxcar::cli {

// What --no-progress says; true until then.
void setProgressAllowed(bool allowed);

// How far a long task is, as far as that is known. It is read while the thread that began the Progress is interrupted.
struct ProgressCount {
  const volatile uint64_t* done = nullptr;
  uint64_t total = 0;     // 0: nobody knows
  const char* what = "";  // "calls"
};

// While it lives, and its task takes longer than two seconds, a line at the end of the terminal tells how long it has
// been at work: "boxcar profile: 12 s, 340 calls". There is none where stderr is no terminal, or a dumb one, or in the
// background. To be made on the thread that works; one at a time.
//
// What the task writes to stdout and stderr, through their FILEs, takes the line away first; it comes back within a
// second, unless what was written ends within a line.
//
// The line is written by the handler of a timer's signal, which interrupts the thread once a second. A thread that
// waits beside the work would make the process one of several threads, in which every reference is counted by atomic
// instructions; and a look at the clock between the calls would cost each of them. System calls go on after the signal
// (SA_RESTART), but for those that wait with a limit of time.
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
