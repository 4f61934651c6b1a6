#include <boxcar/dispatcher/handlers/trace/trace_names.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace boxcar::detail {
namespace {

// The cost of a sweep is proportional to the number of tensors, so it waits until there are twice as many, or twice
// their bytes.
constexpr size_t kFewTensors = 256;
constexpr size_t kFewBytes = size_t{16} << 20;

}  // namespace

const std::string* TraceNames::find(const Tensor& tensor) const {
  const auto found = tensors_.find(tensor.unsafeGetTensorImpl());
  return found == tensors_.end() ? nullptr : &found->second.name;
}

Tensor TraceNames::findAlias(const Tensor& tensor) const {
  for (const auto& [impl, named] : tensors_) {
    const Tensor& other = named.tensor;
    if (other.storage() == tensor.storage() && other.scalar_type() == tensor.scalar_type() &&
        std::ranges::equal(other.sizes(), tensor.sizes()) && std::ranges::equal(other.strides(), tensor.strides()) &&
        other.storage_offset() == tensor.storage_offset() &&
        !(other.key_set() ^ tensor.key_set()).has_any(math_bits_ks))
      return other;
  }
  return {};
}

Tensor TraceNames::findOn(const Storage& storage) const {
  const auto found =
      std::ranges::find_if(tensors_, [&](const auto& entry) { return entry.second.tensor.storage() == storage; });
  return found == tensors_.end() ? Tensor() : found->second.tensor;
}

const TraceNames::Base* TraceNames::findBase(const Storage& storage) const {
  const auto found = storages_.find(storage.get());
  return found == storages_.end() ? nullptr : &found->second;
}

std::string TraceNames::make(char letter) {
  std::string name;
  do name = fmt::format("{}{}", letter, count_++);
  while (reserved_.contains(name));
  return name;
}

void TraceNames::set(const Tensor& tensor, std::string name) {
  if (tensors_.size() > 2 * kept_tensors_ + kFewTensors || new_bytes_ > kept_bytes_ + kFewBytes) sweep();
  const Storage& storage = tensor.storage();
  // What is rebuilt from the memory has the elements that are there.
  if (!hasMathBits(tensor)) {
    const auto [base, is_new] =
        storages_.try_emplace(storage.get(), Base{storage, name, tensor.scalar_type(), storage->version()});
    if (is_new) new_bytes_ += storage->nbytes();
  }
  tensors_.insert_or_assign(tensor.unsafeGetTensorImpl(), Named{tensor, std::move(name)});
}

void TraceNames::update(const Storage& storage) {
  const auto found = storages_.find(storage.get());
  if (found != storages_.end()) found->second.version = storage->version();
}

void TraceNames::sweep() {
  std::erase_if(tensors_, [](const auto& entry) { return entry.second.tensor.unsafeGetTensorImpl()->useCount() == 1; });
  std::erase_if(storages_, [](const auto& entry) { return entry.second.storage->useCount() == 1; });
  kept_tensors_ = tensors_.size();
  kept_bytes_ = new_bytes_ = 0;
  for (const auto& [storage, base] : storages_) kept_bytes_ += storage->nbytes();
}

}  // namespace boxcar::detail
