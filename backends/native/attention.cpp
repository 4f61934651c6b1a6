#include <boxcar/backends/native/attention.h>

namespace boxcar::native {

constinit DeviceStub<AttentionFunction> attendAtOnce("scaled_dot_product_attention");

}  // namespace boxcar::native
