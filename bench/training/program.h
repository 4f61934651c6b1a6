#pragma once

#include <time.h>
#include <valgrind/callgrind.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

// The program that bench/training.py talks to, one for boxcar and one for libtorch: both would bring a oneDNN of their
// own into one process, and its functions would mix.
//
//     PROGRAM time ROW THREADS [idle]     for each line that it reads, runs for a moment, and prints nanoseconds; with
//                                         `idle` the process has a second thread, which waits
//     PROGRAM count ROW                   for callgrind --instr-atstart=no --collect-atstart=no, prints how many parts
//                                         it has run, which the dump counts
//     PROGRAM memory ROW                  prints the bytes that a forward pass leaves behind, and its peak
//
// Nanoseconds and instructions are those of a part: of one node of a chain, or of the whole step.

namespace bench {

// Measures what [run] does: only that is timed and counted. A row may prepare before and clean up after it.
class Watch final {
 public:
  Watch(bool is_wall, bool counts) : clock_(is_wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID), counts_(counts) {}

  template <class Run>
  void measure(const Run& run) {
    if (counts_) CALLGRIND_TOGGLE_COLLECT;
    const double start = now();
    run();
    spent_ += now() - start;
    if (counts_) CALLGRIND_TOGGLE_COLLECT;
  }
  double spent() const { return spent_; }

 private:
  double now() const {
    timespec time{};
    clock_gettime(clock_, &time);
    return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
  }

  clockid_t clock_;
  bool counts_;
  double spent_ = 0;
};

// The bytes of tensors that live now, and their peak.
struct LiveBytes {
  long now = 0;
  long peak = 0;
  void add(long bytes) {
    now += bytes;
    peak = std::max(peak, now);
  }
};

// Runs [count] times, which the watch measures.
using Repeat = std::function<void(Watch& watch, long count)>;
// Runs a forward pass, and returns what keeps its loss alive.
using Forward = std::function<std::shared_ptr<void>()>;

struct Training {
  Repeat repeat;
  Forward forward = {};
};

struct Row {
  std::function<Training()> prepare;
  double parts = 1;
};

inline int usage() {
  std::fprintf(stderr, "usage: PROGRAM time ROW THREADS [idle] | count ROW | memory ROW\n");
  return 2;
}

inline void answer(const Repeat& repeat, bool is_wall, double parts) {
  constexpr double kLeast = 60e6;
  Watch warm(is_wall, false);
  repeat(warm, 3);  // libraries compile code in the first steps
  long count = 1;
  for (;; count *= 2) {  // until a turn is long enough
    Watch watch(is_wall, false);
    repeat(watch, count);
    if (watch.spent() >= kLeast) break;
  }
  std::printf("ready\n");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    Watch watch(is_wall, false);
    repeat(watch, count);
    std::printf("%.3f\n", watch.spent() / static_cast<double>(count) / parts);
    std::fflush(stdout);
  }
}

// Prints the bytes that a forward pass allocates and its loss keeps, and the most that lived meanwhile.
inline void weigh(const Forward& forward, LiveBytes& live) {
  forward();  // what a library keeps from its first call is no part of this
  const long before = live.peak = live.now;
  const std::shared_ptr<void> loss = forward();
  std::printf("%ld %ld\n", live.now - before, live.peak - before);
}

inline int run(int argc, char** argv, const std::map<std::string, Row>& rows, void (*use_threads)(int),
               LiveBytes& live) {
  constexpr long kCounted = 100;
  const std::string what = argc > 1 ? argv[1] : "";
  const auto row = rows.find(argc > 2 ? argv[2] : "");
  if (row == rows.end()) return usage();
  const bool is_time = what == "time" && argc > 3;
  const int threads = is_time ? std::atoi(argv[3]) : 1;
  std::mutex mutex;
  std::optional<std::jthread> second;
  if (is_time && argc > 4) {
    second.emplace([&mutex](const std::stop_token& stop) {
      std::unique_lock lock(mutex);
      std::condition_variable_any().wait(lock, stop, [] { return false; });
    });
  }
  use_threads(threads);
  const auto& [prepare, parts] = row->second;
  const Training training = prepare();
  if (is_time) {
    answer(training.repeat, threads > 1, parts);
  } else if (what == "count") {
    Watch warm(false, false);
    training.repeat(warm, 10);
    Watch watch(false, true);
    CALLGRIND_START_INSTRUMENTATION;
    training.repeat(watch, kCounted);
    CALLGRIND_DUMP_STATS;
    CALLGRIND_STOP_INSTRUMENTATION;
    std::printf("%.0f\n", kCounted * parts);
  } else if (what == "memory" && training.forward) {
    weigh(training.forward, live);
  } else {
    return usage();
  }
  return 0;
}

}  // namespace bench
