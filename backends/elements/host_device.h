#pragma once

#include <boxcar/ivalue/error.h>

// Functions of elements run on the host and, where nvcc compiles them, on a GPU.
#ifdef __CUDACC__
#define BOXCAR_HOST_DEVICE __host__ __device__
#else
#define BOXCAR_HOST_DEVICE
#endif

// BOXCAR_CHECK where an Error can be thrown. On a GPU nothing is: who runs the function there asks `accepts` first.
#ifdef __CUDA_ARCH__
#define BOXCAR_HOST_CHECK(...) static_cast<void>(0)
#else
#define BOXCAR_HOST_CHECK(...) BOXCAR_CHECK(__VA_ARGS__)
#endif
