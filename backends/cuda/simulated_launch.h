#pragma once

#include <functional>

namespace boxcar::cuda {

// Runs [work] as a kernel on the current stream of the simulated device, or adds it to the graph that is being
// captured. Only tests, whose kernels are compiled for the host, define it.
void enqueueSimulated(std::function<void()> work);

}  // namespace boxcar::cuda
