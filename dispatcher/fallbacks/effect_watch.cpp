#include <boxcar/dispatcher/fallbacks/effect_watch.h>

namespace boxcar {
namespace {

constinit thread_local EffectWatch* innermost = nullptr;

}  // namespace

EffectWatch::EffectWatch(const OperatorHandle& op) : outer_(innermost), acted_(op.hasTag(Tag::io)) { innermost = this; }

EffectWatch::~EffectWatch() {
  if (outer_ != nullptr && acted_) outer_->acted_ = true;
  innermost = outer_;
}

}  // namespace boxcar
