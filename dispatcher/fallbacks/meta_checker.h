#pragma once

#include <boxcar/dispatcher/fallbacks/handler.h>
#include <boxcar/dispatcher/fallbacks/handler_kinds.h>
#include <boxcar/ivalue/macros.h>

#include <string>

namespace boxcar {

// Makes every call a second time on meta copies of its tensors, where the operator has a kernel that answers on Meta,
// and compares what comes out: an Error says where a result's dtype, sizes or strides are not those of the real one.
// Composite kernels count where they run on meta tensors, scripts' and what acts outside of the program do not. A meta
// kernel that fails is an Error, too, unless the operator needs data to know its shapes (Tag::data_dependent_output,
// Tag::dynamic_output_shape). The second run is hidden from other handlers and touches no real argument.
class BOXCAR_API MetaChecker final : public Handler {
 public:
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  ModeOptions modeOptions() const override { return {.sees_calls_below = true}; }
  std::string finish(bool) override { return {}; }
};

extern const HandlerKind kCheckMetaKind;

}  // namespace boxcar
