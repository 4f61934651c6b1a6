#include <boxcar/backends/composite/bags.h>
#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/composite/has_derivative.h>
#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>

// Sums, means and maxima of segments: of the embeddings in a bag, or of lengths given.

namespace boxcar::composite {
namespace {

using OptionalTensor = std::optional<Tensor>;
using BagResults = std::tuple<Tensor, Tensor, Tensor, Tensor>;

bool isIndexType(const Tensor& tensor) {
  return tensor.scalar_type() == ScalarType::Long || tensor.scalar_type() == ScalarType::Int;
}

void checkBag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, int64_t mode,
              const Tensor& per_sample_weights, bool include_last_offset) {
  constexpr std::string_view kName = "embedding_bag";
  BOXCAR_CHECK(weight.dim() == 2 && weight.is_floating_point(),
               "{}: expected a weight of floats of 2 dimensions, but got {} of size {}", kName,
               dtypeName(weight.scalar_type()), meta::listOf(weight.sizes()));
  BOXCAR_CHECK(indices.dim() == 1 && offsets.dim() == 1 && isIndexType(indices) && isIndexType(offsets),
               "{}: expected indices and offsets of one dimension and int64 or int32, but got {} of size {} and {} of "
               "size {}",
               kName, dtypeName(indices.scalar_type()), meta::listOf(indices.sizes()), dtypeName(offsets.scalar_type()),
               meta::listOf(offsets.sizes()));
  BOXCAR_CHECK(mode >= 0 && mode <= 2, "{}: mode must be 0 (sum), 1 (mean) or 2 (max), but it is {}", kName, mode);
  BOXCAR_CHECK(!include_last_offset || offsets.numel() >= 1, "{}: include_last_offset needs an offset at least", kName);
  if (per_sample_weights.defined()) {
    BOXCAR_CHECK(mode == 0, "{}: per_sample_weights are only for mode 0 (sum), but mode is {}", kName, mode);
    BOXCAR_CHECK(per_sample_weights.dim() == 1 && per_sample_weights.numel() == indices.numel() &&
                     per_sample_weights.scalar_type() == weight.scalar_type(),
                 "{}: expected a weight of dtype {} for each of {} indices, but got {} of size {}", kName,
                 dtypeName(weight.scalar_type()), indices.numel(), dtypeName(per_sample_weights.scalar_type()),
                 meta::listOf(per_sample_weights.sizes()));
  }
  if (lacksElements(weight) || offsets.numel() == 0) return;
  const int64_t first = boxcar::item(boxcar::select(offsets, 0, 0)).toLong();
  const int64_t last = boxcar::item(boxcar::select(offsets, 0, -1)).toLong();
  BOXCAR_CHECK(first == 0 && last <= indices.numel(),
               "{}: offsets must start with 0 and not exceed the {} indices, but they are from {} to {}", kName,
               indices.numel(), first, last);
}

// The maxima of bags, and the indices that gave them; 0 for empty bags.
std::tuple<Tensor, Tensor> maximaOf(const Tensor& rows, const Tensor& counts, const Tensor& bags,
                                    const Tensor& bag_sizes, const Tensor& indices) {
  const int64_t bag_count = bag_sizes.numel();
  const int64_t width = rows.size(1);
  const int64_t count = rows.size(0);
  const Device device = rows.device();
  const DimVector sizes = dimVector(bag_count, width);
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  const Tensor counted = boxcar::unsqueeze(counts, 1);
  const Tensor to = boxcar::expand(boxcar::unsqueeze(bags, 1), rows.sizes());
  const Tensor greatest = boxcar::scatter_reduce(boxcar::full(sizes, kLeast, rows.scalar_type(), std::nullopt, device),
                                                 0, to, boxcar::where(counted, rows, kLeast), "amax");
  // The first index of each maximum.
  const Tensor is_greatest = boxcar::logical_and(boxcar::eq(rows, boxcar::gather(greatest, 0, to)), counted);
  const Tensor numbers = boxcar::unsqueeze(boxcar::arange(count, ScalarType::Long, std::nullopt, device), 1);
  const Tensor first = boxcar::scatter_reduce(boxcar::full(sizes, count, ScalarType::Long, std::nullopt, device), 0, to,
                                              boxcar::where(is_greatest, numbers, count), "amin");
  const Tensor with_none = boxcar::constant_pad_nd(indices, dimVector(int64_t{0}, int64_t{1}), 0);
  const Tensor flat = boxcar::reshape(first, dimVector(bag_count * width));
  const Tensor chosen = boxcar::reshape(boxcar::index_select(with_none, 0, flat), sizes);
  return {boxcar::masked_fill(greatest, boxcar::unsqueeze(boxcar::eq(bag_sizes, 0), 1), 0), chosen};
}

BagResults embeddingBag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                        [[maybe_unused]] bool scale_grad_by_freq, int64_t mode, [[maybe_unused]] bool sparse,
                        const OptionalTensor& per_sample_weights, bool include_last_offset, int64_t padding_idx) {
  const Tensor scale = per_sample_weights.value_or(Tensor());
  checkBag(weight, indices, offsets, mode, scale, include_last_offset);
  const auto kind = static_cast<BagMode>(mode);
  const Device device = weight.device();
  const ScalarType index_type =
      indices.scalar_type() == offsets.scalar_type() ? indices.scalar_type() : ScalarType::Long;
  const int64_t bags = offsets.numel() - (include_last_offset ? 1 : 0);
  const Tensor in_bag = bagsOf(offsets, indices.numel(), bags);
  const Tensor rows = widened(boxcar::index_select(weight, 0, indices));
  const Tensor counts = boxcar::ne(indices, padding_idx);
  const Tensor none = boxcar::zeros(dimVector(bags), ScalarType::Long, std::nullopt, device);
  const Tensor bag_sizes = boxcar::index_add(none, 0, in_bag, boxcar::to(counts, ScalarType::Long));
  if (kind == BagMode::kMax) {
    const auto [greatest, chosen] = maximaOf(rows, counts, in_bag, bag_sizes, indices);
    return {converted(greatest, weight.scalar_type()), converted(in_bag, index_type), converted(bag_sizes, index_type),
            converted(chosen, index_type)};
  }
  Tensor parts = scale.defined() ? boxcar::mul(rows, boxcar::unsqueeze(widened(scale), 1)) : rows;
  if (padding_idx >= 0) parts = boxcar::where(boxcar::unsqueeze(counts, 1), parts, 0);
  Tensor sums = boxcar::index_add(
      boxcar::zeros(dimVector(bags, weight.size(1)), rows.scalar_type(), std::nullopt, device), 0, in_bag, parts);
  if (kind == BagMode::kMean) sums = boxcar::div(sums, boxcar::unsqueeze(boxcar::clamp_min(bag_sizes, 1), 1));
  // Like PyTorch, a sum does not report sizes, and not the bags either unless it needs them.
  const bool is_sum = kind == BagMode::kSum;
  const bool lacks_bags = is_sum && padding_idx < 0 && weight.scalar_type() != ScalarType::Double;
  const Tensor sizes = converted(is_sum ? none : bag_sizes, index_type);
  return {converted(sums, weight.scalar_type()),
          converted(lacks_bags ? boxcar::narrow_copy(in_bag, 0, 0, 0) : in_bag, index_type), sizes,
          boxcar::clone(sizes)};
}

