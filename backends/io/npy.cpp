#include <boxcar/backends/io/file_kind.h>
#include <boxcar/backends/io/npy.h>
#include <boxcar/backends/io/npy_elements.h>
#include <boxcar/backends/io/npy_header.h>
#include <boxcar/backends/io/tensor_file.h>
#include <boxcar/backends/native/recorded_work.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>
#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <string>
#include <vector>

namespace boxcar::io {
NpyHeader npyHeaderOf(const Tensor& tensor, const std::string& path) {
  checkWritable(tensor, "the tensor", path);
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

namespace {

// Returns the same elements with the dimensions reversed.
Tensor reversedDims(const Tensor& tensor) {
  const std::vector<int64_t> sizes(tensor.sizes().rbegin(), tensor.sizes().rend());
  const std::vector<int64_t> strides(tensor.strides().rbegin(), tensor.strides().rend());
  return tensor.view(sizes, strides, tensor.storage_offset());
}

}  // namespace

Tensor loadNpy(std::string_view path) {
  native::refuseWhereRecorded("reads a file");
  const std::string resolved = resolvePath(path);
  const std::string what = fmt::format("'{}'", resolved);
  const auto file = makeIntrusive<MappedFile>(path);
  if (const ForeignKind* kind = findForeignKind(file->bytes())) failForeign(*kind, resolved, "io::load_npy");
  BOXCAR_CHECK(!isSafetensors(file->bytes()), "{} is not a .npy file, but a safetensors file: io::load reads it", what);
  const NpyHeader header = parseNpyHeader(file->bytes(), what);
  const std::span<std::byte> data = file->bytes().subspan(header.data_begin);
  checkNpyLength(header, data.size(), what);
  convertNpyElements(header, data, what);  // in this process's copy of the file
  return tensorInFile(file, data, header.dtype, header.shape, npyStrides(header));
}

void saveNpy(const Tensor& tensor, std::string_view path) {
  native::refuseWhereRecorded("writes a file");
  const NpyHeader header = npyHeaderOf(tensor, resolvePath(path));
  const std::string start = formatNpyHeader(header);
  OutputFile file(path);
  file.write(std::as_bytes(std::span(start)));
  writeElements(header.is_fortran_order ? reversedDims(tensor) : tensor, file);
  file.commit();
}

// The tensors may be on any device; the kernel reports what it cannot write.
BOXCAR_LIBRARY_IMPL(io, CompositeExplicitAutograd, m) {
  m.impl("load_npy", BOXCAR_FN(loadNpy));
  m.impl("save_npy", BOXCAR_FN(saveNpy));
}

}  // namespace boxcar::io
