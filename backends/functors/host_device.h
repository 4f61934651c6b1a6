#pragma once

#include <boxcar/ivalue/error.h>

// Element functions run on the host and, if compiled by nvcc, on a GPU.
#ifdef __CUDACC__
#define BOXCAR_HOST_DEVICE __host__ __device__
#else
#define BOXCAR_HOST_DEVICE
#endif

// BOXCAR_CHECK where an Error can be thrown. It does nothing on a GPU, where the caller asks `accepts` first.
#ifdef __CUDA_ARCH__
#define BOXCAR_HOST_CHECK(...) static_cast<void>(0)
#else
#define BOXCAR_HOST_CHECK(...) BOXCAR_CHECK(__VA_ARGS__)
#endif
