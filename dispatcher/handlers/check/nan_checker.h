#pragma once

#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/ivalue/macros.h>

#include <string>

namespace boxcar {

// Stops at the first operator that makes a NaN or an infinity from arguments that have none: throws an Error that says
// where, and shows the ranges of the arguments. It names the innermost operator, because it sees the calls that kernels
// make. Arguments that an operator writes without reading (`*, Tensor(a!) out`) are not inputs. Operators that return
// uninitialised memory (Tag::nondeterministic_bitwise) are skipped.
class BOXCAR_API NanChecker final : public Handler {
 public:
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  ModeOptions modeOptions() const override { return {.sees_calls_below = true}; }
  std::string finish(bool) override { return {}; }
};

extern const HandlerKind kCheckNanKind;

}  // namespace boxcar
