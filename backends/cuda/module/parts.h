#pragma once

#include <boxcar/backends/cuda/driver.h>
#include <boxcar/backends/cuda/gemm.h>
#include <boxcar/backends/cuda/solvers.h>

// The parts of the module's table besides the kernels with headers of their own. Tests build a table from the same
// kernels, compiled for the host, and a fake driver.

namespace boxcar::cuda {

struct AttentionCall;
struct ConvolutionCall;

const Driver& runtimeDriver();

void multiplyIntegers(const GemmCall& call);
bool multiplyByLibrary(const GemmCall& call);
bool convolveByCudnn(const ConvolutionCall& call);
// Returns false if there is no plan for the call, and none can be made.
bool convolveByPlan(const ConvolutionCall& call);
bool attendByCudnn(const AttentionCall& call);
const SolverFunctions& librarySolvers();

}  // namespace boxcar::cuda
