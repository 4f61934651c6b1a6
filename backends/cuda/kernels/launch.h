#pragma once

#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/status.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/ivalue/error.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#ifndef __CUDACC__
#include <boxcar/backends/cuda/simulated_launch.h>
#endif

// Launching kernels. A kernel is an object with a call operator, which nvcc compiles for the device. Tests compile it
// for the host, for a simulated device where loops replace threads. Kernels do not use threadIdx or __syncthreads
// directly.
//
//   launchGrid<256>(blocks, body)            body(block, thread), threads that do not wait for each other
//   launchBlocks<256>(blocks, bytes, body)   body(Block&), threads that work together (block.h)

namespace boxcar::cuda {

// The threads that share a block's work. All of them make the same calls in the same order.
class Block final {
 public:
#ifdef __CUDACC__
  __device__ explicit Block(char* shared) : shared_(shared) {}
  __host__ __device__ int64_t index() const {
#ifdef __CUDA_ARCH__
    return blockIdx.x;
#else
    return 0;
#endif
  }
  __host__ __device__ int threads() const {
#ifdef __CUDA_ARCH__
    return static_cast<int>(blockDim.x);
#else
    return 1;
#endif
  }
#else
  Block(int64_t index, int threads, char* shared) : shared_(shared), index_(index), threads_(threads) {}
  int64_t index() const { return index_; }
  int threads() const { return threads_; }
#endif

  // Calls body(thread) in every thread. Afterwards all threads see what was written to shared memory.
  template <class Body>
  BOXCAR_HOST_DEVICE void each(const Body& body) const {
#ifdef __CUDA_ARCH__
    body(static_cast<int>(threadIdx.x));
    __syncthreads();
#else
    for (int thread = 0; thread < threads(); ++thread) body(thread);
#endif
  }

  // Merges all threads' value(thread) in thread order, and returns the result in every thread. [room] is shared memory
  // for one element per warp, 33 in total. T is copied word by word.
  template <class T, class Value, class Merge>
  BOXCAR_HOST_DEVICE T combine(T* room, const Value& value, const Merge& merge) const {
#ifdef __CUDA_ARCH__
    constexpr int kWarp = 32;
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % kWarp;
    T mine = value(thread);
    for (int step = 1; step < kWarp; step *= 2) {
      const T other = shuffleDown(mine, step);
      if (lane + step < kWarp) mine = merge(mine, other);
    }
    if (lane == 0) room[thread / kWarp] = mine;
    __syncthreads();
    if (thread == 0) {
      const int warps = (threads() + kWarp - 1) / kWarp;
      T all = room[0];
      for (int warp = 1; warp < warps; ++warp) all = merge(all, room[warp]);
      room[kWarp] = all;
    }
    __syncthreads();
    const T result = room[kWarp];
    __syncthreads();
    return result;
#else
    // In the device's order, so that rounding is the same.
    std::vector<T> values(static_cast<size_t>(threads()));
    for (int thread = 0; thread < threads(); ++thread) values[static_cast<size_t>(thread)] = value(thread);
    return combineOnHost(room, values, merge);
#endif
  }

  // The block's shared memory, of the size given at launch.
  template <class T>
  BOXCAR_HOST_DEVICE T* shared() const {
    return reinterpret_cast<T*>(shared_);
  }

 private:
#ifdef __CUDA_ARCH__
  template <class T>
  __device__ static T shuffleDown(const T& value, int step) {
    static_assert(sizeof(T) % 4 == 0 || sizeof(T) < 4);
    if constexpr (sizeof(T) < 4) {
      unsigned word = 0;
      memcpy(&word, &value, sizeof(T));
      word = __shfl_down_sync(0xffffffffU, word, step);
      T result;
      memcpy(&result, &word, sizeof(T));
      return result;
    } else {
      unsigned words[sizeof(T) / 4];
      memcpy(words, &value, sizeof(T));
      for (unsigned& word : words) word = __shfl_down_sync(0xffffffffU, word, step);
      T result;
      memcpy(&result, words, sizeof(T));
      return result;
    }
  }
#endif

