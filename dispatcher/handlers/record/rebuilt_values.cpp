#include <boxcar/dispatcher/handlers/record/rebuilt_values.h>
#include <boxcar/dispatcher/values/host_bytes.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/ivalue/default_generators.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace boxcar {
namespace {

// Returns [count] bytes: elements of [dtype], each of them 1.
std::vector<std::byte> ones(uint64_t count, ScalarType dtype) {
  std::vector<std::byte> bytes(count);
  visitScalarType(kAllTypes, dtype, "recording", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T one(1);
    for (size_t at = 0; at + sizeof(T) <= count; at += sizeof(T)) std::memcpy(bytes.data() + at, &one, sizeof(T));
  });
  return bytes;
}

class Builder final {
 public:
  Builder(const Recording& recording, const RecordedMoment& moment, std::optional<Device> device)
      : moment_(moment), device_(device) {
    for (uint32_t i = 0; i < moment.storages.size(); ++i) storages_.push_back(makeStorage(recording, i));
    for (const RecordedTensor& tensor : moment.tensors) tensors_.push_back(makeTensor(tensor));
  }

  IValue value(const RecordedValue& recorded) const {
    using Kind = RecordedValue::Kind;
    switch (recorded.kind) {
      case Kind::Plain: return recorded.plain.isDevice() ? IValue(mapped(recorded.plain.toDevice())) : recorded.plain;
      case Kind::Undefined: return Tensor();
      case Kind::Tensor: return tensors_[recorded.index];
      case Kind::Storage: return storages_[recorded.index];
      case Kind::Generator: return makeGenerator(recorded);
      case Kind::TensorList: {
        List<Tensor> list;
        for (const RecordedValue& element : recorded.elements) list.push_back(value(element).toTensor());
        return list;
      }
      case Kind::List: return GenericList(makeIntrusive<GenericListObject>(elements(recorded)));
      case Kind::Tuple: return Tuple(elements(recorded));
      case Kind::Dict: {
        GenericDict dict;
        for (size_t i = 0; i < recorded.elements.size(); i += 2)
          dict.insert_or_assign(value(recorded.elements[i]), value(recorded.elements[i + 1]));
        return dict;
      }
      case Kind::Opaque: break;
    }
    BOXCAR_FAIL("{} cannot be rebuilt", recorded.plain.toStringView());
  }

  std::vector<Tensor> takeTensors() { return std::move(tensors_); }

 private:
  Device mapped(Device device) const noexcept { return device_ && !device.is_meta() ? *device_ : device; }

  // A tensor is on one particular device, which "cuda" without an index does not name.
  static Device withIndex(Device device) noexcept {
    return device.is_cpu() || device.is_meta() || device.has_index() ? device : Device(device.type(), 0);
  }

  Storage makeStorage(const Recording& recording, uint32_t index) const {
    const RecordedStorage& recorded = moment_.storages[index];
    Storage storage = StorageImpl::allocate(recorded.bytes, withIndex(mapped(recorded.device)));
    if (recorded.count == 0 || storage->device().is_meta()) return storage;
    const auto tensor = std::ranges::find(moment_.tensors, index, &RecordedTensor::storage);
    const ScalarType dtype = tensor == moment_.tensors.end() ? ScalarType::Byte : tensor->dtype;
    const std::vector<std::byte> bytes =
        recorded.block ? recording.readBlock(*recorded.block) : ones(recorded.count, dtype);
    BOXCAR_CHECK(bytes.size() == recorded.count, "the recording '{}' has {} bytes for a storage that keeps {}",
                 recording.path(), bytes.size(), recorded.count);
    writeFromHost(storage, recorded.first, bytes, dtype);
    return storage;
  }

  Tensor makeTensor(const RecordedTensor& recorded) const {
    Tensor tensor(makeIntrusive<TensorImpl>(storages_[recorded.storage], recorded.dtype, recorded.sizes,
                                            recorded.strides, recorded.offset));
    if (recorded.is_conj) tensor = withOtherBitHidden(tensor, "aten::_conj");
    if (recorded.is_neg) tensor = withOtherBitHidden(tensor, "aten::_neg_view");
    if (recorded.requires_grad) tensor.set_requires_grad(true);
    tensor.unsafeGetTensorImpl()->set_wrapped_number(recorded.is_wrapped_number);
    return tensor;
  }

  static IValue makeGenerator(const RecordedValue& recorded) {
    const Device device = recorded.plain.toDevice();
    BOXCAR_CHECK(recorded.state.has_value(), "a generator of device '{}' cannot be rebuilt", device);
    const Generator generator = boxcar::makeGenerator(device, recorded.state->seed);
    generator.unsafeGetGeneratorImpl()->set_state(*recorded.state);
    return generator;
  }

  std::vector<IValue> elements(const RecordedValue& recorded) const {
    std::vector<IValue> built;
    for (const RecordedValue& element : recorded.elements) built.push_back(value(element));
    return built;
  }

  const RecordedMoment& moment_;
  const std::optional<Device> device_;
  std::vector<Storage> storages_;
  std::vector<Tensor> tensors_;
};

}  // namespace

RebuiltValues rebuild(const Recording& recording, const RecordedMoment& moment, std::span<const RecordedValue> values,
                      std::optional<Device> device) {
  Builder builder(recording, moment, device);
  RebuiltValues rebuilt;
  for (const RecordedValue& value : values) rebuilt.values.push_back(builder.value(value));
  rebuilt.tensors = builder.takeTensors();
  return rebuilt;
}

std::optional<std::string> findOpaque(std::span<const RecordedValue> values) {
  for (const RecordedValue& value : values) {
    if (value.kind == RecordedValue::Kind::Opaque) return value.plain.toStringRef();
    if (auto found = findOpaque(value.elements)) return found;
  }
  return std::nullopt;
}

std::vector<IValue> Recording::rebuildArguments(const RecordedCall& call, std::optional<Device> device) const {
  return rebuild(*this, call.before, call.arguments, device).values;
}

}  // namespace boxcar
