#include <boxcar/dispatcher/handlers/record/call_capture.h>
#include <boxcar/dispatcher/values/content_hash.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <boxcar/ivalue/zero_tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace boxcar {
namespace {

// Limits lists that contain themselves.
constexpr int kDeepest = 64;

RecordedValue ofKind(RecordedValue::Kind kind) {
  RecordedValue value;
  value.kind = kind;
  return value;
}

RecordedValue opaque(std::string what) {
  RecordedValue value = ofKind(RecordedValue::Kind::Opaque);
  value.plain = std::move(what);
  return value;
}

// Runs [copy], which reads from [device].
template <class Copy>
auto fromDevice(Device device, Copy copy) {
  try {
    return copy();
  } catch (const Error& error) {
    BOXCAR_FAIL("the elements of a tensor on device '{}' cannot be copied to record them: {}; record with shapes only",
                device, error.message());
  }
}

RecordedValue takeGenerator(const Generator& generator) {
  RecordedValue value = ofKind(RecordedValue::Kind::Generator);
  value.plain = generator.device();
  try {
    const std::scoped_lock lock(generator.mutex());
    value.state = generator.unsafeGetGeneratorImpl()->state();
  } catch (const Error&) {
    return opaque(fmt::format("{}, which cannot tell its position", generator));
  }
  return value;
}

}  // namespace

void CallCapture::takeArguments(std::span<const IValue> arguments, const FunctionSchema& schema) {
  for (size_t i = 0; i < arguments.size(); ++i)
    call_.arguments.push_back(take(arguments[i], schema.arguments()[i].is_write()));
  for (uint32_t i = 0; i < storages_.size(); ++i) call_.before.storages.push_back(describe(i));
  for (const Tensor& tensor : tensors_) call_.before.tensors.push_back(describe(tensor));
}

void CallCapture::takeResults(std::span<const IValue> results) {
  for (const IValue& result : results) call_.results.push_back(take(result, /*is_written=*/false));
  // An argument may have another storage now.
  for (const Tensor& tensor : tensors_) numberOf(tensor.storage(), tensor.scalar_type(), /*is_written=*/false);
  for (uint32_t i = 0; i < storages_.size(); ++i) takeStorageAfter(i);
  for (const Tensor& tensor : tensors_) call_.after.tensors.push_back(describe(tensor));
}

bool CallCapture::hasChanged(uint32_t storage) const noexcept {
  const SeenStorage& seen = storages_[storage];
  return seen.is_written || seen.storage->version() != seen.version ||
         seen.storage->nbytes() != call_.before.storages[storage].bytes;
}

void CallCapture::takeStorageAfter(uint32_t storage) {
  if (storage >= call_.before.storages.size() || hasChanged(storage)) {
    call_.after.storages.push_back(describe(storage));
    return;
  }
  RecordedStorage& before = call_.before.storages[storage];
  // A view may reach bytes that no argument reached; the call has not written them, so they were the same before.
  const ByteRange range = span({before.first, before.count}, reached(storage));
  if (range.count != before.count) before = describe(storage);
  call_.after.storages.push_back(before);
}

RecordedValue CallCapture::take(const IValue& value, bool is_written, int depth) {
  using Kind = RecordedValue::Kind;
  using Tag = IValue::Tag;
  const auto take_elements = [&](Kind kind) {
    if (depth == kDeepest) return opaque(fmt::format("values nested more than {} deep", kDeepest));
    RecordedValue taken = ofKind(kind);
    for (size_t i = 0; i < value.length(); ++i)
      taken.elements.push_back(take(value.elementAt(i), is_written, depth + 1));
    return taken;
  };
  RecordedValue taken;
  switch (value.tag()) {
    case Tag::Tensor:
      if (!value.toTensor().defined()) return ofKind(Kind::Undefined);
      taken.kind = Kind::Tensor;
      taken.index = numberOf(value.toTensor(), is_written);
      return taken;
    case Tag::Storage:
      taken.kind = Kind::Storage;
      taken.index = numberOf(value.toStorage(), ScalarType::Byte, is_written);
      whole_storages_.push_back(taken.index);
      return taken;
    case Tag::Generator: return takeGenerator(value.toGenerator());
    case Tag::TensorList: return take_elements(Kind::TensorList);
    case Tag::GenericList: return take_elements(Kind::List);
    case Tag::Tuple: return take_elements(Kind::Tuple);
    case Tag::GenericDict: {
      if (depth == kDeepest) return take_elements(Kind::Dict);
      taken.kind = Kind::Dict;
      const GenericDict dict = value.toGenericDict();
      for (size_t i = 0; i < dict.size(); ++i) {
        taken.elements.push_back(take(dict.object()->keyAt(i), is_written, depth + 1));
        taken.elements.push_back(take(dict.object()->valueAt(i), is_written, depth + 1));
      }
      return taken;
    }
    case Tag::Object: return opaque("an object of class " + value.toObject()->className());
    case Tag::Future: return opaque("a future");
    case Tag::Enum: return opaque("a member of the enum " + value.toEnumHolder()->qualifiedClassName());
    // Typed lists are copied because they may change while the call runs.
    case Tag::IntList: taken.plain = value.toIntList().copy(); return taken;
    case Tag::DoubleList: taken.plain = value.toDoubleList().copy(); return taken;
    case Tag::BoolList: taken.plain = value.toBoolList().copy(); return taken;
    case Tag::ComplexDoubleList: taken.plain = value.toComplexDoubleList().copy(); return taken;
    default: taken.plain = value; return taken;
  }
}

