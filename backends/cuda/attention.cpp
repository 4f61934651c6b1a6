#include <boxcar/backends/cuda/attention.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/native/attention.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <limits>

namespace boxcar::cuda {
namespace {

using Four = std::array<int64_t, 4>;

// Kernels read 16 bytes at a time.
constexpr int64_t kVectorBytes = 16;
constexpr int64_t kVector = kVectorBytes / 2;  // elements
constexpr int64_t kMostWidth = 256;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The bias that hides a key. Minus infinity makes NaN of rows that see nothing in some block of the keys. For float16
// this is the lowest number; for bfloat16 it is low enough that hidden scores vanish in the sum, unless the others are
// as low.
double lowestBias(ScalarType type) { return type == ScalarType::Half ? -65504.0 : -1e30; }

// Pads [values] with leading ones.
Four inFour(std::span<const int64_t> values) {
  Four four{1, 1, 1, 1};
  std::copy(values.begin(), values.end(), four.end() - static_cast<std::ptrdiff_t>(values.size()));
  return four;
}

Four contiguousStrides(const Four& sizes) {
  Four strides{1, 1, 1, 1};
  for (size_t i = 3; i-- > 0;) strides[i] = strides[i + 1] * sizes[i + 1];
  return strides;
}

// The strides of dimensions of size 1 mean nothing. They are set to those of a contiguous tensor, so that calls that
// differ only there share a plan.
AttentionOperand attentionOperand(const Tensor& tensor) {
  AttentionOperand operand{tensor.data_ptr(), inFour(tensor.sizes()), {}};
  operand.strides = contiguousStrides(operand.sizes);
  const size_t missing = 4 - tensor.sizes().size();
  for (size_t i = missing; i < 4; ++i) {
    if (operand.sizes[i] != 1) operand.strides[i] = tensor.strides()[i - missing];
  }
  return operand;
}

// Whether kernels can read [operand] in place.
bool liesWell(const AttentionOperand& operand) {
  if (operand.strides[3] != 1 || reinterpret_cast<uintptr_t>(operand.data) % kVectorBytes != 0) return false;
  return std::all_of(operand.strides.begin(), operand.strides.end() - 1,
                     [](int64_t stride) { return stride > 0 && stride % kVector == 0; });
}

// Returns the operand of [tensor], after replacing [tensor] with a copy if kernels cannot read it in place.
AttentionOperand readable(Tensor& tensor) {
  const AttentionOperand operand = attentionOperand(tensor);
  if (liesWell(operand)) return operand;
  tensor = native::contiguousCopy(tensor);
  return attentionOperand(tensor);
}

// Whether cuDNN is used for tensors of these sizes.
bool isTaken(const Four& query, const Four& key, const Four& value, bool enable_gqa) {
  for (const Four* sizes : {&query, &key, &value}) {
    for (const int64_t size : *sizes) {
      if (size == 0 || size > INT_MAX) return false;
    }
    if ((*sizes)[3] % kVector != 0 || (*sizes)[3] > kMostWidth || (*sizes)[0] != query[0]) return false;
  }
  if (key[1] != value[1] || query[1] % key[1] != 0) return false;
  return enable_gqa || query[1] == key[1];
}

// Whether a mask of [sizes] broadcasts to [scores], without [scores] having to broadcast to it.
bool broadcasts(std::span<const int64_t> sizes, const Four& scores, size_t rank) {
  if (sizes.size() > rank) return false;
  const Four four = inFour(sizes);
  for (size_t i = 0; i < 4; ++i) {
    if (four[i] != 1 && four[i] != scores[i]) return false;
  }
  return true;
}

// Returns a new copy of [mask] as a bias to add to scores of sizes [scores]. Its rows start at multiples of 16 bytes.
// Batches and heads may share one.
Tensor biasOf(const Tensor& mask, const Four& scores, ScalarType type) {
  Four sizes = inFour(mask.sizes());
  sizes[2] = scores[2];
  sizes[3] = scores[3];
  Four room = sizes;
  room[3] = (room[3] + kVector - 1) / kVector * kVector;
  const Tensor rows = Tensor::allocate(room, type, mask.device());
  if (room != sizes) {
    Tensor zeroed = rows;
    boxcar::zero_(zeroed);  // the padding between rows is read
  }
  Tensor bias = rows.view(sizes, contiguousStrides(room), 0);
  const bool is_bool = mask.scalar_type() == ScalarType::Bool;
  native::copyElements(bias, is_bool ? boxcar::to(boxcar::where(mask, 0.0, -kInfinity), type) : mask);
  return bias;
}

}  // namespace

std::vector<int64_t> planKey(const AttentionCall& call) {
  std::vector<int64_t> key{static_cast<int64_t>(call.type), call.is_causal, std::bit_cast<int32_t>(call.scale),
                           call.bias.data != nullptr};
  for (const AttentionOperand* operand : {&call.query, &call.key, &call.value, &call.bias, &call.out}) {
    key.insert(key.end(), operand->sizes.begin(), operand->sizes.end());
    key.insert(key.end(), operand->strides.begin(), operand->strides.end());
  }
  return key;
}

std::vector<int64_t> planKind(const AttentionCall& call) {
  std::vector<int64_t> kind{
      static_cast<int64_t>(call.type), call.is_causal,          std::bit_cast<int32_t>(call.scale),
      call.bias.data != nullptr,       call.bias.sizes[0] == 1, call.bias.sizes[1] == 1,
      call.query.sizes[2] == 1,        call.key.sizes[2] == 1};
  for (const AttentionOperand* operand : {&call.query, &call.key, &call.value, &call.out}) {
    const Four& strides = operand->strides;
    kind.insert(kind.end(), {operand->sizes[1], operand->sizes[3], strides[0] < strides[1], strides[1] < strides[2],
                             strides[0] < strides[2]});
  }
  return kind;
}

std::optional<PreparedAttention> prepareAttention(const Tensor& query, const Tensor& key, const Tensor& value,
                                                  const Tensor& mask, bool is_causal, double scale, bool enable_gqa) {
  const ScalarType type = query.scalar_type();
  const size_t rank = query.sizes().size();
  if (type != ScalarType::Half && type != ScalarType::BFloat16) return std::nullopt;
  if (!(scale > 0)) return std::nullopt;  // the kernel subtracts the largest unscaled score
  if (rank > 4 || key.sizes().size() != rank || value.sizes().size() != rank) return std::nullopt;
  const Four query_sizes = inFour(query.sizes());
  const Four key_sizes = inFour(key.sizes());
  if (!isTaken(query_sizes, key_sizes, inFour(value.sizes()), enable_gqa)) return std::nullopt;
  const Four scores{query_sizes[0], query_sizes[1], query_sizes[2], key_sizes[2]};
  if (mask.defined() && !broadcasts(mask.sizes(), scores, rank)) return std::nullopt;

  PreparedAttention prepared{
      {type, {}, {}, {}, {}, {}, is_causal, static_cast<float>(scale), recording()}, query, key, value, {}, {}, {}};
  prepared.call.query = readable(prepared.query);
  prepared.call.key = readable(prepared.key);
  prepared.call.value = readable(prepared.value);
  if (mask.defined()) {
    prepared.bias = biasOf(mask, scores, type);
    prepared.call.bias = attentionOperand(prepared.bias);
    std::copy_n(prepared.bias.strides().begin(), 4, prepared.call.bias.strides.begin());  // strides of padded rows
    const int64_t last[] = {-1};
    prepared.hidden = boxcar::eq(boxcar::amax(prepared.bias, last, /*keepdim=*/true), -kInfinity);
    boxcar::clamp_min_(prepared.bias, lowestBias(type));
  }
  DimVector sizes = toDimVector(query.sizes());
  sizes.back() = value.sizes().back();
  // In the layout of the query, which scaled_dot_product_attention promises where nothing is broadcast.
  const bool follows = rank == 4 && std::ranges::equal(sizes, query.sizes());
  prepared.out = follows ? meta::allocateStrided(sizes, meta::denseStrides(query), type, query.device())
                         : Tensor::allocate(sizes, type, query.device());
  prepared.call.out = attentionOperand(prepared.out);
  return prepared;
}

namespace {

Tensor attendAtOnce(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, bool is_causal,
                    double scale, bool enable_gqa) {
  std::optional<PreparedAttention> prepared = prepareAttention(query, key, value, mask, is_causal, scale, enable_gqa);
  if (!prepared || !module().attend(prepared->call)) return {};
  if (prepared->hidden.defined()) {
    const AttentionOperand& out = prepared->call.out;
    Tensor whole = prepared->out.view(out.sizes, out.strides, 0);
    boxcar::masked_fill_(whole, prepared->hidden, 0);
  }
  return prepared->out;
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::attendAtOnce, attendAtOnce)

}  // namespace boxcar::cuda
