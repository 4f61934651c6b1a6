#pragma once

#include <boxcar/backends/transforms/vmap_level.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/ivalue/ivalue.h>

#include <span>
#include <vector>

namespace boxcar::transforms {

// While it lives, calls are recorded, also under no_grad() and inference_mode().
class RecordsAlways final {
 public:
  RecordsAlways() = default;

 private:
  const InferenceMode inference_{false};
  const AutoGradMode mode_{true};
};

// What a function is differentiated with respect to. Derivatives belong to plain tensors: inside func::vmap(), what is
// differentiated has all its batches as its first dimensions, and the function gets it batched. So each slice has a
// derivative of its own, also of a tensor that is not vmapped over.
class Primals final {
 public:
  // Without history, or with it, if a derivative of the derivative may be asked for: the result of a call on tensors
  // that require grad requires grad.
  explicit Primals(std::span<const IValue> values);

  // Takes note of what the function returned: it may depend on other tensors that require grad, such as another
  // argument with respect to which a transform around this one differentiates. Derivatives then get a history, too.
  void noteOutputs(std::span<const Tensor> outputs);
  bool isNested() const noexcept { return is_nested_; }
  bool isEmpty() const noexcept { return wanted_.empty(); }
  std::vector<IValue> inputs() const;

  // Returns the gradients of [outputs], shaped like the values; zeros where the outputs do not depend on a tensor, and
  // None for a value without tensors that can have a gradient. An undefined one of [grad_outputs] is ones.
  std::vector<IValue> gradients(std::span<const Tensor> outputs, std::span<const Tensor> grad_outputs,
                                bool keeps_graph) const;

  // A linear map: the gradients of [outputs], as a function of weights of them. It is transposed to compute tangents.
  struct Linearized {
    std::vector<Tensor> weights;   // for each output; undefined if it does not depend on the values
    std::vector<Tensor> products;  // for each tensor that has a gradient
  };
  Linearized linearized(std::span<const Tensor> outputs) const;
  // Returns how the outputs change where the values' tensors change by [tangents].
  std::vector<Tensor> changes(const Linearized& map, std::span<const Tensor> outputs,
                              std::span<const Tensor> tangents) const;

 private:
  std::vector<VmapLevelInfo> levels_;
  std::vector<IValue> values_;
  bool may_be_nested_;  // gradients were recorded where the function was called
  bool is_nested_ = false;
  std::vector<Tensor> inputs_;  // for each tensor of the values
  std::vector<Tensor> wanted_;  // those that have a gradient, with all batches
};

// A value without the history that only a derivative needed.
IValue detached(const IValue& value, bool is_nested);

}  // namespace boxcar::transforms
