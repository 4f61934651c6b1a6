#pragma once

#include <boxcar/backends/cpu/callable_ref.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>

namespace boxcar::cpu {

// Below this many elements of work the calling thread does it alone: waking others costs more.
inline constexpr int64_t kParallelGrain = 32768;

// More than that are refused.
inline constexpr int kMostThreads = 1024;

// How many threads kernels on the CPU use at most. At first what the environment variable BOXCAR_NUM_THREADS says, else
// the number of processors; 1 in a build without OpenMP. An Error when [count], or what the environment says, is none
// from 1 to kMostThreads.
BOXCAR_API int threadCount();
BOXCAR_API void setThreadCount(int count);

// Whether work of [elements] elements is shared between threads when the calling thread starts it.
bool runsInParallel(int64_t elements);

// Calls body(begin, end) for ranges that together are [begin, end), in several threads when there is work for them:
// each range has [grain] indices at least, but for the last, and so many that they are about [kParallelGrain] steps of
// work. Returns when all are done; what a body throws is thrown again, the first of it. Within a body everything runs
// in its thread alone; it must not call operators. Long ranges come in pieces, between which checkStop() is asked.
void parallelFor(int64_t begin, int64_t end, int64_t grain, CallableRef<void(int64_t, int64_t)> body);

}  // namespace boxcar::cpu