uint32_t CallCapture::numberOf(const Tensor& tensor, bool is_written) {
  numberOf(tensor.storage(), tensor.scalar_type(), is_written);
  const auto found = std::ranges::find_if(tensors_, [&](const Tensor& one) { return one.is_same(tensor); });
  if (found == tensors_.end()) {
    tensors_.push_back(tensor);
    return static_cast<uint32_t>(tensors_.size() - 1);
  }
  return static_cast<uint32_t>(found - tensors_.begin());
}

uint32_t CallCapture::numberOf(const Storage& storage, ScalarType dtype, bool is_written) {
  for (uint32_t i = 0; i < storages_.size(); ++i) {
    if (storages_[i].storage != storage) continue;
    storages_[i].is_written |= is_written;
    return i;
  }
  storages_.push_back({storage, dtype, storage->version(), is_written});
  return static_cast<uint32_t>(storages_.size() - 1);
}

ByteRange CallCapture::reached(uint32_t storage) const noexcept {
  const Storage& wanted = storages_[storage].storage;
  if (std::ranges::find(whole_storages_, storage) != whole_storages_.end()) return {0, wanted->nbytes()};
  ByteRange range;
  for (const Tensor& tensor : tensors_) {
    if (tensor.storage() == wanted) range = span(range, reachedBytes(tensor));
  }
  return range;
}

RecordedStorage CallCapture::describe(uint32_t storage) {
  const SeenStorage& seen = storages_[storage];
  const ByteRange range = reached(storage);
  RecordedStorage described{seen.storage->device(), seen.storage->nbytes(), range.first, range.count, std::nullopt};
  if (content_ != RecordedContent::Full || range.count == 0 || seen.storage->device().is_meta()) return described;
  const auto isZeros = [&](const Tensor& tensor) { return isZeroTensor(tensor) && tensor.storage() == seen.storage; };
  if (std::ranges::any_of(tensors_, isZeros)) {
    described.block = writer_.block(std::vector<std::byte>(range.count));
    return described;
  }
  if (lacksMemory(*seen.storage)) return described;  // of a fake tensor
  const HostBytes bytes = fromDevice(described.device, [&] { return HostBytes(seen.storage, range, seen.dtype); });
  described.block = writer_.block(bytes.get());
  return described;
}

RecordedTensor CallCapture::describe(const Tensor& tensor) const {
  BOXCAR_CHECK(tensor.layout() == Layout::Strided,
               "a recording cannot keep a tensor of layout torch.{}; record the calls before to_mkldnn() and after "
               "to_dense()",
               layoutName(tensor.layout()));
  const auto storage =
      std::ranges::find_if(storages_, [&](const SeenStorage& seen) { return seen.storage == tensor.storage(); });
  RecordedTensor described;
  described.storage = static_cast<uint32_t>(storage - storages_.begin());
  described.dtype = tensor.scalar_type();
  described.requires_grad = tensor.requires_grad();
  described.is_wrapped_number = tensor.unsafeGetTensorImpl()->is_wrapped_number();
  described.is_conj = tensor.key_set().has(DispatchKey::Conjugate);
  described.is_neg = tensor.key_set().has(DispatchKey::Negative);
  described.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  described.strides.assign(tensor.strides().begin(), tensor.strides().end());
  described.offset = tensor.storage_offset();
  if (content_ == RecordedContent::Hashes)
    described.hash = hashOfBytes(fromDevice(tensor.device(), [&] { return ElementBytes(tensor); }).bytes()).low;
  return described;
}

}  // namespace boxcar
