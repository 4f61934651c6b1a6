#include <boxcar/backends/native/products.h>

namespace boxcar::native {

constinit DeviceStub<MultiplyFunction> multiplyMatrices("mm");
constinit DeviceStub<AddProductFunction> addProduct("addmm");

}  // namespace boxcar::native
