#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/hostile/subject.h"

namespace boxcar::hostile {

// State that a worker and its supervisor exchange in shared memory.
struct WorkerState {
  std::atomic<uint64_t> call;        // the number of the running call
  std::atomic<int64_t> begun;        // start time in nanoseconds; 0 while no call runs
  std::atomic<uint64_t> asked_call;  // the call that the supervisor asked to stop
  char fault[256];                   // where a fault is, written by the signal handler
};

struct Calls {
  std::atomic<uint64_t> next;  // the first call that no worker has taken
  std::atomic<uint64_t> done;
  std::atomic<bool> is_over;
};

// The kind of a finding; findings are counted by kind.
enum class Fault : uint8_t { Crash, Sanitizer, Outlasts, Prints, ForeignException, Wording, Promise, Leaks };
const char* toString(Fault fault);

// A report that a worker writes to its pipe: short enough for an atomic write, so that reports never mix.
struct Report {
  uint64_t call;
  Fault fault;
  char text[1000];
};

struct Plan {
  const std::vector<Subject>& subjects;
  uint64_t seed;
  Calls& calls;
  // By subject: 1 if it has so many findings that no more calls are made.
  std::atomic<uint8_t>* retired;

  const Subject& subjectOf(uint64_t call) const { return subjects[call % subjects.size()]; }
  // Returns the seed for the arguments of a call.
  uint64_t seedOf(uint64_t call) const;
};

int64_t nowInNanoseconds();

// Makes calls in this process until calls.is_over. Standard output and error must be an empty file. Writes reports to
// [pipe].
void work(const Plan& plan, WorkerState& state, int pipe);

// Installs signal handlers that write to [state] where a fault is.
void handleSignals(WorkerState& state);

// The outcome of one call and what is wrong with it.
struct Outcome {
  bool is_done = false;  // false: refused
  std::string message;   // of the Error
  Fault fault{};
  std::string wrong;  // empty if all is right
};
Outcome runCall(const Subject& subject, uint64_t seed, const WorkerState* state, uint64_t call);

}  // namespace boxcar::hostile
