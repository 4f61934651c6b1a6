#pragma once

#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/ivalue/macros.h>

#include <string>

namespace boxcar {

// Repeats every call on meta copies of its tensors, if the operator has a kernel for Meta, and compares the outcomes:
// throws Error if a result's dtype, sizes or strides differ from the real ones. A composite kernel is checked only if
// it runs on meta tensors; kernels of scripts, and calls that act outside of the program, are not checked. Also throws
// Error if a Meta kernel fails, unless the operator needs data to know its shapes (Tag::data_dependent_output,
// Tag::dynamic_output_shape). The second run is hidden from other handlers and touches no real argument.
class BOXCAR_API MetaChecker final : public Handler {
 public:
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  ModeOptions modeOptions() const override { return {.sees_calls_below = true}; }
  std::string finish(bool) override { return {}; }
};

extern const HandlerKind kCheckMetaKind;

}  // namespace boxcar
