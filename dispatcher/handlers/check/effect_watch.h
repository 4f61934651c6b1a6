#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/macros.h>

namespace boxcar {

// Tells a handler that sees the calls below whether a call, or one below it, acts outside of the program: it has
// Tag::io, or its schema has no results and writes no argument. Such a call must not be repeated to see what it does.
// Make one for each call that a handler serves, on its thread.
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
