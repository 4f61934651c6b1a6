#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/thread_team.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/stop_request.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <string_view>

namespace boxcar::cpu {
namespace {

// Returns 0 if the environment variable is not set.
int threadsOfEnvironment() {
  const char* text = std::getenv("BOXCAR_NUM_THREADS");
  if (text == nullptr || *text == '\0') return 0;
  int count = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, count);
  BOXCAR_CHECK(error == std::errc() && rest == end && count >= 1 && count <= kMostThreads,
               "BOXCAR_NUM_THREADS must be a number of threads from 1 to {}, but it is '{}'", kMostThreads, text);
  return count;
}

// 0 until first requested.
std::atomic<int> chosen_threads = 0;

thread_local bool is_in_parallel = false;
thread_local int64_t shared_loops = 0;

// Calls [body] for pieces of [begin, end). If each index is at least a grain of work, its duration is unknown: the
// first piece is one index, and pieces grow as long as they finish quickly.
void inPieces(int64_t begin, int64_t end, int64_t grain, CallableRef<void(int64_t, int64_t)> body) {
  constexpr int64_t kMostGrains = kStopInterval / kParallelGrain;
  constexpr auto kQuick = std::chrono::milliseconds(1);
  const bool is_measured = grain <= 1;
  int64_t piece = is_measured ? 1 : std::min(grain, INT64_MAX / kMostGrains) * kMostGrains;
  while (end - begin > piece) {
    const auto start = is_measured ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    body(begin, begin + piece);
    checkStop();
    begin += piece;
    if (is_measured && std::chrono::steady_clock::now() - start < kQuick && piece < kStopInterval) piece *= 2;
  }
  body(begin, end);
}

}  // namespace

int threadCount() {
  int count = chosen_threads.load(std::memory_order_relaxed);
  if (count == 0) [[unlikely]] {
    int wanted = threadsOfEnvironment();
    if (wanted == 0) wanted = teamSize();
    // Unless another thread has set it in the meantime.
    if (chosen_threads.compare_exchange_strong(count, wanted, std::memory_order_relaxed)) count = wanted;
  }
  return kHasThreadTeam ? count : 1;
}

void setThreadCount(int count) {
  BOXCAR_CHECK(count >= 1 && count <= kMostThreads, "the number of threads must be from 1 to {}, but it is {}",
               kMostThreads, count);
  chosen_threads.store(count, std::memory_order_relaxed);
}

int64_t sharedLoops() { return shared_loops; }

bool runsInParallel(int64_t elements) { return elements >= kParallelGrain && !is_in_parallel && threadCount() > 1; }

void parallelFor(int64_t begin, int64_t end, int64_t grain, CallableRef<void(int64_t, int64_t)> body) {
  if (begin >= end) return;
  const int64_t length = end - begin;
  const int64_t grains = length / std::max<int64_t>(grain, 1);
  if (grains <= 1) return body(begin, end);
  const int64_t parts = is_in_parallel ? 1 : std::min<int64_t>(threadCount(), grains);
  if (parts <= 1) return inPieces(begin, end, grain, body);
  ++shared_loops;
  const int64_t share = length / parts;
  const int64_t rest = length % parts;
  std::exception_ptr failure;
  std::mutex mutex;
  const StopRequests requests = stopRequests();
  runTeam(static_cast<int>(parts), [&](int part) {
    const bool before = is_in_parallel;
    const StopRequests requests_before = stopRequests();
    is_in_parallel = true;
    setStopRequests(requests);
    const int64_t first = begin + part * share + std::min<int64_t>(part, rest);
    try {
      inPieces(first, first + share + (part < rest ? 1 : 0), grain, body);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (failure == nullptr) failure = std::current_exception();
    }
    is_in_parallel = before;
    setStopRequests(requests_before);
  });
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace boxcar::cpu
