#include <boxcar/backends/dense/recorded_work.h>
#include <boxcar/backends/io/npy.h>
#include <boxcar/backends/io/npy_header.h>
#include <boxcar/backends/io/tensor_file.h>
#include <boxcar/dispatcher/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

namespace boxcar::io {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

// Of elements next to each other along the first dimension, then along the second …
std::vector<int64_t> fortranStrides(std::span<const int64_t> sizes) {
  const std::vector<int64_t> reversed(sizes.rbegin(), sizes.rend());
  std::vector<int64_t> strides(sizes.size());
  contiguousStrides(reversed, strides);
  std::ranges::reverse(strides);
  return strides;
}

std::vector<int64_t> stridesOf(const NpyHeader& header) {
  if (header.is_fortran_order) return fortranStrides(header.shape);
  std::vector<int64_t> strides(header.shape.size());
  contiguousStrides(header.shape, strides);
  return strides;
}

// The bytes of the elements, as many as the header says.
std::span<std::byte> elementsOf(const NpyHeader& header, std::span<std::byte> file, const std::string& path) {
  const std::string shape = fmt::format("({}{})", fmt::join(header.shape, ", "), header.shape.size() == 1 ? "," : "");
  const std::optional<uint64_t> bytes = bytesOfElements(header.dtype, header.shape);
  BOXCAR_CHECK(bytes.has_value(),
               "'{}' is no valid .npy file: an array of dtype {} and shape {} has more bytes than 63 bits can count",
               path, dtypeName(header.dtype), shape);
  const std::span<std::byte> data = file.subspan(header.data_begin);
  BOXCAR_CHECK(*bytes == data.size(),
               "'{}' is no valid .npy file: an array of dtype {} and shape {} has {} bytes, but {} follow the header, "
               "which ends at byte {}",
               path, dtypeName(header.dtype), shape, *bytes, data.size(), header.data_begin);
  return data;
}

// Turns big-endian numbers into little-endian ones, in this process's copy of the file.
void reverseBytes(std::span<std::byte> bytes, ScalarType dtype) {
  const size_t size = elementSize(toRealValueType(dtype));
  for (size_t at = 0; at < bytes.size(); at += size) std::ranges::reverse(bytes.subspan(at, size));
}

// What the file says of [tensor]; an Error where it cannot be written.
NpyHeader describe(const Tensor& tensor, const std::string& path) {
  BOXCAR_CHECK(tensor.defined(), "cannot write '{}': the tensor is undefined", path);
  BOXCAR_CHECK(tensor.is_cpu(), "cannot write '{}': the tensor is on device '{}'; copy it to the CPU first", path,
               tensor.device());
  BOXCAR_CHECK(!npyDtype(tensor.dtype()).empty(),
               "cannot write '{}': the tensor has the dtype {}, which NumPy does not have; convert it to float32, or "
               "write a safetensors file with io::save",
               path, dtypeName(tensor.dtype()));
  BOXCAR_CHECK(static_cast<size_t>(tensor.dim()) <= kNpyMostDims,
               "cannot write '{}': the tensor has {} dimensions, and .npy files have at most {}", path, tensor.dim(),
               kNpyMostDims);
  NpyHeader header{.dtype = tensor.dtype(), .shape = {tensor.sizes().begin(), tensor.sizes().end()}};
  header.is_fortran_order =
      !tensor.is_contiguous() && std::ranges::equal(tensor.strides(), fortranStrides(tensor.sizes()));
  return header;
}

// The same elements with the dimensions in the opposite order.
Tensor reversedDims(const Tensor& tensor) {
  const std::vector<int64_t> sizes(tensor.sizes().rbegin(), tensor.sizes().rend());
  const std::vector<int64_t> strides(tensor.strides().rbegin(), tensor.strides().rend());
  return tensor.view(sizes, strides, tensor.storage_offset());
}

}  // namespace

Tensor loadNpy(std::string_view path) {
  dense::refuseWhereRecorded("reads a file");
  const std::string resolved = resolvePath(path);
  const auto file = makeIntrusive<MappedFile>(path);
  const NpyHeader header = parseNpyHeader(file->bytes(), resolved);
  const std::span<std::byte> data = elementsOf(header, file->bytes(), resolved);
  if (header.is_big_endian) reverseBytes(data, header.dtype);
  if (header.dtype == ScalarType::Bool) {
    const auto found = findNoBool(data);
    BOXCAR_CHECK(!found.has_value(), "'{}' is no valid .npy file: at byte {}, a bool is {}, neither 0 nor 1", resolved,
                 header.data_begin + *found, static_cast<int>(data[*found]));
  }
  return tensorInFile(file, data, header.dtype, header.shape, stridesOf(header));
}

void saveNpy(const Tensor& tensor, std::string_view path) {
  dense::refuseWhereRecorded("writes a file");
  const NpyHeader header = describe(tensor, resolvePath(path));
  const std::string start = formatNpyHeader(header);
  OutputFile file(path);
  file.write(std::as_bytes(std::span(start)));
  writeElements(header.is_fortran_order ? reversedDims(tensor) : tensor, file);
  file.commit();
}

// What is saved may lie anywhere: the kernel says what it does not write.
BOXCAR_LIBRARY_IMPL(io, CompositeExplicitAutograd, m) {
  m.impl("load_npy", BOXCAR_FN(loadNpy));
  m.impl("save_npy", BOXCAR_FN(saveNpy));
}

}  // namespace boxcar::io
