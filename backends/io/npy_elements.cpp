#include <boxcar/backends/io/npy_elements.h>
#include <boxcar/backends/io/tensor_file.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor_impl.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

namespace boxcar::io {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

std::vector<int64_t> fortranStrides(std::span<const int64_t> sizes) {
  const std::vector<int64_t> reversed(sizes.rbegin(), sizes.rend());
  std::vector<int64_t> strides(sizes.size());
  contiguousStrides(reversed, strides);
  std::ranges::reverse(strides);
  return strides;
}

std::vector<int64_t> npyStrides(const NpyHeader& header) {
  if (header.is_fortran_order) return fortranStrides(header.shape);
  std::vector<int64_t> strides(header.shape.size());
  contiguousStrides(header.shape, strides);
  return strides;
}

void checkNpyLength(const NpyHeader& header, uint64_t bytes_that_follow, const std::string& what) {
  const std::string shape = fmt::format("({}{})", fmt::join(header.shape, ", "), header.shape.size() == 1 ? "," : "");
  const std::optional<uint64_t> bytes = bytesOfElements(header.dtype, header.shape);
  BOXCAR_CHECK(bytes.has_value(),
               "{} is not a valid .npy file: an array of dtype {} and shape {} has more bytes than 63 bits can count",
               what, dtypeName(header.dtype), shape);
  BOXCAR_CHECK(*bytes == bytes_that_follow,
               "{} is not a valid .npy file: an array of dtype {} and shape {} has {} bytes, but {} follow the header, "
               "which ends at byte {}",
               what, dtypeName(header.dtype), shape, *bytes, bytes_that_follow, header.data_begin);
}

void convertNpyElements(const NpyHeader& header, std::span<std::byte> elements, const std::string& what) {
  if (header.is_big_endian) {
    const size_t size = elementSize(toRealValueType(header.dtype));
    for (size_t at = 0; at < elements.size(); at += size) std::ranges::reverse(elements.subspan(at, size));
  }
  if (header.dtype != ScalarType::Bool) return;
  const auto found = findNoBool(elements);
  BOXCAR_CHECK(!found.has_value(), "{} is not a valid .npy file: at byte {}, a bool is {}, neither 0 nor 1", what,
               header.data_begin + *found, static_cast<int>(elements[*found]));
}

}  // namespace boxcar::io