// Like PyTorch, a sum reports a size for each offset here.
BagResults embeddingBagForwardOnly(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                                   bool scale_grad_by_freq, int64_t mode, bool sparse,
                                   const OptionalTensor& per_sample_weights, bool include_last_offset,
                                   int64_t padding_idx) {
  BagResults results = embeddingBag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
                                    include_last_offset, padding_idx);
  auto& [sums, bags, sizes, chosen] = results;
  if (static_cast<BagMode>(mode) != BagMode::kSum || !include_last_offset) return results;
  sizes = boxcar::zeros(offsets.sizes(), sizes.scalar_type(), std::nullopt, sizes.device());
  chosen = boxcar::clone(sizes);
  return results;
}

// Like PyTorch, only derivatives need what _embedding_bag reports.
BagResults bagsFor(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq,
                   int64_t mode, bool sparse, const OptionalTensor& per_sample_weights, bool include_last_offset,
                   int64_t padding_idx) {
  const bool has_derivative =
      hasDerivative(weight) || (per_sample_weights.has_value() && hasDerivative(*per_sample_weights));
  const auto compute = has_derivative ? boxcar::_embedding_bag : boxcar::_embedding_bag_forward_only;
  return compute(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
                 padding_idx);
}

BagResults embeddingBagPadded(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                              bool scale_grad_by_freq, int64_t mode, bool sparse,
                              const OptionalTensor& per_sample_weights, bool include_last_offset,
                              std::optional<int64_t> padding_idx) {
  int64_t padding = -1;
  if (padding_idx.has_value()) {
    const int64_t count = weight.dim() > 0 ? weight.size(0) : 0;
    BOXCAR_CHECK(*padding_idx >= -count && *padding_idx < count,
                 "embedding_bag: padding_idx must be an index of the {} rows of weight, but it is {}", count,
                 *padding_idx);
    padding = *padding_idx < 0 ? *padding_idx + count : *padding_idx;
  }
  return bagsFor(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
                 padding);
}

