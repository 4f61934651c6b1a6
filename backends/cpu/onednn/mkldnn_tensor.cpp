#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/onednn/buffer.h>
#include <boxcar/backends/cpu/onednn/mkldnn_tensor.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/ivalue/tensor_metadata.h>

#include <fmt/format.h>
#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <utility>

namespace boxcar::cpu::onednn {
namespace {

using Description = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

// A network of some hundred layers of different sizes.
constexpr size_t kMostPrimitives = 1024;

struct MkldnnLayout final : TensorMetadata {
  explicit MkldnnLayout(const Description& kept) : TensorMetadata(Kind::kOpaque), layout(kept) {}
  IntrusivePtr<TensorMetadata> copy() const override { return makeIntrusive<MkldnnLayout>(layout); }

  Description layout;
};

// A storage over the elements that says it has no bytes, so that nothing takes them for strided elements: there can be
// no views. What reads them all the same, because a program excluded the key or called a kernel of the CPU's, stays in
// this memory: it is at least as large as that of a strided tensor.
Storage storageOverElements(size_t bytes) {
  Storage elements = StorageImpl::allocate(bytes, Device(DeviceType::CPU));
  void* const data = elements->data();
  return StorageImpl::wrap(
      data, 0, Device(DeviceType::CPU),
      [](void*, void* context) { Storage::adopt(static_cast<StorageImpl*>(context)); }, elements.releasePointer());
}

}  // namespace

Tensor makeMkldnn(const Description& layout, std::span<const int64_t> sizes, ScalarType dtype) {
  const int64_t numel = numelOf(sizes);
  const size_t bytes = std::max(layout.get_size(), static_cast<size_t>(numel) * elementSize(dtype));
  auto impl = makeIntrusive<TensorImpl>(storageOverElements(bytes), dtype, sizes, numel);
  impl->set_key_set(DispatchKeySet({DispatchKey::MkldnnCPU, DispatchKey::ADInplaceOrView}));
  impl->set_metadata(makeIntrusive<MkldnnLayout>(layout));
  return Tensor(std::move(impl));
}

Tensor makeMkldnn(const Description& layout, ScalarType dtype) {
  const Dims sizes = layout.dims();
  return makeMkldnn(layout, sizes, dtype);
}

const Description& layoutOf(const Tensor& tensor) {
  const auto* const found =
      static_cast<const MkldnnLayout*>(tensor.unsafeGetTensorImpl()->metadata(TensorMetadata::Kind::kOpaque));
  BOXCAR_CHECK(found != nullptr,
               "a tensor of layout torch._mkldnn and sizes [{}] was not made by an operator of this layout; take views "
               "of x.to_dense()",
               fmt::join(tensor.sizes(), ", "));
  return found->layout;
}

dnnl::memory elementsOf(const Tensor& tensor) { return {layoutOf(tensor), engine(), tensor.data_ptr()}; }

bool isHeldByMkldnn(ScalarType dtype) {
  return dtype == ScalarType::Float || dtype == ScalarType::BFloat16 || dtype == ScalarType::Char ||
         dtype == ScalarType::Byte;
}

Description plainLayout(std::span<const int64_t> sizes, ScalarType dtype) {
  Dims strides(sizes.size());
  contiguousStrides(sizes, strides);
  return {Dims(sizes.begin(), sizes.end()), dataTypeOf(dtype), strides};
}

Description anyLayoutOf(const Tensor& tensor) {
  return tensor.is_mkldnn() ? layoutOf(tensor) : plainLayout(tensor.sizes(), tensor.scalar_type());
}

dnnl::memory anyElementsOf(const Tensor& tensor) {
  return tensor.is_mkldnn() ? elementsOf(tensor) : memoryOf(tensor, anyLayoutOf(tensor));
}

void reorderElements(const dnnl::memory& from, const dnnl::memory& to) {
  const Description source = from.get_desc();
  const Description target = to.get_desc();
  const Threads threads(16 * static_cast<double>(target.get_size()) / 4);
  MkldnnKey key(MkldnnPrimitive::kReorder, threads);
  key.add(source).add(target);
  const PreparedPrimitive& reorder = prepared("reorder", ScalarType::Float, key, [&] {
    const dnnl::reorder::primitive_desc chosen(engine(), source, engine(), target, scratchpadByCaller());
    PreparedPrimitive made;
    made.primitive = dnnl::reorder(chosen);
    made.scratchpad = chosen.scratchpad_desc();
    return made;
  });
  run(reorder, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

dnnl::memory elementsIn(const Description& layout, const Tensor& tensor) {
  dnnl::memory from = anyElementsOf(tensor);
  const Description own = from.get_desc();
  if (own == layout) return from;
  dnnl::memory to(layout, engine());
  if (own.dims() == layout.dims()) {
    reorderElements(from, to);
    return to;
  }
  // Kernels of groups: the same elements with one more dimension.
  const Tensor dense = toStrided(tensor, tensor.scalar_type());
  const Dims dims = layout.dims();
  reorderElements(memoryOf(dense, plainLayout(dims, tensor.scalar_type())), to);
  return to;
}

Tensor toStrided(const Tensor& tensor, ScalarType dtype) {
  if (!tensor.is_mkldnn()) return toContiguous(tensor, dtype);
  const ScalarType held = isHeldByMkldnn(dtype) ? dtype : tensor.scalar_type();
  const Tensor dense = Tensor::allocate(tensor.sizes(), held);
  const Dims dims = layoutOf(tensor).dims();
  reorderElements(elementsOf(tensor), memoryOf(dense, plainLayout(dims, held)));
  return dtype == held ? dense : convertTo(dense, dtype);
}

Tensor withOwnSizes(const Tensor& tensor) {
  const Dims dims = layoutOf(tensor).dims();
  if (std::ranges::equal(dims, tensor.sizes())) return tensor;
  const Tensor plain = makeMkldnn(plainLayout(tensor.sizes(), tensor.scalar_type()), tensor.scalar_type());
  const dnnl::memory to(plainLayout(dims, tensor.scalar_type()), engine(), elementsOf(plain).get_data_handle());
  reorderElements(elementsOf(tensor), to);
  return plain;
}

void checkFloats(std::string_view op, const Tensor& tensor) {
  const ScalarType type = tensor.scalar_type();
  BOXCAR_CHECK(type == ScalarType::Float || type == ScalarType::BFloat16,
               "{}: tensors of layout torch._mkldnn must have float32 or bfloat16 elements, not {}; call it with "
               "x.to_dense()",
               op, dtypeName(type));
}

void checkMkldnn(std::string_view op, std::string_view name, const Tensor& tensor) {
  BOXCAR_CHECK(tensor.defined(), "{}: argument '{}' is an undefined tensor", op, name);
  BOXCAR_CHECK(tensor.is_mkldnn(),
               "{}: argument '{}' must be of layout torch._mkldnn like the others, but it is strided; pass "
               "{}.to_mkldnn(), or call {} with strided tensors only",
               op, name, name, op);
}

MkldnnKey& MkldnnKey::add(const Description& layout) {
  const dnnl_memory_desc_t& data = layout.data;
  const auto rank = static_cast<size_t>(data.ndims);
  add({data.ndims, data.data_type, data.format_kind, static_cast<int64_t>(data.extra.flags)});
  key_.insert(key_.end(), data.dims, data.dims + rank);
  if (data.format_kind != dnnl_blocked) return *this;
  const dnnl_blocking_desc_t& blocks = data.format_desc.blocking;
  key_.insert(key_.end(), data.padded_dims, data.padded_dims + rank);
  key_.insert(key_.end(), blocks.strides, blocks.strides + rank);
  key_.push_back(blocks.inner_nblks);
  key_.insert(key_.end(), blocks.inner_blks, blocks.inner_blks + blocks.inner_nblks);
  key_.insert(key_.end(), blocks.inner_idxs, blocks.inner_idxs + blocks.inner_nblks);
  return *this;
}

PrimitiveCache<PreparedPrimitive>& preparedPrimitives() {
  thread_local PrimitiveCache<PreparedPrimitive> cache(kMostPrimitives);
  return cache;
}

dnnl::primitive_attr scratchpadByCaller() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void run(const PreparedPrimitive& prepared, std::span<const PrimitiveArgument> arguments) {
  const CallBuffer buffer(prepared.scratchpad.get_size());
  dnnl::memory scratchpad;
  boost::container::small_vector<dnnl_exec_arg_t, 8> given;
  for (const PrimitiveArgument& argument : arguments) given.push_back({argument.kind, argument.memory.get()});
  if (buffer.data() != nullptr) {
    scratchpad = dnnl::memory(prepared.scratchpad, engine(), buffer.data());
    given.push_back({DNNL_ARG_SCRATCHPAD, scratchpad.get()});
  }
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(prepared.primitive.get(), stream().get(), static_cast<int>(given.size()), given.data()),
      "could not execute a primitive");
  stream().wait();
}

}  // namespace boxcar::cpu::onednn
