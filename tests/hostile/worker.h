#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/hostile/subject.h"

namespace boxcar::hostile {

// What a worker and its supervisor tell each other, in memory that they share.
struct WorkerState {
  std::atomic<uint64_t> call;        // the number of the call that runs
  std::atomic<int64_t> begun;        // when it began, in nanoseconds; 0 while none runs
  std::atomic<uint64_t> asked_call;  // the call that was asked to end before its time
  char fault[256];                   // where a fault is, as its handler tells
};

struct Calls {
  std::atomic<uint64_t> next;  // the call that nobody has taken yet
  std::atomic<uint64_t> done;
  std::atomic<bool> is_over;
};

// What went wrong, in a word by which such findings are counted together.
enum class Fault : uint8_t { Crash, Sanitizer, Outlasts, Prints, ForeignException, Wording, Promise, Leaks };
const char* toString(Fault fault);

// What a worker writes to its pipe, whole: short enough that no other's text comes between.
struct Report {
  uint64_t call;
  Fault fault;
  char text[1000];
};

struct Plan {
  const std::vector<Subject>& subjects;
  uint64_t seed;
  Calls& calls;
  // By subject: 1 where there are so many findings that no call is made any more.
  std::atomic<uint8_t>* retired;

  const Subject& subjectOf(uint64_t call) const { return subjects[call % subjects.size()]; }
  // What makes the arguments of a call.
  uint64_t seedOf(uint64_t call) const;
};

int64_t nowInNanoseconds();

// Makes calls until they are over, in this process, whose standard output and error are a file that holds nothing.
// Reports go to [pipe].
void work(const Plan& plan, WorkerState& state, int pipe);

// Tells [state] where a fault is.
void handleSignals(WorkerState& state);

// One call and what is wrong with it.
struct Outcome {
  bool is_done = false;  // or was refused
  std::string message;   // of the refusal
  Fault fault{};
  std::string wrong;  // nothing where all is right
};
Outcome runCall(const Subject& subject, uint64_t seed, const WorkerState* state, uint64_t call);

}  // namespace boxcar::hostile
