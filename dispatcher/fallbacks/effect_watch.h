#pragma once

#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/macros.h>

namespace boxcar {

// Tells a handler that sees the calls below whether a call, or one of those, acts outside of the program, as Tag::io
// says, or a schema without results and without arguments that are written: such a call must not be made again to look
// what it does. One lives for each call that a handler serves, on its thread.
class BOXCAR_API EffectWatch final {
 public:
  explicit EffectWatch(const OperatorHandle& op);
  ~EffectWatch();
  EffectWatch(const EffectWatch&) = delete;
  EffectWatch& operator=(const EffectWatch&) = delete;

  bool actedOutside() const noexcept { return acted_; }

 private:
  EffectWatch* const outer_;
  bool acted_;
};

}  // namespace boxcar
