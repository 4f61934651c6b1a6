#include <boxcar/dispatcher/handlers/cpu_fallback/cpu_round_trip.h>
#include <boxcar/dispatcher/values/aliasing.h>
#include <boxcar/dispatcher/values/device_copy.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace boxcar {
namespace {

using PlacedTensors = std::vector<PlacedTensor>;

// Whether it is a scalar, which goes with tensors of any device.
bool isNumber(const PlacedTensor& placed) {
  return placed.tensor.is_cpu() && placed.tensor.dim() == 0 && !placed.isWritten();
}

// Returns the device of [type] that the tensors of a call are on.
Device deviceOf(const OperatorHandle& op, DeviceType type, const PlacedTensors& tensors) {
  const auto first = std::ranges::find_if(
      tensors, [type](const PlacedTensor& placed) { return placed.tensor.device().type() == type; });
  BOXCAR_CHECK(first != tensors.end(),
               "{} has no kernel for device '{}', and the CPU fallback does not run it without a tensor on that "
               "device, which would tell the device of its result: make the result on the CPU, and move it with to()",
               op, toString(type));
  const Device device = first->tensor.device();
  for (const PlacedTensor& placed : tensors) {
    BOXCAR_CHECK(placed.tensor.device() == device || isNumber(placed),
                 "the CPU fallback does not run {} on tensors of several devices: {} lies on '{}' and {} on '{}'; move "
                 "one of them with to()",
                 op, first->place, device, placed.place, placed.tensor.device());
  }
  return device;
}

// Grows [storage] to [bytes] and keeps its contents. Device storages can only be resized if nothing has to be kept.
void grow(const Storage& storage, uint64_t bytes) {
  if (storage->nbytes() >= bytes) return;
  if (storage->nbytes() == 0) return storage->resize(bytes);
  const Tensor kept = onCpu(bytesOfStorage(storage));
  // If memory is short, this throws before anything is lost.
  static_cast<void>(StorageImpl::allocate(bytes, storage->device()));
  storage->resize(0);
  storage->resize(bytes);
  copyHidden(flatElements(storage, {0, kept.nbytes()}, ScalarType::Byte), kept);
}

// An argument tensor and its copy on the CPU, as the copy was before the call.
struct Pair {
  PlacedTensor placed;
  Tensor copy;
  Storage storage;
  uint32_t version;
  int64_t offset;

  // Some kernels write more than their schemas say, for example running means.
  bool wasWritten() const { return placed.isWritten() || storage->version() != version; }
  bool wasReshaped() const {
    return !std::ranges::equal(copy.sizes(), placed.tensor.sizes()) ||
           !std::ranges::equal(copy.strides(), placed.tensor.strides()) || copy.storage_offset() != offset;
  }
};

// Gives the original the shape of the copy, and grows its memory if needed.
void resizeOriginal(const Pair& pair) {
  const Tensor& original = pair.placed.tensor;
  const int64_t offset = original.storage_offset() + pair.copy.storage_offset() - pair.offset;
  const ByteRange range = reachedBytes(pair.copy);
  grow(original.storage(), static_cast<uint64_t>(offset) * original.itemsize() + range.count);
  original.unsafeGetTensorImpl()->setShape(pair.copy.sizes(), pair.copy.strides(), offset);
}

class RoundTrip final {
 public:
  RoundTrip(const OperatorHandle& op, DeviceType type, std::span<const IValue> arguments)
      : op_(op),
        tensors_(tensorsOfArguments(op.schema(), arguments)),
        device_(deviceOf(op, type, tensors_)),
        to_cpu_(DeviceType::CPU),
        back_(device_) {
    for (const PlacedTensor& placed : tensors_) to_cpu_.note(placed.tensor);
    for (size_t i = 0; i < arguments.size(); ++i) stack_.push_back(argumentOnCpu(i, arguments[i]));
    for (const PlacedTensor& placed : tensors_) {
      if (placed.tensor.is_cpu()) continue;
      const Tensor copy = to_cpu_.copy(placed.tensor);
      originals_.emplace(copy.unsafeGetTensorImpl(), placed.tensor);
      pairs_.push_back({placed, copy, copy.storage(), copy.storage()->version(), copy.storage_offset()});
    }
  }

