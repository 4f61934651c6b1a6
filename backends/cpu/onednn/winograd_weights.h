#pragma once

#include <boxcar/ivalue/tensor.h>

#include <oneapi/dnnl/dnnl.hpp>

#include <span>

namespace boxcar::cpu::onednn {

// Whether transformKernels() knows the layout, which a primitive by Winograd's algorithm has chosen for its weights.
bool isTransformed(const dnnl::memory::desc& layout);

// Writes the kernels of [weight], float32 of [outputs, inputs, 3, 3] and contiguous, each multiplied with the scale of
// its output, to [to] in such a layout. The elements are those of oneDNN's reorder, which takes several times as long,
// wakes its threads for each pair of channels, and needs a second buffer.
void transformKernels(const Tensor& weight, std::span<const double> scales, const dnnl::memory::desc& layout, void* to);

}  // namespace boxcar::cpu::onednn
