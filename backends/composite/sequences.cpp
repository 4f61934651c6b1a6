#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/stop_request.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

// Sequences of different lengths as one tensor: padded to the longest, or packed, which holds the rows of all of them
// step after step. Recurrent networks take both.

namespace boxcar::composite {
namespace {

using TensorPair = std::tuple<Tensor, Tensor>;

// Returns [rows] with [before] and [after] rows of [value] around them. Nothing is written in place, so that gradients
// need no views of a common base.
Tensor extended(const Tensor& rows, int64_t before, int64_t after, const Scalar& value) {
  if (before == 0 && after == 0) return rows;
  std::vector<int64_t> pad(2 * static_cast<size_t>(rows.dim()), 0);  // the first dimension comes last
  pad[pad.size() - 2] = before;
  pad[pad.size() - 1] = after;
  return boxcar::constant_pad_nd(rows, pad, value);
}

Tensor padSequence(TensorList sequences, bool batch_first, double padding_value, std::string_view padding_side) {
  BOXCAR_CHECK(!sequences.empty(), "pad_sequence: received an empty list of sequences");
  BOXCAR_CHECK(padding_side == "left" || padding_side == "right",
               "pad_sequence: padding_side should be 'left' or 'right', but got '{}'", padding_side);
  const Tensor& first = sequences[0];
  int64_t longest = 0;
  for (const Tensor& sequence : sequences) {
    BOXCAR_CHECK(sequence.dim() > 0 && std::ranges::equal(sequence.sizes().subspan(1), first.sizes().subspan(1)),
                 "pad_sequence: expected sequences whose sizes differ in the first dimension only, but got {} and {}",
                 meta::listOf(first.sizes()), meta::listOf(sequence.sizes()));
    longest = std::max(longest, sequence.size(0));
  }
  std::vector<Tensor> padded;
  for (const Tensor& sequence : sequences) {
    const int64_t missing = longest - sequence.size(0);
    const bool is_left = padding_side == "left";
    const Tensor of_one_dtype = boxcar::to(sequence, first.scalar_type());
    padded.push_back(extended(of_one_dtype, is_left ? missing : 0, is_left ? 0 : missing, padding_value));
  }
  return boxcar::stack(padded, batch_first ? 0 : 1);
}

// Returns the elements of [counts], which must be positive and may not grow.
std::vector<int64_t> fallingCounts(std::string_view op, std::string_view name, const Tensor& counts) {
  BOXCAR_CHECK(
      counts.dim() == 1 && counts.numel() > 0 && counts.scalar_type() == ScalarType::Long && counts.device().is_cpu(),
      "{}: expected {} of one dimension and dtype int64 on the CPU, but got sizes {} and dtype {} on {}", op, name,
      meta::listOf(counts.sizes()), dtypeName(counts.scalar_type()), counts.device());
  const Tensor in_order = boxcar::contiguous(resolved(counts));
  const std::span<const int64_t> values(in_order.const_data_ptr<int64_t>(), static_cast<size_t>(counts.numel()));
  BOXCAR_CHECK(values.back() > 0 && std::ranges::is_sorted(values, std::ranges::greater()),
               "{}: {} must be positive and fall, but they are {}", op, name, meta::listOf(values));
  return {values.begin(), values.end()};
}

// How many of [counts], which fall, reach 1, 2, 3 and so on: lengths of sequences become sizes of steps, and back.
Tensor counted(std::span<const int64_t> counts) {
  const int64_t sizes[] = {counts.front()};
  Tensor result = Tensor::allocate(sizes, ScalarType::Long, Device(DeviceType::CPU));
  auto* const values = result.mutable_data_ptr<int64_t>();
  for (size_t reaching = counts.size(), i = 0; i < static_cast<size_t>(sizes[0]); ++i) {
    while (counts[reaching - 1] <= static_cast<int64_t>(i)) --reaching;
    values[i] = static_cast<int64_t>(reaching);
  }
  return result;
}

TensorPair packPadded(const Tensor& input, const Tensor& lengths, bool batch_first) {
  BOXCAR_CHECK(input.dim() >= 2 && input.numel() > 0,
               "_pack_padded_sequence: expected an input of at least two dimensions that has elements, but got sizes "
               "{}; cannot pack empty tensors",
               meta::listOf(input.sizes()));
  const Tensor steps = batch_first ? boxcar::transpose(input, 0, 1) : input;
  const std::vector<int64_t> falling = fallingCounts("_pack_padded_sequence", "lengths", lengths);
  BOXCAR_CHECK(lengths.size(0) == steps.size(1) && falling.front() <= steps.size(0),
               "_pack_padded_sequence: expected a length for each of {} sequences, of at most {} steps, but got {}",
               steps.size(1), steps.size(0), meta::listOf(falling));
  const Tensor batch_sizes = counted(falling);
  std::vector<Tensor> rows;
  for (int64_t t = 0; t < batch_sizes.numel(); ++t) {
    checkStop();
    rows.push_back(boxcar::narrow(boxcar::select(steps, 0, t), 0, 0, batch_sizes.const_data_ptr<int64_t>()[t]));
  }
  return {boxcar::cat(rows, 0), batch_sizes};
}

TensorPair padPacked(const Tensor& data, const Tensor& batch_sizes, bool batch_first, const Scalar& padding_value,
                     int64_t total_length) {
  const std::vector<int64_t> falling = fallingCounts("_pad_packed_sequence", "batch_sizes", batch_sizes);
  const auto steps = static_cast<int64_t>(falling.size());
  BOXCAR_CHECK(total_length <= 0 || total_length >= steps,
               "_pad_packed_sequence: expected total_length to be at least the length of the longest sequence, but "
               "total_length is {} and the longest sequence {}",
               total_length, steps);
  // The rows are counted down: a sum of sizes could overflow.
  int64_t rows = data.dim() > 0 ? data.size(0) : 0;
  for (const int64_t size : falling) {
    rows -= size;
    if (rows < 0) break;
  }
  BOXCAR_CHECK(rows == 0, "_pad_packed_sequence: batch_sizes must add up to the rows of data, whose sizes are {}",
               meta::listOf(data.sizes()));
  std::vector<Tensor> by_step;
  int64_t start = 0;
  for (const int64_t size : falling) {
    checkStop();
    by_step.push_back(extended(boxcar::narrow(data, 0, start, size), 0, falling.front() - size, padding_value));
    start += size;
  }
  const Tensor stacked = boxcar::stack(by_step, 0);
  const Tensor padded = extended(stacked, 0, std::max(total_length, steps) - steps, padding_value);
  return {batch_first ? boxcar::transpose(padded, 0, 1) : padded, counted(falling)};
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("pad_sequence", BOXCAR_FN(padSequence));
  m.impl("_pack_padded_sequence", BOXCAR_FN(packPadded));
  m.impl("_pad_packed_sequence", BOXCAR_FN(padPacked));
}

}  // namespace boxcar::composite
