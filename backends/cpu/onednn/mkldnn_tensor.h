#pragma once

#include <boxcar/backends/cpu/onednn/engine.h>
#include <boxcar/backends/cpu/onednn/primitive_cache.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor.h>

#include <oneapi/dnnl/dnnl.hpp>

#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

// Tensors of layout torch._mkldnn: their elements are in a buffer whose layout oneDNN chose.

namespace boxcar::cpu::onednn {

// Returns such a tensor with uninitialised elements. [layout] may have other dimensions than [sizes], if there are as
// many elements: packed kernels of several groups have one more.
Tensor makeMkldnn(const dnnl::memory::desc& layout, std::span<const int64_t> sizes, ScalarType dtype);
// The same with the dimensions of [layout].
Tensor makeMkldnn(const dnnl::memory::desc& layout, ScalarType dtype);

// Returns the layout of such a tensor, or its memory.
const dnnl::memory::desc& layoutOf(const Tensor& tensor);
dnnl::memory elementsOf(const Tensor& tensor);

// Whether oneDNN's reorders take elements of this type.
bool isHeldByMkldnn(ScalarType dtype);

// Returns the layout of a contiguous tensor.
dnnl::memory::desc plainLayout(std::span<const int64_t> sizes, ScalarType dtype);

// Returns the layout and the memory of a tensor of either layout. A strided one must be contiguous.
dnnl::memory::desc anyLayoutOf(const Tensor& tensor);
dnnl::memory anyElementsOf(const Tensor& tensor);

// Returns the elements of a tensor of either layout as oneDNN wants them in [layout]: without a copy if they are so.
dnnl::memory elementsIn(const dnnl::memory::desc& layout, const Tensor& tensor);
// Returns a tensor of either layout as a contiguous strided one, converted to [dtype].
Tensor toStrided(const Tensor& tensor, ScalarType dtype);
// Returns [tensor] with a layout that has the tensor's own dimensions.
Tensor withOwnSizes(const Tensor& tensor);

// Copies and converts elements between layouts of the same dimensions.
void reorderElements(const dnnl::memory& from, const dnnl::memory& to);

// Throws Error unless [tensor], argument [name] of [op], is of layout torch._mkldnn.
void checkMkldnn(std::string_view op, std::string_view name, const Tensor& tensor);

// Throws Error unless [tensor], of layout torch._mkldnn, has elements that [op] computes: float32 or bfloat16.
void checkFloats(std::string_view op, const Tensor& tensor);

// Returns sizes as oneDNN takes them.
inline dnnl::memory::dims dimsOf(std::span<const int64_t> sizes) { return {sizes.begin(), sizes.end()}; }

// Which primitive a key belongs to.
enum class MkldnnPrimitive : int64_t {
  kReorder,
  kConvolution,
  kLinear,
  kPool,
  kEltwise,
  kBinary,
  kSum,
  kSoftmax,
  kNorm,
  kCat
};

// A primitive that was made for layouts, which it may have chosen.
struct PreparedPrimitive {
  dnnl::primitive primitive;
  dnnl::memory::desc src, weights, bias, dst, scratchpad;
};

// A primitive's key: what it is, its threads, layouts, and other numbers.
class MkldnnKey final {
 public:
  MkldnnKey(MkldnnPrimitive kind, const Threads& threads)
      : key_{static_cast<int64_t>(kind), static_cast<int64_t>(threads.count())} {}
  MkldnnKey& add(const dnnl::memory::desc& layout);
  MkldnnKey& add(std::initializer_list<int64_t> numbers) {
    key_.insert(key_.end(), numbers.begin(), numbers.end());
    return *this;
  }
  MkldnnKey& add(std::span<const int64_t> numbers) {
    key_.push_back(static_cast<int64_t>(numbers.size()));
    key_.insert(key_.end(), numbers.begin(), numbers.end());
    return *this;
  }
  const PrimitiveKey& get() const { return key_; }

 private:
  PrimitiveKey key_;
};

PrimitiveCache<PreparedPrimitive>& preparedPrimitives();

// Returns the thread's primitive for [key], which [make] makes first; it stays for many further calls. Throws an Error
// that names [op] if oneDNN has no such primitive.
template <class Make>
const PreparedPrimitive& prepared(std::string_view op, ScalarType dtype, const MkldnnKey& key, Make&& make) {
  try {
    return preparedPrimitives().get(key.get(), std::forward<Make>(make));
  } catch (const dnnl::error& error) {
    BOXCAR_FAIL(
        "{}: oneDNN cannot compute this on this processor with tensors of layout torch._mkldnn and dtype {} ({}); call "
        "it with x.to_dense()",
        op, dtypeName(dtype), error.message);
  }
}

// Attributes of primitives whose caller provides the scratchpad, as run() does.
dnnl::primitive_attr scratchpadByCaller();

// Runs a prepared primitive to its end.
struct PrimitiveArgument {
  int kind;  // DNNL_ARG_SRC
  const dnnl::memory& memory;
};
void run(const PreparedPrimitive& prepared, std::span<const PrimitiveArgument> arguments);
inline void run(const PreparedPrimitive& prepared, std::initializer_list<PrimitiveArgument> arguments) {
  run(prepared, std::span(arguments.begin(), arguments.size()));
}

// The threads for a pass over [tensor].
inline Threads threadsFor(const Tensor& tensor) { return Threads(16 * static_cast<double>(tensor.numel())); }

}  // namespace boxcar::cpu::onednn
