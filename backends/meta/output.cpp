#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/meta/output.h>
#include <boxcar/backends/meta/overlap.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace boxcar::meta {
namespace {

// Grows the output's storage to the memory that its new sizes need.
void growStorage(const Output& output) {
  if (!output.resizes()) return;
  checkDims(output.sizes.size());
  const Tensor& out = output.tensor;
  const int64_t elements = numelOf(output.sizes);
  int64_t bytes = 0;
  const bool overflow = __builtin_add_overflow(elements, out.storage_offset(), &bytes) ||
                        __builtin_mul_overflow(bytes, static_cast<int64_t>(out.itemsize()), &bytes);
  BOXCAR_CHECK(!overflow, "a tensor of sizes [{}] and dtype {} has more bytes than 63 bits can count",
               fmt::join(output.sizes, ", "), dtypeName(out.scalar_type()));
  if (elements > 0 && static_cast<size_t>(bytes) > out.storage()->nbytes()) {
    out.storage()->resize(static_cast<size_t>(bytes));
  }
}

}  // namespace

Region regionOf(const Output& output) {
  if (!output.resizes()) return regionOf(output.tensor);
  Region region = regionOf(output.tensor);
  region.sizes = output.sizes;
  region.strides = output.strides;
  return region;
}

bool overlapsItself(const Tensor& tensor) {
  if (tensor.is_contiguous()) return false;
  for (size_t i = 0; i < tensor.sizes().size(); ++i) {
    if (tensor.strides()[i] == 0 && tensor.sizes()[i] > 1) return true;
  }
  return false;
}

void checkNoInternalOverlap(const Tensor& tensor) {
  BOXCAR_CHECK(!overlapsItself(tensor),
               "unsupported operation: more than one element of the written-to tensor refers to a single memory "
               "location. Please clone() the tensor before performing the operation.");
}

bool Output::resizes() const { return !std::ranges::equal(tensor.sizes(), sizes); }

Output outputOf(const Tensor& out, const Tensor& result, OutputType type) {
  Output output{out, result.sizes(), {}, result.scalar_type(), result.device(), type};
  if (output.resizes()) output.strides = denseStrides(result);
  return output;
}

void checkOutput(const Output& output) {
  BOXCAR_CHECK(output.tensor.defined(), "expected a tensor, but it is undefined");
  checkOutputDevice(output.tensor, output.device);
  if (output.type == OutputType::kExact) {
    checkOutputType(output.tensor, output.dtype);
  } else {
    checkOutputHolds(output.tensor, output.dtype);
  }
  if (!output.resizes()) checkNoInternalOverlap(output.tensor);
}

Shared sharedWith(const Output& output, const Tensor& input) {
  if (input.storage() != output.tensor.storage()) return Shared::kNothing;
  const Region written = regionOf(output);
  return sharedMemory(written, input.is_same(output.tensor) ? written : regionOf(input));
}

void checkRead(const Output& output, const Tensor& input, Overlap overlap) {
  if (overlap == Overlap::kAllowed) return;
  const Shared shared = sharedWith(output, input);
  BOXCAR_CHECK(shared == Shared::kNothing || (shared == Shared::kSame && overlap == Overlap::kSame), "{}",
               kSharesWithInput);
}

void checkOutputs(std::span<const Output> outputs, TensorPointers inputs, Overlap overlap) {
  for (const Output& output : outputs) checkOutput(output);
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (const Tensor* input : inputs) checkRead(outputs[i], *input, overlap);
    for (size_t j = 0; j < i; ++j) {
      BOXCAR_CHECK(!outputs[i].tensor.is_same(outputs[j].tensor) &&
                       sharedMemory(regionOf(outputs[i]), regionOf(outputs[j])) == Shared::kNothing,
                   "unsupported operation: results {} and {} would be written to the same memory. Please give each its "
                   "own tensor.",
                   j, i);
    }
  }
}

void growStorages(std::span<const Output> outputs) {
  for (const Output& output : outputs) growStorage(output);
}

std::vector<Output> checkWritten(std::span<const Written> written, TensorPointers inputs, Overlap overlap) {
  std::vector<Output> outputs;
  outputs.reserve(written.size());
  for (const Written& one : written) outputs.push_back(outputOf(one.out, one.result, one.type));
  checkOutputs(outputs, inputs, overlap);
  return outputs;
}

void checkNoOverlap(const Tensor& written, const Tensor& input) {
  if (written.storage() != input.storage()) return;
  BOXCAR_CHECK(sharedMemory(regionOf(written), regionOf(input)) == Shared::kNothing, "{}", kSharesWithInput);
}

}  // namespace boxcar::meta
