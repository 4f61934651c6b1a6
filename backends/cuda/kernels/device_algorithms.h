#pragma once

#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/ivalue/error.h>

#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>
#else
#include <algorithm>
#include <numeric>
#include <vector>
#endif

// Device-wide algorithms: CUB's, or the standard library's on the simulated device. Each has a function that returns
// the size of its temporary memory. None waits for the device.

namespace boxcar::cuda {

// Keys to be sorted, each with a value, and a second buffer of the same size for the sort.
template <class Key, class Value>
struct KeyedValues {
  Key* keys[2];
  Value* values[2];
};

#ifdef __CUDACC__

inline void checkAlgorithm(cudaError_t status, const char* doing) {
  BOXCAR_CHECK(status == cudaSuccess, "CUDA failed while {}: {} ({}, error {})", doing, cudaGetErrorString(status),
               cudaGetErrorName(status), static_cast<int>(status));
  checkLaunch();
}

template <class Key, class Value>
size_t sortPairsBytes(int64_t n, int bits) {
  size_t bytes = 0;
  cub::DoubleBuffer<Key> keys;
  cub::DoubleBuffer<Value> values;
  checkAlgorithm(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values, static_cast<Value>(n), 0, bits),
                 "preparing to sort");
  return bytes;
}

// Stably sorts by the lowest [bits] bits of the keys. Returns which of the two buffers holds the result. Value is
// unsigned and can count the elements.
template <class Key, class Value>
int sortPairs(void* workspace, size_t bytes, const KeyedValues<Key, Value>& pairs, int64_t n, int bits) {
  cub::DoubleBuffer<Key> keys(pairs.keys[0], pairs.keys[1]);
  cub::DoubleBuffer<Value> values(pairs.values[0], pairs.values[1]);
  const auto stream = static_cast<cudaStream_t>(currentStream().handle);
  checkAlgorithm(
      cub::DeviceRadixSort::SortPairs(workspace, bytes, keys, values, static_cast<Value>(n), 0, bits, stream),
      "sorting");
  // Both buffers have the same selector.
  return values.selector;
}

inline size_t selectPlacesBytes(int64_t n) {
  size_t bytes = 0;
  const thrust::counting_iterator<int64_t> places(0);
  checkAlgorithm(cub::DeviceSelect::Flagged(nullptr, bytes, places, static_cast<const bool*>(nullptr),
                                            static_cast<int64_t*>(nullptr), static_cast<int64_t*>(nullptr), n),
                 "preparing to select");
  return bytes;
}

// Writes the positions of the true ones among [n] flags to [out], in order, and their number to [count].
inline void selectPlaces(void* workspace, size_t bytes, const bool* flags, int64_t* out, int64_t* count, int64_t n) {
  const thrust::counting_iterator<int64_t> places(0);
  const auto stream = static_cast<cudaStream_t>(currentStream().handle);
  checkAlgorithm(cub::DeviceSelect::Flagged(workspace, bytes, places, flags, out, count, n, stream), "selecting");
}

#else

template <class Key, class Value>
size_t sortPairsBytes(int64_t, int) {
  return 1;
}

template <class Key, class Value>
int sortPairs(void*, size_t, const KeyedValues<Key, Value>& pairs, int64_t n, int bits) {
  // The result goes to the other buffer, as it may after a sort of several passes.
  enqueueSimulated([=] {
    const Key mask = static_cast<Key>(~Key{0}) >> (8 * static_cast<int>(sizeof(Key)) - bits);
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return (pairs.keys[0][a] & mask) < (pairs.keys[0][b] & mask); });
    for (int64_t i = 0; i < n; ++i) {
      pairs.keys[1][i] = pairs.keys[0][order[static_cast<size_t>(i)]];
      pairs.values[1][i] = pairs.values[0][order[static_cast<size_t>(i)]];
    }
  });
  checkLaunch();
  return 1;
}

inline size_t selectPlacesBytes(int64_t) { return 1; }

inline void selectPlaces(void*, size_t, const bool* flags, int64_t* out, int64_t* count, int64_t n) {
  enqueueSimulated([=] {
    int64_t found = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (flags[i]) out[found++] = i;
    }
    *count = found;
  });
  checkLaunch();
}

#endif

}  // namespace boxcar::cuda