BagResults embeddingBagPlain(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                             bool scale_grad_by_freq, int64_t mode, bool sparse,
                             const OptionalTensor& per_sample_weights, bool include_last_offset) {
  return bagsFor(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
                 -1);
}

// Indices may repeat: each time, the same row is written.
Tensor& embeddingRenorm(Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  BOXCAR_CHECK(
      self.dim() == 2 && isIndexType(indices),
      "embedding_renorm_: expected a tensor of 2 dimensions and indices of int64 or int32, but got size {} and "
      "{}",
      meta::listOf(self.sizes()), dtypeName(indices.scalar_type()));
  const Tensor flat = boxcar::to(boxcar::reshape(indices, dimVector(indices.numel())), ScalarType::Long);
  const Tensor rows = boxcar::index_select(self, 0, flat);
  const int64_t dims[] = {1};
  const Tensor norms = boxcar::linalg_vector_norm(rows, norm_type, dims, /*keepdim=*/true);
  const Tensor scales = boxcar::mul(boxcar::reciprocal(boxcar::add(norms, 1e-7)), max_norm);
  const Tensor scaled = boxcar::where(boxcar::gt(norms, max_norm), boxcar::mul(rows, scales), rows);
  return boxcar::index_copy_(self, 0, flat, scaled);
}

// == Segments along any dimension ==

struct SegmentKind {
  std::string_view name;
  const char* reduce;  // of scatter_reduce
  double initial;
};
constexpr SegmentKind kSegmentKinds[] = {
    {"sum", "sum", 0},
    {"mean", "sum", 0},
    {"max", "amax", -std::numeric_limits<double>::infinity()},
    {"min", "amin", std::numeric_limits<double>::infinity()},
    {"prod", "prod", 1},
};

const SegmentKind& kindOf(std::string_view op, std::string_view reduce) {
  const auto* kind = std::ranges::find(kSegmentKinds, reduce, &SegmentKind::name);
  BOXCAR_CHECK(kind != std::end(kSegmentKinds), "{}: reduce must be sum, mean, max, min or prod, but it is '{}'", op,
               reduce);
  return *kind;
}

// Data of [rows] lines of [count] elements, each of [inner] numbers, cut into segments.
struct Segments {
  size_t along;  // the dimension of the lines
  int64_t rows = 1;
  int64_t count;
  int64_t inner = 1;
  int64_t segments;
  Tensor counts;  // how many elements each segment has
  Tensor to;      // the segment of each number; those of elements outside are one more

  // [x] as a tensor of lines, in float32 if it is smaller.
  Tensor lines(const Tensor& x, int64_t length) const {
    return boxcar::reshape(widened(x), dimVector(rows, length, inner));
  }
};

