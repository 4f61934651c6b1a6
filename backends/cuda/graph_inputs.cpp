#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/graph_inputs.h>
#include <boxcar/dispatcher/call/default_device.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>

#include <optional>

namespace boxcar::cuda {
namespace {

// The elements of CPU tensors up to this size are passed to kernels as launch parameters.
constexpr int64_t kMostOnCpu = 16;
constexpr int kMostNested = 16;

class Reader final {
 public:
  Reader(std::string_view function, int device, GraphInputs& inputs)
      : function_(function), device_(device), inputs_(inputs) {}

  void read(const IValue& value, int depth = 0) {
    BOXCAR_CHECK(depth < kMostNested, "cuda_graph(): `{}` is given lists more than {} deep", function_, kMostNested);
    const IValue::Tag tag = value.tag();
    write(tag);
    switch (tag) {
      case IValue::Tag::None: return;
      case IValue::Tag::Bool: return write(value.toBool());
      case IValue::Tag::Int: return write(value.toInt());
      case IValue::Tag::Double: return write(value.toDouble());
      case IValue::Tag::ComplexDouble: return write(value.toComplexDouble());
      case IValue::Tag::Device: return write(value.toDevice());
      case IValue::Tag::String: return writeText(value.toStringView());
      case IValue::Tag::Tensor: return read(value.toTensor());
      case IValue::Tag::Generator:
        BOXCAR_FAIL("cuda_graph(): `{}` has a generator as argument, and its numbers would be the same in every replay",
                    function_);
      case IValue::Tag::GenericDict: {
        const GenericDict dict = value.toGenericDict();
        write(dict.size());
        for (size_t i = 0; i < dict.size(); ++i) {
          const auto [key, element] = dict.entryAt(i);
          read(key, depth + 1);
          read(element, depth + 1);
        }
        return;
      }
      default: break;
    }
    if (value.isList() || value.isTuple()) {
      write(value.length());
      for (size_t i = 0; i < value.length(); ++i) read(value.elementAt(i), depth + 1);
    } else if (value.isObject()) {
      write(static_cast<const void*>(value.toObject().get()));
    } else {
      BOXCAR_FAIL("cuda_graph(): `{}` is given a value of kind {}, which a graph cannot take", function_,
                  value.tagKind());
    }
  }

 private:
  template <class T>
  void write(const T& value) {
    inputs_.key.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void writeText(std::string_view text) {
    write(text.size());
    inputs_.key.append(text);
  }

  void read(const Tensor& tensor) {
    write(tensor.defined());
    if (!tensor.defined()) return;
    write(tensor.scalar_type());
    write(tensor.device());
    write(tensor.unsafeGetTensorImpl()->is_wrapped_number());
    write(tensor.sizes().size());
    for (const int64_t size : tensor.sizes()) write(size);
    for (const int64_t stride : tensor.strides()) write(stride);
    if (tensor.is_cuda()) {
      BOXCAR_CHECK(tensor.device().index() == device_,
                   "cuda_graph(): `{}` reads tensors of cuda:{} and of '{}'; a graph is of one device", function_,
                   device_, tensor.device());
      inputs_.tensors.push_back(tensor);
    } else if (tensor.is_cpu()) {
      BOXCAR_CHECK(
          tensor.numel() <= kMostOnCpu,
          "cuda_graph(): `{}` reads a tensor of {} elements on the CPU, which a graph cannot do again; move it "
          "to 'cuda:{}' outside of the function",
          function_, tensor.numel(), device_);
      writeElements(tensor);
    }
  }

  void writeElements(const Tensor& tensor) {
    if (tensor.numel() == 0) return;
    const std::span<const int64_t> sizes = tensor.sizes();
    std::vector<int64_t> at(sizes.size(), 0);
    const auto* const first = static_cast<const char*>(tensor.data_ptr());
    for (;;) {
      int64_t offset = 0;
      for (size_t i = 0; i < at.size(); ++i) offset += at[i] * tensor.strides()[i];
      const auto itemsize = static_cast<int64_t>(tensor.itemsize());
      inputs_.key.append(first + offset * itemsize, tensor.itemsize());
      size_t dim = at.size();
      while (dim > 0 && ++at[dim - 1] == sizes[dim - 1]) at[--dim] = 0;
      if (dim == 0) return;
    }
  }

  const std::string_view function_;
  const int device_;
  GraphInputs& inputs_;
};

}  // namespace

GraphInputs readGraphInputs(std::string_view function, std::span<const IValue> arguments,
                            std::span<const IValue> constants, int device) {
  GraphInputs inputs;
  const uint64_t kept = raw_local_dispatch_key_set.kept_bits;
  inputs.key.append(reinterpret_cast<const char*>(&kept), sizeof(kept));
  if (const auto default_device = DefaultDevice::get()) inputs.key.append(toString(*default_device));
  Reader reader(function, device, inputs);
  for (const IValue& value : arguments) reader.read(value);
  inputs.argument_tensors = inputs.tensors.size();
  for (const IValue& value : constants) reader.read(value);
  return inputs;
}

int deviceOfValues(std::span<const IValue> values) {
  std::optional<int> found;
  for (const IValue& value : values) {
    visitTensors(value, [&](const Tensor& tensor) {
      if (!found && tensor.is_cuda()) found = tensor.device().index();
    });
  }
  return found ? *found : currentDevice();
}

}  // namespace boxcar::cuda
