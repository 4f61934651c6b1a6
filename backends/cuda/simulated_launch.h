#pragma once

#include <functional>

namespace boxcar::cuda {

// Runs [work] as a kernel of the current stream of the simulated device, or keeps it for a graph that is captured. Only
// tests, whose kernels are compiled for the host, have it.
void enqueueSimulated(std::function<void()> work);

}  // namespace boxcar::cuda