Segments segmentsOf(std::string_view op, const Tensor& data, const OptionalTensor& lengths,
                    const OptionalTensor& offsets, int64_t axis, bool unsafe) {
  BOXCAR_CHECK(lengths.has_value() || offsets.has_value(), "{}: lengths or offsets must be given", op);
  BOXCAR_CHECK(data.dim() > 0 && data.is_floating_point(),
               "{}: expected data of floats and dimensions, but got {} of size {}", op, dtypeName(data.scalar_type()),
               meta::listOf(data.sizes()));
  Segments made{};
  made.along = static_cast<size_t>(wrapDimension(axis, data.dim()));
  const bool by_offsets = offsets.has_value();
  const Tensor given = by_offsets ? *offsets : *lengths;
  const auto sizes = data.sizes();
  BOXCAR_CHECK(given.dim() == static_cast<int64_t>(made.along) + 1 && isIndexType(given) &&
                   std::ranges::equal(given.sizes().first(made.along), sizes.first(made.along)) &&
                   (!by_offsets || given.sizes().back() > 0),
               "{}: expected lengths or offsets of int64 or int32 for the dimensions up to axis {} of data of size {}, "
               "but got {} of size {}",
               op, axis, meta::listOf(sizes), dtypeName(given.scalar_type()), meta::listOf(given.sizes()));
  made.rows = 1;
  made.inner = 1;
  for (const int64_t size : sizes.first(made.along)) made.rows *= size;
  for (const int64_t size : sizes.subspan(made.along + 1)) made.inner *= size;
  made.count = sizes[made.along];
  made.segments = given.sizes().back() - (by_offsets ? 1 : 0);

  const Tensor bounds =
      boxcar::reshape(boxcar::to(given, ScalarType::Long), dimVector(made.rows, given.sizes().back()));
  made.counts =
      by_offsets ? boxcar::sub(boxcar::narrow(bounds, 1, 1, made.segments), boxcar::narrow(bounds, 1, 0, made.segments))
                 : bounds;
  if (!by_offsets && !unsafe && !lacksElements(data)) {
    const int64_t dims[] = {1};
    const bool fits = boxcar::item(boxcar::all(boxcar::ge(made.counts, 0))).toBool() &&
                      boxcar::item(boxcar::all(boxcar::eq(boxcar::sum(made.counts, dims), made.count))).toBool();
    BOXCAR_CHECK(fits, "{}: lengths must not be negative, and must add up to the {} elements of dimension {}", op,
                 made.count, made.along);
  }
  // The segment of each element: the number of segments that end before it. Elements outside go to one more.
  const Tensor ends = by_offsets ? bounds : boxcar::cumsum(bounds, 1);
  const Tensor places = boxcar::contiguous(boxcar::expand(
      boxcar::arange(made.count, ScalarType::Long, std::nullopt, data.device()), dimVector(made.rows, made.count)));
  Tensor segment = boxcar::searchsorted(boxcar::contiguous(ends), places, /*out_int32=*/false, /*right=*/true);
  if (by_offsets) segment = boxcar::sub(boxcar::where(boxcar::eq(segment, 0), made.segments + 1, segment), 1);
  made.to = boxcar::expand(boxcar::unsqueeze(segment, 2), dimVector(made.rows, made.count, made.inner));
  return made;
}

Tensor segmentReduce(const Tensor& data, std::string_view reduce, const OptionalTensor& lengths,
                     const OptionalTensor& indices, const OptionalTensor& offsets, int64_t axis, bool unsafe,
                     const std::optional<Scalar>& initial) {
  constexpr std::string_view kName = "segment_reduce";
  const SegmentKind& kind = kindOf(kName, reduce);
  BOXCAR_CHECK(!indices.has_value(), "{}: indices are not supported; give lengths or offsets", kName);
  const Segments by = segmentsOf(kName, data, lengths, offsets, axis, unsafe);
  const Tensor source = by.lines(data, by.count);
  const Scalar first = initial.value_or(Scalar(kind.initial));
  Tensor result = boxcar::full(dimVector(by.rows, by.segments + 1, by.inner), first, source.scalar_type(), std::nullopt,
                               data.device());
  boxcar::scatter_reduce_(result, 1, by.to, source, kind.reduce);
  result = boxcar::narrow(result, 1, 0, by.segments);
  if (kind.name == "mean") {
    const Tensor elements = boxcar::unsqueeze(by.counts, 2);
    const double none = initial.has_value() ? 1 : 0;  // 0 / 0 is NaN, as for any mean of nothing
    result =
        boxcar::div(result, boxcar::where(boxcar::eq(elements, 0), none, boxcar::to(elements, source.scalar_type())));
  }
  DimVector result_sizes = toDimVector(data.sizes());
  result_sizes[by.along] = by.segments;
  return boxcar::reshape(boxcar::contiguous(converted(result, data.scalar_type())), result_sizes);
}

