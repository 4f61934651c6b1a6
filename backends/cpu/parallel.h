#pragma once

#include <boxcar/backends/cpu/callable_ref.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>

namespace boxcar::cpu {

// With fewer elements than this, the calling thread does all work alone, because waking other threads costs more.
inline constexpr int64_t kParallelGrain = 32768;

// As many elements of float32 take about as long if each is only moved, or added to another one. Work that takes less
// than some 20 microseconds is not worth a second thread, which may sleep or run something else.
inline constexpr int64_t kQuickGrain = 3 * kParallelGrain;

// Larger thread counts are rejected.
inline constexpr int kMostThreads = 1024;

// The maximum number of threads that CPU kernels use. The initial value is the environment variable BOXCAR_NUM_THREADS,
// else the number of processors; it is always 1 in a build without OpenMP. Throws Error if [count] or the variable is
// not a number from 1 to kMostThreads.
BOXCAR_API int threadCount();
BOXCAR_API void setThreadCount(int count);

// Returns whether work of [elements] elements is split between threads if the calling thread starts it.
bool runsInParallel(int64_t elements);

// Calls body(begin, end) for ranges that together cover [begin, end), in several threads if there is enough work. Each
// thread gets at least [grain] indices if there are that many; choose [grain] so that this is about [kParallelGrain]
// steps of work. Returns when all are done; rethrows the first exception that a body throws. Nested calls inside a body
// run in its own thread; a body must not call operators. Long ranges are passed in pieces, with a call of checkStop()
// between them.
void parallelFor(int64_t begin, int64_t end, int64_t grain, CallableRef<void(int64_t, int64_t)> body);

// Returns how many calls of parallelFor() by this thread have been shared with others: for tests.
BOXCAR_API int64_t sharedLoops();

}  // namespace boxcar::cpu
