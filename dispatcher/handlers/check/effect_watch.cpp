#include <boxcar/dispatcher/handlers/check/effect_watch.h>

#include <algorithm>

namespace boxcar {
namespace {

constinit thread_local EffectWatch* innermost_watch = nullptr;

// A call that returns nothing and writes nothing has no other purpose.
bool actsOutside(const OperatorHandle& op) {
  if (op.hasTag(Tag::io)) return true;
  const FunctionSchema& schema = op.schema();
  return schema.returns().empty() && !schema.is_varret() &&
         std::ranges::none_of(schema.arguments(), &Argument::is_write);
}

}  // namespace

EffectWatch::EffectWatch(const OperatorHandle& op) : outer_(innermost_watch), acted_(actsOutside(op)) {
  innermost_watch = this;
}

EffectWatch::~EffectWatch() {
  if (outer_ != nullptr && acted_) outer_->acted_ = true;
  innermost_watch = outer_;
}

}  // namespace boxcar
