#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/backends/io/safetensors.h>
#include <boxcar/backends/io/safetensors_header.h>
#include <boxcar/backends/io/tensor_file.h>
#include <boxcar/backends/native/recorded_work.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>
#include <boxcar/ivalue/output_file.h>
#include <boxcar/ivalue/python_text.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

namespace boxcar::io {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian, and read as they are");

// A file's header and the bytes after it.
struct Parts {
  std::string_view header;
  std::span<std::byte> data;
};

Parts split(std::span<std::byte> file, const std::string& path) {
  BOXCAR_CHECK(file.size() >= kSafetensorsLengthBytes,
               "'{}' is not a safetensors file: it has {} bytes, and the length of the header alone takes {}", path,
               file.size(), kSafetensorsLengthBytes);
  uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof(length));
  const std::span<std::byte> rest = file.subspan(kSafetensorsLengthBytes);
  BOXCAR_CHECK(length <= rest.size(),
               "'{}' is not a valid safetensors file: its header should have {} bytes, but only {} follow", path,
               length, rest.size());
  BOXCAR_CHECK(length <= kSafetensorsLongestHeader,
               "'{}' is not a valid safetensors file: its header has {} bytes, and the format allows {}", path, length,
               kSafetensorsLongestHeader);
  return {{reinterpret_cast<const char*>(rest.data()), length}, rest.subspan(length)};
}

// Checks that every bool is 0 or 1.
void checkBools(std::span<const std::byte> bytes, const std::string& name, const std::string& path) {
  const auto found = findNoBool(bytes);
  BOXCAR_CHECK(!found.has_value(),
               "'{}' is not a valid safetensors file: element {} of its tensor {} of dtype BOOL is {}, neither 0 nor 1",
               path, *found, pythonStringRepr(name), static_cast<int>(bytes[*found]));
}

Tensor makeTensor(const SafetensorsEntry& entry, std::span<const std::byte> bytes,
                  const IntrusivePtr<MappedFile>& file) {
  std::vector<int64_t> strides(entry.shape.size());
  contiguousStrides(entry.shape, strides);
  return tensorInFile(file, bytes, entry.dtype, entry.shape, strides);
}

// Returns the header entry for a tensor, without its position in the file.
SafetensorsEntry describe(const std::string& name, const Tensor& tensor, const std::string& path) {
  const std::string shown = pythonStringRepr(name);
  BOXCAR_CHECK(name != "__metadata__", "cannot write '{}': '__metadata__' cannot be the name of a tensor", path);
  checkWritable(tensor, "the tensor " + shown, path);
  BOXCAR_CHECK(!safetensorsDtypeName(tensor.dtype()).empty(),
               "cannot write '{}': the tensor {} has the dtype {}, which safetensors files do not have", path, shown,
               dtypeName(tensor.dtype()));
  return {.name = name, .dtype = tensor.dtype(), .shape = {tensor.sizes().begin(), tensor.sizes().end()}};
}

}  // namespace

Dict<std::string, Tensor> loadSafetensors(std::string_view path) {
  native::refuseWhereRecorded("reads a file");
  return loadSafetensors(makeIntrusive<MappedFile>(path), resolvePath(path));
}

Dict<std::string, Tensor> loadSafetensors(const IntrusivePtr<MappedFile>& file, const std::string& path) {
  const Parts parts = split(file->bytes(), path);
  Dict<std::string, Tensor> tensors;
  for (const SafetensorsEntry& entry : parseSafetensorsHeader(parts.header, parts.data.size(), path)) {
    const std::span<std::byte> bytes = parts.data.subspan(entry.begin, entry.end - entry.begin);
    if (entry.dtype == ScalarType::Bool) checkBools(bytes, entry.name, path);
    tensors.insert_or_assign(entry.name, makeTensor(entry, bytes, file));
  }
  return tensors;
}

Dict<std::string, std::string> loadSafetensorsMetadata(std::string_view path) {
  const std::string resolved = resolvePath(path);
  const auto file = makeIntrusive<MappedFile>(path);
  const Parts parts = split(file->bytes(), resolved);
  Dict<std::string, std::string> texts;
  for (auto& [key, text] : parseSafetensorsMetadata(parts.header, parts.data.size(), resolved)) {
    texts.insert_or_assign(key, std::move(text));
  }
  return texts;
}

void saveSafetensors(const Dict<std::string, Tensor>& tensors, std::string_view path) {
  native::refuseWhereRecorded("writes a file");
  const std::string resolved = resolvePath(path);
  std::vector<SafetensorsEntry> entries;
  std::vector<Tensor> values;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto [name, tensor] = tensors.entryAt(i);
    entries.push_back(describe(name, tensor, resolved));
    values.push_back(tensor);
  }
  std::vector<size_t> order(entries.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return elementSize(entries[i].dtype); });
  uint64_t end = 0;
  for (const size_t i : order) {
    entries[i].begin = end;
    entries[i].end = end += values[i].nbytes();
  }

  const std::string header = formatSafetensorsHeader(entries, resolved);
  const uint64_t length = header.size();
  OutputFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(std::as_bytes(std::span(header)));
  for (const size_t i : order) writeElements(values[i], file);
  file.commit();
}

// The tensors may be on any device; the kernel reports what it cannot write.
BOXCAR_LIBRARY_IMPL(io, CompositeExplicitAutograd, m) { m.impl("save", BOXCAR_FN(saveSafetensors)); }

}  // namespace boxcar::io
