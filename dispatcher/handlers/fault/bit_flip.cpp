#include <boxcar/dispatcher/handlers/fault/bit_flip.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/ivalue/value_tensors.h>
#include <fmt/format.h>

#include <vector>

namespace boxcar {
namespace {

// Draws a number below [count] from [random], and leaves the rest there.
uint64_t draw(uint64_t& random, uint64_t count) {
  const uint64_t drawn = random % count;
  random /= count;
  return drawn;
}

// Returns the offset of the [index]-th element in order.
int64_t offsetOf(const Tensor& tensor, int64_t index) {
  int64_t offset = tensor.storage_offset();
  for (size_t i = tensor.sizes().size(); i-- > 0; index /= tensor.sizes()[i])
    offset += index % tensor.sizes()[i] * tensor.strides()[i];
  return offset;
}

void flip(std::byte* element, uint64_t bit) { element[bit / 8] ^= std::byte{1} << (bit % 8); }

}  // namespace

std::string flipBit(std::span<const IValue> values, uint64_t random) {
  std::vector<Tensor> tensors;
  for (const IValue& value : values) {
    visitTensors(value, [&](const Tensor& tensor) {
      if (tensor.numel() > 0 && hasBytes(tensor)) tensors.push_back(tensor);
    });
  }
  if (tensors.empty()) return {};
  const uint64_t which = draw(random, tensors.size());
  const Tensor& tensor = tensors[which];
  // Only one bit of a bool is significant.
  const uint64_t bit = draw(random, tensor.scalar_type() == ScalarType::Bool ? 1 : tensor.itemsize() * 8);
  const uint64_t index = draw(random, static_cast<uint64_t>(tensor.numel()));

  const Tensor element = tensor.view({}, {}, offsetOf(tensor, static_cast<int64_t>(index)));
  if (tensor.is_cpu()) {
    flip(static_cast<std::byte*>(element.data_ptr()), bit);
  } else {
    const Tensor on_cpu = Tensor::allocate({}, tensor.scalar_type());
    copyHidden(on_cpu, element);
    flip(static_cast<std::byte*>(on_cpu.data_ptr()), bit);
    copyHidden(element, on_cpu);
  }
  return fmt::format("bit {} of element {} of tensor {}", bit, index, which);
}

}  // namespace boxcar
