#include <boxcar/backends/native/optimizers.h>

namespace boxcar::native {

constinit DeviceStub<AdamFunction> adamStep("_fused_adam_");
constinit DeviceStub<SgdFunction> sgdStep("_fused_sgd_");

}  // namespace boxcar::native
