#include <boxcar/dispatcher/handlers/profile/call_record.h>
#include <boxcar/ivalue/scalar_type.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

namespace boxcar::detail {

void CallRecord::noteTensor(const Tensor& tensor, uint32_t& sizes_used) noexcept {
  if (tensors == kMostTensors) {
    has_more_tensors = true;
    return;
  }
  uint32_t written = 0;
  for (const int64_t size : tensor.sizes()) {
    if (sizes_used == kMostSizes || size >> 32 != 0) break;
    sizes[sizes_used++] = static_cast<uint32_t>(size);
    ++written;
  }
  dtypes[tensors] = tensor.scalar_type();
  ranks[tensors++] = static_cast<uint8_t>(written == tensor.sizes().size() ? written : written | kCutRank);
}

void CallRecord::noteAllArguments(const OperatorEntry& op, const Stack& stack) noexcept {
  tensors = 0;
  uint32_t sizes_used = 0;
  for (const IValue& value : last(stack, op.argumentBytes() / sizeof(IValue))) {
    if (value.isTensor()) {
      noteTensor(value.unsafeGet<IValue::Tag::Tensor>(), sizes_used);
    } else if (value.isTensorList()) {
      for (const Tensor& tensor : value.unsafeGet<IValue::Tag::TensorList>()->values) noteTensor(tensor, sizes_used);
    } else if (value.isGenericList()) {
      for (const IValue& element : value.unsafeGet<IValue::Tag::GenericList>()->values) {
        if (element.isTensor()) noteTensor(element.unsafeGet<IValue::Tag::Tensor>(), sizes_used);
      }
    }
  }
}

std::string CallRecord::shapeText(size_t tensor) const {
  size_t first = 0;
  for (size_t i = 0; i < tensor; ++i) first += ranks[i] & ~kCutRank;
  const size_t rank = ranks[tensor] & ~kCutRank;
  const char* const rest = (ranks[tensor] & kCutRank) == 0 ? "" : rank == 0 ? "…" : ", …";
  return fmt::format("[{}{}]", fmt::join(sizes.begin() + first, sizes.begin() + first + rank, ", "), rest);
}

std::string CallRecord::shapesText() const {
  std::vector<std::string> shapes;
  for (size_t i = 0; i < tensors; ++i) shapes.push_back(shapeText(i));
  if (has_more_tensors) shapes.emplace_back("…");
  return fmt::format("{}", fmt::join(shapes, ", "));
}

std::string CallRecord::dtypesText() const {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < tensors; ++i) names.push_back(dtypeName(dtypes[i]));
  if (has_more_tensors) names.emplace_back("…");
  return fmt::format("{}", fmt::join(names, ", "));
}

DispatchKey CallRecord::kernelKey() const {
  DispatchKeySet below = keys.remove(DispatchKey::PreDispatch).remove(DispatchKey::Python);
  // If the operator has no kernel of its own at Tracer, a tracer answers there, which only observes, as modes do.
  const OperatorEntry* const entry = key.entry();
  if (!entry->hasKernelForDispatchKey(DispatchKey::Tracer)) below = below.remove(DispatchKey::Tracer);
  return entry->lookupBelowFallthroughs(below).second.highestPriorityTypeId();
}

}  // namespace boxcar::detail
