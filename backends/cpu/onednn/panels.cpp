#include <boxcar/backends/cpu/onednn/panels.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/plain_gemm.h>
#include <boxcar/backends/cpu/vector_small_floats.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace boxcar::cpu::onednn {
namespace {

constexpr int64_t kLeastElements = int64_t{1} << 16;  // of a thread's share of the weight, some 8 microseconds

// Rows of float32, or of bfloat16 as bits.
template <class T>
struct PanelProduct {
  PanelKernel<T> run;
  Panels panels;
  int64_t rows, steps, outputs;
  const T* x;
  int64_t x_step;
  const T* weight;
  const T* bias;  // null if there is none
  const T* add;   // null if there is none
  T* out;

  void writeRow(const float* sums, int64_t columns, int64_t column, int64_t row) const {
    const int64_t at = row * outputs + column;
    if constexpr (std::is_same_v<T, float>) {
      for (int64_t i = 0; i < columns; ++i) {
        const float sum = bias == nullptr ? sums[i] : sums[i] + bias[column + i];
        out[at + i] = add == nullptr ? sum : sum + add[at + i];
      }
    } else {
      const SmallFloatRows& halves = smallFloatRows(ScalarType::BFloat16);
      const auto count = static_cast<size_t>(columns);
      float all[kMostPanelWidth];
      float more[kMostPanelWidth];
      std::copy_n(sums, columns, all);
      if (bias != nullptr) {
        halves.widen(bias + column, more, count);
        for (int64_t i = 0; i < columns; ++i) all[i] += more[i];
      }
      if (add != nullptr) {
        halves.widen(add + at, more, count);
        for (int64_t i = 0; i < columns; ++i) all[i] += more[i];
      }
      halves.narrow(all, out + at, count);
    }
  }

  void multiply(int64_t first, int64_t last) const {
    alignas(64) float sums[kMostPanelRows * kMostPanelWidth];
    for (int64_t panel = first; panel < last; ++panel) {
      const int64_t column = panel * panels.width;
      run(rows, steps, x, x_step, weight + panel * panels.step, sums);
      const int64_t columns = std::min(panels.width, outputs - column);
      for (int64_t row = 0; row < rows; ++row) writeRow(sums + row * panels.width, columns, column, row);
    }
  }

  void multiplyAll() const {
    const int64_t count = (outputs + panels.width - 1) / panels.width;
    const int64_t grain = std::max<int64_t>(1, kLeastElements / std::max<int64_t>(1, panels.step));
    parallelFor(0, count, grain, [&](int64_t begin, int64_t end) { multiply(begin, end); });
  }
};

template <class T>
const T* elementsOf(const Tensor& tensor) {
  return tensor.defined() ? static_cast<const T*>(tensor.data_ptr()) : nullptr;
}

template <class T>
PanelProduct<T> productOf(const Tensor& out, const native::FusedLinear& call, const Panels& panels, PanelKernel<T> run,
                          const void* weight) {
  const int64_t outputs = call.weight.sizes()[0];
  const int64_t inputs = call.weight.sizes()[1];
  return {run,
          panels,
          out.numel() / outputs,
          inputs,
          outputs,
          elementsOf<T>(call.input),
          inputs,
          static_cast<const T*>(weight),
          elementsOf<T>(call.bias),
          elementsOf<T>(call.add),
          static_cast<T*>(out.data_ptr())};
}

}  // namespace

Panels panelsOf(const dnnl::memory::desc& layout) {
  const dnnl_memory_desc_t& all = layout.data;
  const bool is_float = all.data_type == dnnl_f32;
  if (all.format_kind != dnnl_blocked || all.ndims != 2 || all.offset0 != 0 || all.extra.flags != 0 ||
      (!is_float && all.data_type != dnnl_bf16)) {
    return {};
  }
  // Blocks of inputs and of outputs, of bfloat16 of pairs of inputs, too. Blocks of inputs of one panel follow one
  // another.
  const dnnl_blocking_desc_t& blocks = all.format_desc.blocking;
  const int inner = is_float ? 2 : 3;
  if (blocks.inner_nblks != inner || blocks.inner_idxs[0] != 1 || blocks.inner_idxs[1] != 0) return {};
  if (!is_float && (blocks.inner_idxs[2] != 1 || blocks.inner_blks[2] != 2)) return {};
  const int64_t width = blocks.inner_blks[1];
  const int64_t block = blocks.inner_blks[0] * width * (is_float ? 1 : 2);
  if (blocks.strides[1] != block || blocks.strides[0] != all.padded_dims[1] * width) return {};
  const bool has_kernel = is_float ? floatPanelKernel(width) != nullptr : bfloat16PanelKernel(width) != nullptr;
  return has_kernel ? Panels{width, blocks.strides[0]} : Panels{};
}

void multiplyPanels(const Tensor& out, const native::FusedLinear& call, const Panels& panels, const void* weight) {
  if (out.scalar_type() == ScalarType::Float) {
    productOf<float>(out, call, panels, floatPanelKernel(panels.width), weight).multiplyAll();
    return;
  }
  PanelProduct<uint16_t> product = productOf<uint16_t>(out, call, panels, bfloat16PanelKernel(panels.width), weight);
  const int64_t inputs = product.steps;
  product.steps = (inputs + 1) / 2;
  // Of an odd number, the last one has a zero beside it.
  const bool pads = inputs % 2 != 0;
  Workspace<uint16_t> padded(pads ? product.rows * (inputs + 1) : 0);
  if (pads) {
    product.x_step = inputs + 1;
    for (int64_t row = 0; row < product.rows; ++row) {
      uint16_t* const to = padded.data() + row * product.x_step;
      std::copy_n(product.x + row * inputs, inputs, to);
      to[inputs] = 0;
    }
    product.x = padded.data();
  }
  product.multiplyAll();
}

}  // namespace boxcar::cpu::onednn