  // Returns the results for the caller.
  std::vector<IValue> run() {
    // Redispatches instead of making a new call, so that counters of calls do not see it twice.
    op_.redispatchBoxed(DispatchKeySet(DispatchKey::CPU), stack_);
    for (const Pair& pair : pairs_) {
      BOXCAR_CHECK(pair.copy.storage() == pair.storage,
                   "the CPU fallback does not run {}: it gives {} other memory, and a copy has no memory of the device",
                   op_, pair.placed.place);
    }
    std::vector<IValue> results = resultsOnDevice();
    writeBack();
    return results;
  }

  RoundTripBytes bytes() const { return {to_cpu_.copied_bytes(), back_.copied_bytes() + written_bytes_}; }

 private:
  // Device arguments say where results are made.
  IValue argumentOnCpu(size_t index, const IValue& value) {
    if (!value.isDevice()) return to_cpu_.copy(value);
    const Device asked = value.toDevice();
    if (asked.is_cpu()) {
      results_stay_ = true;
    } else {
      BOXCAR_CHECK(asked.type() == device_.type() && (!asked.has_index() || asked == device_),
                   "the CPU fallback does not run {} on tensors of device '{}' for results on '{}', as {} asks: move "
                   "them with to()",
                   op_, device_, asked, argumentPlace(op_.schema(), index));
    }
    return Device(DeviceType::CPU);
  }

  std::vector<IValue> resultsOnDevice() {
    const std::span<const IValue> results = last(stack_, stack_.size());
    // A written argument is also the operator's result, even if the kernel returns another object for it.
    for (const PlacedTensor& placed : tensorsOfResults(op_.schema(), results)) {
      if (!placed.isWritten() || originals_.contains(placed.tensor.unsafeGetTensorImpl())) continue;
      const auto written = std::ranges::find_if(pairs_, [&](const Pair& pair) {
        return pair.placed.isWritten() && mayAlias(pair.placed.alias, placed.alias);
      });
      if (written != pairs_.end()) originals_.emplace(placed.tensor.unsafeGetTensorImpl(), written->placed.tensor);
    }
    const auto is_made = [this](const Tensor& tensor) {
      return !results_stay_ && !originals_.contains(tensor.unsafeGetTensorImpl());
    };
    for (const PlacedTensor& placed : tensorsOfResults(op_.schema(), results)) {
      if (is_made(placed.tensor)) back_.note(placed.tensor);
    }
    std::vector<IValue> moved;
    for (const IValue& result : results) {
      moved.push_back(replaceTensors(result, [&](const Tensor& tensor) {
        if (is_made(tensor)) return back_.copy(tensor);
        const auto original = originals_.find(tensor.unsafeGetTensorImpl());
        return original == originals_.end() ? tensor : original->second;
      }));
    }
    return moved;
  }

  void writeBack() {
    std::unordered_set<const TensorImpl*> done;
    std::vector<const Pair*> written;
    for (const Pair& pair : pairs_) {
      if (pair.wasWritten() && done.insert(pair.copy.unsafeGetTensorImpl()).second) written.push_back(&pair);
    }
    for (const Pair* pair : written) {
      if (pair->wasReshaped()) resizeOriginal(*pair);
    }
    for (const Pair* pair : written) {
      copyElements(pair->placed.tensor, pair->copy);
      written_bytes_ += pair->copy.nbytes();
    }
  }

  const OperatorHandle& op_;
  const PlacedTensors tensors_;
  const Device device_;
  DeviceCopier to_cpu_;
  DeviceCopier back_;
  Stack stack_;
  std::vector<Pair> pairs_;
  // Keyed by the copy.
  std::unordered_map<const TensorImpl*, Tensor> originals_;
  bool results_stay_ = false;
  uint64_t written_bytes_ = 0;
};

}  // namespace

RoundTripBytes runOnCpu(const OperatorHandle& op, DeviceType type, Stack& stack) {
  const size_t count = op.schema().arguments().size();
  RoundTrip trip(op, type, last(stack, count));
  std::vector<IValue> results = trip.run();
  drop(stack, count);
  for (IValue& result : results) stack.push_back(std::move(result));
  return trip.bytes();
}

}  // namespace boxcar