  template <class T, class Merge>
  static T combineOnHost(T*, std::vector<T>& values, const Merge& merge) {
    constexpr size_t kWarp = 32;
    for (size_t first = 0; first < values.size(); first += kWarp) {
      const size_t count = values.size() - first < kWarp ? values.size() - first : kWarp;
      for (size_t step = 1; step < kWarp; step *= 2) {
        for (size_t lane = 0; lane + step < count; lane += 2 * step) {
          values[first + lane] = merge(values[first + lane], values[first + lane + step]);
        }
      }
    }
    T all = values[0];
    for (size_t first = kWarp; first < values.size(); first += kWarp) all = merge(all, values[first]);
    return all;
  }

  char* shared_;
#ifndef __CUDACC__
  int64_t index_;
  int threads_;
#endif
};

// Throws Error if [blocks] exceeds the maximum size of a grid.
inline void checkGrid(int64_t blocks) {
  BOXCAR_CHECK(blocks <= INT32_MAX,
               "a kernel of {} blocks is more than a CUDA device starts; work on parts of the tensor", blocks);
}

#ifdef __CUDACC__

namespace detail {

// Waits until all earlier kernels of the stream have ended, and lets the next one get ready meanwhile: its blocks start
// when all blocks of this one have, and wait here in turn. To be called before memory is read or written.
__device__ inline void waitForEarlierKernels() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

template <int threads, class Body>
__global__ void __launch_bounds__(threads) runGrid(const Body body) {
  waitForEarlierKernels();
  body(static_cast<int64_t>(blockIdx.x), static_cast<int>(threadIdx.x));
}

template <int threads, class Body>
__global__ void __launch_bounds__(threads) runBlocks(const Body body) {
  extern __shared__ __align__(16) char shared[];
  waitForEarlierKernels();
  Block block(shared);
  body(block);
}

// Returns whether kernels can get ready while the one before them still runs (programmatic dependent launch): whether
// the device has compute capability 9.0, the driver knows it, and this module's code waits for earlier kernels.
bool startsKernelsEarly(int device);

template <class Body>
void launch(void (*kernel)(Body), int64_t blocks, int threads, size_t shared_bytes, const Body& body) {
  const int device = currentDevice();
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared_bytes;
  config.stream = static_cast<cudaStream_t>(currentStreamOf(device).handle);
  config.attrs = &early;
  config.numAttrs = startsKernelsEarly(device) ? 1 : 0;
  checkLaunch(cudaLaunchKernelEx(&config, kernel, body));
}

}  // namespace detail

template <int threads, class Body>
void launchGrid(int64_t blocks, const Body& body) {
  if (blocks == 0) return;
  checkGrid(blocks);
  detail::launch(detail::runGrid<threads, Body>, blocks, threads, 0, body);
}

template <int threads, class Body>
void launchBlocks(int64_t blocks, size_t shared_bytes, const Body& body) {
  if (blocks == 0) return;
  checkGrid(blocks);
  detail::launch(detail::runBlocks<threads, Body>, blocks, threads, shared_bytes, body);
}

#else

template <int threads, class Body>
void launchGrid(int64_t blocks, const Body& body) {
  if (blocks == 0) return;
  checkGrid(blocks);
  enqueueSimulated([=] {
    for (int64_t block = 0; block < blocks; ++block) {
      for (int thread = 0; thread < threads; ++thread) body(block, thread);
    }
  });
  checkLaunch();
}

template <int threads, class Body>
void launchBlocks(int64_t blocks, size_t shared_bytes, const Body& body) {
  if (blocks == 0) return;
  checkGrid(blocks);
  enqueueSimulated([=] {
    std::vector<double> shared(2 * (shared_bytes / 16 + 1));
    for (int64_t index = 0; index < blocks; ++index) {
      Block block(index, threads, reinterpret_cast<char*>(shared.data()));
      body(block);
    }
  });
  checkLaunch();
}

#endif

// Returns the number of blocks of [per_block] elements that cover [n].
constexpr int64_t blocksFor(int64_t n, int64_t per_block) { return (n + per_block - 1) / per_block; }

}  // namespace boxcar::cuda
