#include <boxcar/backends/cpu/gemm.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/onednn/engine.h>
#include <boxcar/backends/cpu/onednn/packed_weights.h>
#include <boxcar/backends/cpu/onednn/panels.h>
#include <boxcar/backends/cpu/onednn/post_ops.h>
#include <boxcar/backends/cpu/thin_halves.h>
#include <boxcar/backends/cpu/vector_small_floats.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/file_memory.h>
#include <boxcar/backends/native/fused.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::cpu {
namespace {

using onednn::Addition;
using onednn::PackedWeight;
using onednn::PackedWeights;
using Description = dnnl::memory::desc;

constexpr int64_t kPackedForLinear = 2;
constexpr size_t kMostLinears = 256;

// A weight is packed for so many rows of input. For up to three rows, one that lies in the caches or in huge pages is
// read as it is nearly as fast; with thousands, the product copies the weight into a layout of its own, which then
// takes little of its time. backends/README.md, "Fused operators", has the measurements.
constexpr int64_t kLeastPackedRows = 4;
// Up to three rows take the copy that more rows have made, and make one of a weight in a file, whose pages are small,
// unless it stays in the caches.
constexpr size_t kCachedWeight = size_t{1} << 20;
constexpr int64_t kMostPackedRows = 4096;
// Products of bfloat16 read pairs of inputs, and gain from packed weights whatever the rows.
constexpr int64_t kLeastPackedRowsOfBFloat16 = 2;
// The product reads a weight whose outputs lie one after another, if they are so few, about as fast as a packed one. A
// small weight is packed all the same.
constexpr int64_t kMostAdjacentOutputs = 1024;
constexpr int64_t kSmallWeight = 1 << 16;
// Of a file, so much is packed at a time, then its pages are given back.
constexpr int64_t kPackedAtOnce = int64_t{16} << 20;

struct LinearShape {
  int64_t rows, inputs, outputs;
};

struct LinearPlan {
  dnnl::primitive forward;  // empty if oneDNN has no fast implementation
  Description src, weights, bias, dst, scratchpad;
  PackedWeight::Block packed;  // null if the primitive reads the call's weight
  onednn::Panels panels;       // of the packed weight, if boxcar's own product of few rows can read them
};

// Whether the rows or the columns of [weight] lie one after another.
bool isMatrix(const Tensor& weight) {
  const auto sizes = weight.sizes();
  const auto strides = weight.strides();
  return (strides[1] == 1 && strides[0] >= sizes[1]) || (strides[0] == 1 && strides[1] >= sizes[0]);
}

// Whether a product with so many rows is faster with a packed copy of [weight].
bool paysToPack(const Tensor& weight, int64_t rows) {
  if (!isMatrix(weight)) return true;
  if (weight.scalar_type() == ScalarType::BFloat16) return rows >= kLeastPackedRowsOfBFloat16;
  if (rows < kLeastPackedRows || rows >= kMostPackedRows) return false;
  if (rows <= kMostPanelRows) return true;
  const bool has_adjacent_outputs = weight.strides()[0] == 1 && weight.sizes()[0] > 1;
  return !has_adjacent_outputs || weight.sizes()[0] > kMostAdjacentOutputs || weight.numel() <= kSmallWeight;
}

LinearPlan prepareLinear(const LinearShape& shape, const FusedLinear& call, bool packs) {
  using Tag = dnnl::memory::format_tag;
  const auto type = onednn::dataTypeOf(call.input.scalar_type());
  LinearPlan plan;
  plan.src = {{shape.rows, shape.inputs}, type, Tag::ab};
  plan.dst = {{shape.rows, shape.outputs}, type, Tag::ab};
  plan.weights =
      packs ? Description({shape.outputs, shape.inputs}, type, Tag::any) : onednn::descriptionOf(call.weight);
  if (call.bias.defined()) plan.bias = {{shape.outputs}, type, Tag::x};
  try {
    const dnnl::inner_product_forward::desc description(dnnl::prop_kind::forward_inference, plan.src, plan.weights,
                                                        plan.bias, plan.dst);
    const dnnl::inner_product_forward::primitive_desc chosen(
        description,
        onednn::attributesOf(call.add.defined() ? Addition::kSum : Addition::kNone, plan.dst, call.activation),
        onednn::engine());
    const std::string_view implementation = chosen.impl_info_str();
    if (implementation.find("ref") != std::string_view::npos) return plan;
    plan.weights = chosen.weights_desc();
    if (packs && shape.rows <= kMostPanelRows && call.activation.kind == Activation::kNone) {
      plan.panels = onednn::panelsOf(plan.weights);
    }
    plan.scratchpad = chosen.scratchpad_desc();
    plan.forward = dnnl::inner_product_forward(chosen);
  } catch (const dnnl::error&) {
    plan.forward = {};
  }
  return plan;
}

const LinearPlan& preparedLinear(const onednn::PrimitiveKey& key, const LinearShape& shape, const FusedLinear& call,
                                 bool packs) {
  thread_local onednn::PrimitiveCache<LinearPlan> cache(kMostLinears);
  return cache.get(key, [&] { return prepareLinear(shape, call, packs); });
}

void reorder(const Tensor& weight, const Description& layout, void* elements) {
  const Tensor once = readOnce(weight);
  const Tensor matrix = isMatrix(once) ? once : toContiguous(once);
  dnnl::memory source = onednn::memoryOf(matrix, onednn::descriptionOf(matrix));
  dnnl::memory target(layout, onednn::engine(), elements);
  dnnl::reorder(source, target).execute(onednn::stream(), source, target);
  onednn::stream().wait();
}

// Returns [weight] in the layout, of panels that hold [width] outputs each, or of another kind if that is 0.
PackedWeight::Block packedWeight(const Tensor& weight, const Description& layout, int64_t width) {
  auto block = std::make_shared<onednn::Buffer>(layout.get_size());
  const int64_t outputs = weight.sizes()[0];
  const int64_t bytes_of_output = weight.sizes()[1] * static_cast<int64_t>(weight.itemsize());
  const bool has_rows = weight.strides()[1] == 1 && isMatrix(weight);
  if (width == 0 || !has_rows || bytes_of_output * outputs <= kPackedAtOnce || !native::liesInFile(weight)) {
    reorder(weight, layout, block->data());
    return block;
  }
  const int64_t some = std::max<int64_t>(1, kPackedAtOnce / (bytes_of_output * width)) * width;
  for (int64_t first = 0; first < outputs; first += some) {
    const int64_t sizes[] = {std::min(some, outputs - first), weight.sizes()[1]};
    const Tensor part = weight.view(sizes, weight.strides(), weight.storage_offset() + first * weight.strides()[0]);
    reorder(part, layout.submemory_desc({sizes[0], sizes[1]}, {first, 0}), block->data());
  }
  return block;
}

// Returns the plan with the weight in the layout that it wants. Of few rows, there is none if the weight can be read as
// it is.
std::shared_ptr<LinearPlan> packedPlan(const onednn::PrimitiveKey& key, const LinearShape& shape,
                                       const FusedLinear& call, bool are_few, PackedWeight& packed) {
  if (are_few && !packed.hasElements() && !native::liesInFile(call.weight)) return nullptr;
  auto plan = std::make_shared<LinearPlan>(preparedLinear(key, shape, call, /*packs=*/true));
  if (!plan->forward || (are_few && plan->panels.width == 0)) return nullptr;
  if (onednn::descriptionOf(call.weight) == plan->weights && isMatrix(call.weight)) return plan;
  const int64_t width = onednn::panelsOf(plan->weights).width;
  plan->packed = packed.elements(plan->weights, [&] { return packedWeight(call.weight, plan->weights, width); });
  return plan;
}

// Puts what is added into the result, unless it lies there.
void copyAdded(const Tensor& out, const FusedLinear& call) {
  if (call.add.defined() && call.add.data_ptr() != out.data_ptr()) copyElements(out, call.add);
}

void runLinear(const LinearPlan& plan, const Tensor& out, const FusedLinear& call) {
  if (plan.panels.width != 0 && plan.packed != nullptr) {
    return onednn::multiplyPanels(out, call, plan.panels, plan.packed->data());
  }
  copyAdded(out, call);
  const onednn::CallBuffer scratchpad(plan.scratchpad.get_size());
  onednn::Arguments arguments;
  arguments.add(DNNL_ARG_SRC, onednn::memoryOf(call.input, plan.src));
  arguments.add(DNNL_ARG_WEIGHTS, plan.packed == nullptr
                                      ? onednn::memoryOf(call.weight, plan.weights)
                                      : dnnl::memory(plan.weights, onednn::engine(), plan.packed->data()));
  if (call.bias.defined()) arguments.add(DNNL_ARG_BIAS, onednn::memoryOf(call.bias, plan.bias));
  arguments.add(DNNL_ARG_DST, onednn::memoryOf(out, plan.dst));
  if (scratchpad.data() != nullptr) {
    arguments.add(DNNL_ARG_SCRATCHPAD, dnnl::memory(plan.scratchpad, onednn::engine(), scratchpad.data()));
  }
  arguments.execute(plan.forward);
  onednn::stream().wait();
}

// Computes the product of a few rows of float32 without a primitive of oneDNN's: its passes before and after the
// product cost some microseconds, which is a tenth of the time for a weight in the caches.
void multiplyAndAdd(const Tensor& out, const LinearShape& shape, const FusedLinear& call) {
  auto* const results = out.mutable_data_ptr<float>();
  copyAdded(out, call);
  if (call.bias.defined()) {
    const auto* const bias = call.bias.const_data_ptr<float>();
    for (int64_t row = 0; row < shape.rows; ++row) {
      float* const to = results + row * shape.outputs;
      if (call.add.defined()) {
        for (int64_t i = 0; i < shape.outputs; ++i) to[i] += bias[i];
      } else {
        std::copy_n(bias, shape.outputs, to);
      }
    }
  }
  const bool adds = call.add.defined() || call.bias.defined();
  gemm<float>(shape.rows, shape.outputs, shape.inputs, 1, {call.input.const_data_ptr<float>(), shape.inputs, 1},
              matrixOf<const float>(call.weight).transposed(), adds ? 1.0f : 0.0f, {results, shape.outputs, 1});
}

// The same for a few rows of bfloat16, in float32 until the result is rounded.
bool multiplyThinAndAdd(const Tensor& out, const LinearShape& shape, const FusedLinear& call) {
  const int64_t weight_sizes[] = {shape.inputs, shape.outputs};
  const int64_t weight_strides[] = {call.weight.strides()[1], call.weight.strides()[0]};
  const Tensor weight = call.weight.view(weight_sizes, weight_strides, call.weight.storage_offset());
  if (!suitsThinHalves(shape.rows, weight)) return false;
  const SmallFloatRows& halves = smallFloatRows(ScalarType::BFloat16);
  const int64_t sizes[] = {shape.rows, shape.outputs};
  const auto count = static_cast<size_t>(out.numel());
  const auto outputs = static_cast<size_t>(shape.outputs);
  const Tensor sums = Tensor::allocate(sizes, ScalarType::Float);
  auto* const results = sums.mutable_data_ptr<float>();
  if (call.add.defined()) {
    halves.widen(call.add.data_ptr(), results, count);
  } else {
    std::fill_n(results, count, 0.0f);
  }
  if (call.bias.defined()) {
    std::vector<float> bias(outputs);
    halves.widen(call.bias.data_ptr(), bias.data(), outputs);
    for (size_t i = 0; i < count; ++i) results[i] += bias[i % outputs];
  }
  const int64_t input_sizes[] = {shape.rows, shape.inputs};
  const int64_t input_strides[] = {shape.inputs, 1};
  addThinHalves(sums, call.input.view(input_sizes, input_strides, call.input.storage_offset()), weight, 1.0f);
  halves.narrow(results, out.data_ptr(), count);
  return true;
}

enum class Reads : uint8_t { kAsItIs, kPacked, kPackedForFew };

onednn::PrimitiveKey linearKey(const LinearShape& shape, const FusedLinear& call, Reads reads, int threads) {
  return {static_cast<int64_t>(call.weight.scalar_type()),
          threads,
          static_cast<int64_t>(reads),
          shape.rows,
          shape.inputs,
          shape.outputs,
          call.bias.defined(),
          call.add.defined(),
          static_cast<int64_t>(call.activation.kind),
          std::bit_cast<int64_t>(call.activation.parameters[0]),
          std::bit_cast<int64_t>(call.activation.parameters[1])};
}

double workOf(const LinearShape& shape) {
  return static_cast<double>(shape.rows) * static_cast<double>(shape.outputs) * static_cast<double>(shape.inputs);
}

bool runPacked(const Tensor& out, const LinearShape& shape, const FusedLinear& call, bool are_few) {
  const onednn::Threads threads(workOf(shape));
  const onednn::PrimitiveKey key =
      linearKey(shape, call, are_few ? Reads::kPackedForFew : Reads::kPacked, threads.count());
  const PackedWeight::Plan kept =
      PackedWeights::of(call.weight)
          ->get(call.weight, PackedWeights::keyOf(kPackedForLinear, call.weight, {}), {}, key,
                [&](PackedWeight& packed) { return packedPlan(key, shape, call, are_few, packed); });
  if (kept == nullptr) return false;
  runLinear(*static_cast<const LinearPlan*>(kept.get()), out, call);
  return true;
}

bool runAsItIs(const Tensor& out, const LinearShape& shape, const FusedLinear& call) {
  const onednn::Threads threads(workOf(shape));
  onednn::PrimitiveKey key = linearKey(shape, call, Reads::kAsItIs, threads.count());
  key.insert(key.end(), call.weight.strides().begin(), call.weight.strides().end());
  const LinearPlan& plan = preparedLinear(key, shape, call, /*packs=*/false);
  if (!plan.forward) return false;
  runLinear(plan, out, call);
  return true;
}

bool multiplyFusedByLibrary(const Tensor& out, const FusedLinear& call) {
  const ScalarType type = out.scalar_type();
  const LinearShape shape{out.numel() / call.weight.sizes()[0], call.weight.sizes()[1], call.weight.sizes()[0]};
  if (call.bias.defined() && !call.bias.is_contiguous()) return false;
  const bool has_library = type == ScalarType::Float || (type == ScalarType::BFloat16 && onednn::multipliesBFloat16());
  const bool are_few = shape.rows < kLeastPackedRows && call.activation.kind == Activation::kNone;
  if (are_few && has_library && call.weight.nbytes() > kCachedWeight && isMatrix(call.weight) &&
      runPacked(out, shape, call, /*are_few=*/true)) {
    return true;
  }
  if (type == ScalarType::BFloat16 && call.activation.kind == Activation::kNone &&
      multiplyThinAndAdd(out, shape, call)) {
    return true;
  }
  if (!has_library) return false;
  if (paysToPack(call.weight, shape.rows)) return runPacked(out, shape, call, /*are_few=*/false);
  if (are_few && type == ScalarType::Float) {
    multiplyAndAdd(out, shape, call);
    return true;
  }
  return runAsItIs(out, shape, call);
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, multiplyFused, cpu::multiplyFusedByLibrary)

}  // namespace boxcar::native