// The maxima and minima of a segment share its gradient. Elements outside of all segments get none.
Tensor segmentReduceBackward(const Tensor& grad, const Tensor& output, const Tensor& data, std::string_view reduce,
                             const OptionalTensor& lengths, const OptionalTensor& offsets, int64_t axis,
                             const std::optional<Scalar>& initial) {
  constexpr std::string_view kName = "_segment_reduce_backward";
  const std::string_view kind = kindOf(kName, reduce).name;
  const Segments by = segmentsOf(kName, data, lengths, offsets, axis, /*unsafe=*/true);
  DimVector reduced = toDimVector(data.sizes());
  reduced[by.along] = by.segments;
  BOXCAR_CHECK(std::ranges::equal(grad.sizes(), reduced) && std::ranges::equal(output.sizes(), reduced),
               "{}: expected grad and output of the size {}, but got {} and {}", kName, meta::listOf(reduced),
               meta::listOf(grad.sizes()), meta::listOf(output.sizes()));
  const int64_t one_more[] = {0, 0, 0, 1};
  const auto ofEach = [&](const Tensor& of_segments) {
    return boxcar::gather(boxcar::constant_pad_nd(of_segments, one_more), 1, by.to);
  };
  const auto inSegments = [&](const Tensor& numbers, const char* how, double first) {
    const Tensor start = boxcar::full(dimVector(by.rows, by.segments + 1, by.inner), first, numbers.scalar_type(),
                                      std::nullopt, data.device());
    return boxcar::narrow(boxcar::scatter_reduce(start, 1, by.to, numbers, how), 1, 0, by.segments);
  };
  const Tensor source = by.lines(data, by.count);
  const ScalarType type = source.scalar_type();
  Tensor of_segments = by.lines(grad, by.segments);
  const Tensor results = by.lines(output, by.segments);
  Tensor gradient;
  if (kind == "sum") {
    gradient = ofEach(of_segments);
  } else if (kind == "mean") {
    gradient = ofEach(boxcar::div(of_segments, boxcar::unsqueeze(boxcar::clamp_min(by.counts, 1), 2)));
  } else if (kind == "prod") {
    // The product of the others is a quotient, unless the element is the only zero or NaN.
    const Tensor is_zero = boxcar::eq(source, 0);
    const Tensor is_hole = boxcar::logical_or(is_zero, boxcar::isnan(source));
    const Tensor holes = ofEach(inSegments(boxcar::to(is_hole, type), "sum", 0));
    const double first = initial.has_value() ? initial->toDouble() : 1;
    const Tensor others = ofEach(inSegments(boxcar::masked_fill(source, is_hole, 1), "prod", first));
    const Tensor quotient = boxcar::div(ofEach(results), boxcar::masked_fill(source, is_zero, 1));
    const Tensor is_only_hole = boxcar::logical_and(is_hole, boxcar::eq(holes, 1));
    gradient = boxcar::mul(ofEach(of_segments), boxcar::where(is_only_hole, others, quotient));
  } else {
    const Tensor is_extreme =
        boxcar::to(boxcar::logical_or(boxcar::eq(source, ofEach(results)), boxcar::isnan(source)), type);
    const Tensor sharers = boxcar::clamp_min(inSegments(is_extreme, "sum", 0), 1);
    gradient = boxcar::mul(is_extreme, ofEach(boxcar::div(of_segments, sharers)));
  }
  return boxcar::reshape(boxcar::contiguous(converted(gradient, data.scalar_type())), data.sizes());
}

Tensor& segmentReduceBackwardOut(const Tensor& grad, const Tensor& output, const Tensor& data, std::string_view reduce,
                                 const OptionalTensor& lengths, const OptionalTensor& offsets, int64_t axis,
                                 const std::optional<Scalar>& initial, Tensor& out) {
  return writeSameType(out, segmentReduceBackward(grad, output, data, reduce, lengths, offsets, axis, initial));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("embedding_bag", BOXCAR_FN(embeddingBagPlain));
  m.impl("embedding_bag.padding_idx", BOXCAR_FN(embeddingBagPadded));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("_embedding_bag", BOXCAR_FN(embeddingBag));
  m.impl("_embedding_bag_forward_only", BOXCAR_FN(embeddingBagForwardOnly));
  m.impl("embedding_renorm_", BOXCAR_FN(embeddingRenorm));
  m.impl("segment_reduce", BOXCAR_FN(segmentReduce));
  m.impl("_segment_reduce_backward", BOXCAR_FN(segmentReduceBackward));
  m.impl("_segment_reduce_backward.out", BOXCAR_FN(segmentReduceBackwardOut));
}

}  // namespace boxcar::composite
