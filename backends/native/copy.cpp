#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/native/copy.h>

#include <cstring>

namespace boxcar::native {

constinit DeviceStub<CopyFunction> copyOnDevice("copy_");

void copyElements(const Tensor& target, const Tensor& source, bool non_blocking) {
  if (target.is_meta() || target.numel() == 0) return;
  copyOnDevice(target.is_cuda() ? target.device() : source.device(), target, source, non_blocking);
}

Tensor convertTo(const Tensor& tensor, ScalarType dtype) {
  const Tensor result = meta::allocateStrided(tensor.sizes(), meta::denseStrides(tensor), dtype, tensor.device());
  copyElements(result, tensor);
  return result;
}

Tensor toContiguous(const Tensor& tensor) { return tensor.is_contiguous() ? tensor : contiguousCopy(tensor); }

Tensor toContiguous(const Tensor& tensor, ScalarType dtype) {
  return toContiguous(tensor.scalar_type() == dtype ? tensor : convertTo(tensor, dtype));
}

Tensor contiguousCopy(const Tensor& tensor) {
  Tensor copy = Tensor::allocate(tensor.sizes(), tensor.scalar_type(), tensor.device());
  copyElements(copy, tensor);
  return copy;
}

void storeNumber(void* address, ScalarType type, const Scalar& number) {
  visitScalarType(kAllTypes, type, "number", [&]<class T>(std::type_identity<T>) {
    T value;
    if (number.isComplex()) {
      value = functors::convertElement<T>(number.toComplexDouble());
    } else if (number.isFloatingPoint()) {
      value = functors::convertElement<T>(number.toDouble());
    } else {
      value = functors::convertElement<T>(number.toLong());
    }
    std::memcpy(address, &value, sizeof(T));
  });
}

void checkFits(const Scalar& number, ScalarType type) {
  visitScalarType(kAllTypes, type, "number", [&]<class T>(std::type_identity<T>) { number.to<T>(); });
}

Tensor numberTensor(const Scalar& number, ScalarType type) {
  checkFits(number, type);
  Tensor result = Tensor::allocate({}, type);
  storeNumber(result.data_ptr(), type, number);
  return result;
}

Tensor toDevice(const Tensor& tensor, Device device) {
  if (tensor.device() == device) return tensor;
  Tensor copy = meta::allocateStrided(tensor.sizes(), meta::denseStrides(tensor), tensor.scalar_type(), device);
  copyElements(copy, tensor);
  return copy;
}

Scalar readNumber(const Tensor& tensor) {
  if (!tensor.is_cuda()) return loadNumber(tensor.data_ptr(), tensor.scalar_type());
  const Tensor copy = Tensor::allocate({}, tensor.scalar_type());
  copyElements(copy, tensor.view({}, {}, tensor.storage_offset()));
  return loadNumber(copy.data_ptr(), copy.scalar_type());
}

Scalar loadNumber(const void* address, ScalarType type) {
  return visitScalarType(kAllTypes, type, "number", [&]<class T>(std::type_identity<T>) {
    T value;
    std::memcpy(&value, address, sizeof(T));
    return Scalar(value);
  });
}

}  // namespace boxcar::native
