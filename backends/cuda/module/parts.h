#pragma once

#include <boxcar/backends/cuda/driver.h>
#include <boxcar/backends/cuda/gemm.h>
#include <boxcar/backends/cuda/solvers.h>

// What the module's table is made of, besides the kernels that have headers of their own. Tests make one of the same
// kernels, compiled for the host, and of a make-believe driver.

namespace boxcar::cuda {

struct AttentionCall;
struct ConvolutionCall;

const Driver& runtimeDriver();

void multiplyIntegers(const GemmCall& call);
bool multiplyByLibrary(const GemmCall& call);
bool convolveByCudnn(const ConvolutionCall& call);
bool attendByCudnn(const AttentionCall& call);
const SolverFunctions& librarySolvers();

}  // namespace boxcar::cuda
