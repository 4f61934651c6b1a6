#pragma once

#include <boxcar/backends/cpu/convolution.h>
#include <boxcar/backends/cpu/onednn/post_ops.h>
#include <boxcar/backends/cpu/onednn/primitive_cache.h>
#include <boxcar/backends/native/fused.h>

#include <oneapi/dnnl/dnnl.hpp>

#include <optional>

namespace boxcar::cpu::onednn {

// What a convolution does beside aten::convolution.
struct ConvolutionExtras {
  bool has_bias = false;      // of float32, whatever the other tensors have
  bool packs_weight = false;  // the kernels come in the primitive's layout
  bool adds = false;
  bool adds_in_place = false;  // what is added lies in the memory of the result
  native::FusedActivation activation{};
};

// A convolution that is ready to run, by several threads at once. Tensors in other layouts than it expects are
// reordered, the kernels too unless they are packed: they may be written to between two calls.
struct PreparedConvolution {
  dnnl::primitive forward;                                 // empty if oneDNN has no fast implementation
  dnnl::memory::desc src, weights, dst, bias, scratchpad;  // what the primitive expects
  dnnl::memory::desc own_src, own_weights, own_dst;        // the tensors' own layouts
  std::optional<dnnl::reorder> reorder_src, reorder_weights, reorder_dst, reorder_add;
  Addition addition = Addition::kNone;
};

// What runs a prepared convolution beside the tensors of its call.
struct ConvolutionOperands {
  const void* packed_weights = nullptr;  // in the primitive's layout; null if they are in the call's
  const void* bias = nullptr;
  const Tensor* add = nullptr;  // laid out like the call's out
};

// The memory objects that one run of a prepared convolution needs. Making them costs more than a small convolution, so
// they are used again.
class ConvolutionMemories final {
 public:
  explicit ConvolutionMemories(const PreparedConvolution& prepared);

 private:
  friend void runConvolution(const ConvolutionCall& call, const PreparedConvolution& prepared,
                             ConvolutionMemories& memories, const ConvolutionOperands& operands);

  dnnl::memory own_src_, src_, own_weights_, weights_, bias_, added_, own_dst_, dst_, scratchpad_;
  Arguments arguments_;
};

// A thread's own convolution.
struct OwnConvolution {
  PreparedConvolution prepared;
  std::optional<ConvolutionMemories> memories;  // made by the first that runs it
};

// Returns what oneDNN prepares for the sizes, dtype and arguments of [call], whose data it does not read. The thread
// keeps what it prepared last.
OwnConvolution& preparedConvolution(const ConvolutionCall& call, const ConvolutionExtras& extras, int threads);

// Appends what a primitive for [call] depends on, other than its dtype and threads.
void appendTo(PrimitiveKey& key, const ConvolutionCall& call, const ConvolutionExtras& extras);

// [memories] are those of [prepared], and no other thread uses them meanwhile.
void runConvolution(const ConvolutionCall& call, const PreparedConvolution& prepared, ConvolutionMemories& memories,
                    const ConvolutionOperands& operands);

// The multiply-adds of [call].
double multiplyAddsOf(const ConvolutionCall& call);

}  // namespace boxcar::cpu::onednn
