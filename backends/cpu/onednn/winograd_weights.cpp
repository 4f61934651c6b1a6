#include <boxcar/backends/cpu/onednn/winograd_weights.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/vector_winograd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace boxcar::cpu::onednn {
namespace {

constexpr int64_t kTaps = 9;
constexpr auto kLanes = static_cast<int64_t>(kWinogradChannels);

// The elements of a tile, [steps] apart, lie from here on for an input channel and a block of output channels.
struct WinogradPlace {
  explicit WinogradPlace(const dnnl_wino_desc_t& layout)
      : is_chunked(layout.wino_format == dnnl_wino_wei_OBaaIBOIio),
        inputs(layout.ic),
        inputs_together(layout.ic_block * (is_chunked ? layout.ic2_block : 1)),
        blocks_together(layout.wino_format == dnnl_wino_wei_aaOio ? 1 : layout.oc2_block),
        elements(int64_t{layout.alpha} * layout.alpha),
        step(is_chunked ? inputs * blocks_together * kLanes : inputs * layout.oc) {}

  // A chunk of blocks of outputs has, for each group of inputs, either inputs of blocks or blocks of inputs.
  int64_t of(int64_t input, int64_t block) const {
    const int64_t chunk = block / blocks_together;
    const int64_t in_chunk = block % blocks_together;
    const int64_t group = input / inputs_together;
    const int64_t in_group = input % inputs_together;
    const int64_t chunk_size = inputs * blocks_together * kLanes * (is_chunked ? elements : 1);
    const int64_t place = is_chunked ? in_chunk * inputs_together + in_group : in_group * blocks_together + in_chunk;
    return chunk * chunk_size + (group * inputs_together * blocks_together + place) * kLanes;
  }

  bool is_chunked;
  int64_t inputs, inputs_together, blocks_together, elements, step;
};

}  // namespace

bool isTransformed(const dnnl::memory::desc& layout) {
  if (layout.data.format_kind != dnnl_format_kind_wino || layout.data.data_type != dnnl_f32) return false;
  const dnnl_wino_desc_t& wino = layout.data.format_desc.wino_desc;
  const bool has_known_order = wino.wino_format == dnnl_wino_wei_aaOio || wino.wino_format == dnnl_wino_wei_aaOBiOo ||
                               wino.wino_format == dnnl_wino_wei_OBaaIBOIio;
  const int tile = wino.wino_format == dnnl_wino_wei_OBaaIBOIio ? 6 : 4;
  return has_known_order && wino.r == 3 && wino.alpha == tile && wino.oc_block == kLanes;
}

void transformKernels(const Tensor& weight, std::span<const double> scales, const dnnl::memory::desc& layout,
                      void* to) {
  const dnnl_wino_desc_t& wino = layout.data.format_desc.wino_desc;
  const WinogradPlace place(wino);
  const WinogradTile tile = wino.alpha == 4 ? WinogradTile::k4x4 : WinogradTile::k6x6;
  const int64_t outputs = weight.sizes()[0];
  const int64_t inputs = weight.sizes()[1];
  const auto* const from = weight.const_data_ptr<float>();
  const int64_t grain = std::max<int64_t>(1, kParallelGrain / (place.inputs * kTaps * kLanes));
  parallelFor(0, wino.oc / kLanes, grain, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      // Channels that fill up the last block, or the inputs, are zero.
      alignas(64) float taps[kTaps * kLanes] = {};
      const int64_t count = std::clamp<int64_t>(outputs - block * kLanes, 0, kLanes);
      for (int64_t input = 0; input < place.inputs; ++input) {
        if (input == inputs) std::fill_n(taps, kTaps * kLanes, 0.0f);
        for (int64_t o = 0; o < count && input < inputs; ++o) {
          const int64_t output = block * kLanes + o;
          const float* const kernel = from + (output * inputs + input) * kTaps;
          const double scale = scales[static_cast<size_t>(output)];
          for (int64_t t = 0; t < kTaps; ++t) taps[t * kLanes + o] = static_cast<float>(kernel[t] * scale);
        }
        transformWinograd(tile, taps, static_cast<float*>(to) + place.of(input, block),
                          static_cast<size_t>(place.step));
      }
    }
  });
}

}  // namespace boxcar::cpu::onednn
