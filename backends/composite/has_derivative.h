#pragma once

#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::composite {

// Whether a call on [tensor] may be differentiated, backwards or forwards: what only derivatives need is then computed.
inline bool hasDerivative(const Tensor& tensor) {
  return (GradMode::is_enabled() && tensor.requires_grad()) ||
         tls_is_dispatch_key_included(DispatchKey::FuncTorchDynamicLayerFrontMode);
}

}  // namespace boxcar::composite
