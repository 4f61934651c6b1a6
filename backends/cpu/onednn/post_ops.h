#pragma once

#include <boxcar/backends/native/fused.h>

#include <oneapi/dnnl/dnnl.hpp>

#include <cstdint>

namespace boxcar::cpu::onednn {

// How a primitive adds a tensor to its result.
enum class Addition : uint8_t {
  kNone,
  kSum,     // the tensor is in the destination before, which the primitive reads
  kBinary,  // the tensor is an argument, kAddedArgument, in the destination's layout
};

inline constexpr int kAddedArgument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;

// Returns attributes with the addition and then the activation; [added] describes the tensor of kBinary. The caller
// provides the scratchpad, so that several threads can run a primitive.
dnnl::primitive_attr attributesOf(Addition addition, const dnnl::memory::desc& added,
                                  const native::FusedActivation& activation);

// A primitive's arguments, without the map that dnnl::primitive::execute takes.
class Arguments final {
 public:
  void add(int kind, const dnnl::memory& memory) {
    held_[count_] = memory;
    arguments_[count_++] = {kind, memory.get()};
  }
  // Runs [primitive] on the calling thread's stream.
  void execute(const dnnl::primitive& primitive) const;

 private:
  static constexpr int kMost = 6;
  dnnl::memory held_[kMost];
  dnnl_exec_arg_t arguments_[kMost];
  int count_ = 0;
};

}  // namespace boxcar::cpu::onednn
