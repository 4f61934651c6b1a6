#pragma once

#include <boxcar/backends/cpu/panel_kernels.h>
#include <boxcar/backends/native/fused.h>

#include <oneapi/dnnl/dnnl.hpp>

#include <cstdint>

namespace boxcar::cpu::onednn {

// What a packed weight is if oneDNN's layout is one of panels: [width] outputs each, the last one filled up with zeros.
struct Panels {
  int64_t width = 0;  // 0 if the layout is another one, or the CPU has no kernel for it
  int64_t step = 0;   // elements from one panel to the next
};

// Returns the panels of a weight [outputs, inputs] of float32 or bfloat16 in [layout].
Panels panelsOf(const dnnl::memory::desc& layout);

// out = input @ weight^T + bias + add, of at most kMostPanelRows rows, without an activation. One thread computes each
// element, so the result does not depend on their number.
void multiplyPanels(const Tensor& out, const native::FusedLinear& call, const Panels& panels, const void* weight);

}  // namespace boxcar::cpu::onednn
