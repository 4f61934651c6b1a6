#include <boxcar/dispatcher/handlers/handler.h>

namespace boxcar {

std::shared_ptr<void> Handler::enter() {
  return std::make_shared<ModeGuard>(
      [this](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) { call(op, keys, stack); }, modeOptions());
}

}  // namespace boxcar
