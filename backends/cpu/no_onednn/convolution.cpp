#include <boxcar/backends/cpu/convolution.h>

namespace boxcar::cpu {

bool convolveByLibrary(const ConvolutionCall&) { return false; }

}  // namespace boxcar::cpu
