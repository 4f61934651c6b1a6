#include <boxcar/backends/native/attention.h>

namespace boxcar::native {

constinit DeviceStub<AttentionFunction> attendAtOnce("scaled_dot_product_attention");
constinit DeviceStub<BlockAttentionFunction> attendInBlocks("_scaled_dot_product_flash_attention_for_cpu");
constinit DeviceStub<BlockAttentionGradientFunction> attendInBlocksGradients(
    "_scaled_dot_product_flash_attention_for_cpu_backward");

}  // namespace boxcar::native
