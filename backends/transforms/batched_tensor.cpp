#include <boxcar/backends/transforms/batched_tensor.h>
#include <boxcar/backends/transforms/vmap_level.h>
#include <boxcar/ivalue/cached_memory.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <boxcar/ivalue/tensor_metadata.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace boxcar::transforms {
namespace {

class BatchedMeta final : public TensorMetadata {
 public:
  BatchedMeta(Tensor within, uint64_t of_level)
      : TensorMetadata(Kind::kTransform), inner(std::move(within)), level(of_level) {}

  // Each call of an operator makes one.
  static void* operator new(size_t bytes) { return allocateCached(bytes); }
  static void operator delete(void* memory, size_t bytes) noexcept { freeCached(memory, bytes); }

  Tensor inner;
  uint64_t level;
};

BatchedMeta& metaOf(const Tensor& tensor) {
  TensorMetadata* const meta = tensor.unsafeGetTensorImpl()->metadata(TensorMetadata::Kind::kTransform);
  // The class is final. dynamic_cast would take several times as long, in each call.
  BOXCAR_CHECK(meta != nullptr && typeid(*meta) == typeid(BatchedMeta),
               "a kernel made a view of a tensor inside func::vmap() by itself; it must call an operator for that");
  return static_cast<BatchedMeta&>(*meta);
}

// The memory of the batched tensor around [inner], and where it begins there.
std::pair<Storage, int64_t> memoryOf(const Tensor& inner) {
  if (inner.size(0) > 0) return {inner.storage(), inner.storage_offset()};
  // Without slices there is none for one: it only says that it is large enough.
  size_t bytes = inner.itemsize();
  for (int64_t i = 1; i < inner.dim(); ++i) {
    bytes += static_cast<size_t>(std::max<int64_t>(inner.size(i) - 1, 0) * inner.stride(i)) * inner.itemsize();
  }
  return {storageWithoutMemory(bytes, inner.device()), 0};
}

}  // namespace

DispatchKeySet batchedKeys(DispatchKeySet inner) {
  // What asks whether memory holds the elements reads the keys.
  constexpr DispatchKeySet kKept = math_bits_ks.add(DispatchKeySet({DispatchKey::ZeroTensor, DispatchKey::Fake}));
  return (inner & (DispatchKeySet(DispatchKey::Dense) | backend_bitset_mask | kKept)) |
         DispatchKeySet(DispatchKey::FuncTorchBatched);
}

// As functorch writes it; levels are counted from the outermost call.
std::string batchedText(const Tensor& tensor) {
  if (!isBatched(tensor)) return {};
  const std::span<const VmapLevelInfo> levels = vmapLevels();
  const auto level = std::ranges::find(levels, levelOf(tensor), &VmapLevelInfo::level);
  std::string text = fmt::format("BatchedTensor(lvl={}, bdim=0, value=\n    ", level - levels.begin() + 1);
  for (const char each : toString(innerOf(tensor))) {
    text += each;
    if (each == '\n') text += "    ";
  }
  return text + "\n)";
}

uint64_t levelOf(const Tensor& tensor) { return isBatched(tensor) ? metaOf(tensor).level : 0; }

const Tensor& innerOf(const Tensor& tensor) { return metaOf(tensor).inner; }

Tensor makeBatched(const Tensor& inner, uint64_t level) {
  BOXCAR_CHECK(inner.layout() == Layout::Strided,
               "func::vmap: a tensor of layout torch.{} cannot be batched; give it x.to_dense()",
               layoutName(inner.layout()));
  auto [storage, offset] = memoryOf(inner);
  auto impl = makeIntrusive<TensorImpl>(std::move(storage), inner.scalar_type(), inner.sizes().subspan(1),
                                        inner.strides().subspan(1), offset);
  impl->set_metadata(makeIntrusive<BatchedMeta>(inner, level));
  if (inner.requires_grad()) impl->set_requires_grad(true);
  impl->set_key_set(batchedKeys(inner.key_set()));
  return Tensor(std::move(impl));
}

void refreshBatched(const Tensor& tensor) {
  const Tensor& inner = innerOf(tensor);
  TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  auto [storage, offset] = memoryOf(inner);
  impl.setStorage(std::move(storage), inner.sizes().subspan(1), inner.strides().subspan(1), offset);
  if (impl.requires_grad() != inner.requires_grad()) {
    impl.set_requires_grad(inner.requires_grad());
    impl.set_key_set(batchedKeys(inner.key_set()));
  }
}

void replaceInner(const Tensor& tensor, const Tensor& inner) {
  metaOf(tensor).inner = inner;
  refreshBatched(tensor);
}

Tensor withoutLevel(const Tensor& tensor, uint64_t level) {
  const uint64_t own = levelOf(tensor);
  if (own < level) return {};
  const Tensor& inner = innerOf(tensor);
  if (own == level) return inner;
  const Tensor within = withoutLevel(inner, level);
  return within.defined() ? makeBatched(boxcar::movedim(within, 1, 0), own) : Tensor();
}

Tensor withLevel(const Tensor& tensor, uint64_t level) {
  const uint64_t own = levelOf(tensor);
  if (own <= level) return makeBatched(tensor, level);
  return makeBatched(withLevel(boxcar::movedim(innerOf(tensor), 1, 0), level), own);
}

Tensor expandedBy(const Tensor& tensor, int64_t batch) {
  std::vector<int64_t> sizes{batch};
  sizes.insert(sizes.end(), tensor.sizes().begin(), tensor.sizes().end());
  return boxcar::expand(tensor, sizes);
}

}  // namespace boxcar::transforms
