#include <boxcar/backends/io/npy.h>
#include <boxcar/backends/io/npy_header.h>
#include <boxcar/backends/io/npz.h>
#include <boxcar/backends/io/zip_writer.h>
#include <boxcar/backends/native/recorded_work.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/file_access.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ops.h>

#include <cstddef>
#include <span>
#include <string>

namespace boxcar::io {

void saveNpz(const Dict<std::string, Tensor>& tensors, std::string_view path) {
  native::refuseWhereRecorded("writes a file");
  const std::string resolved = resolvePath(path);
  for (const auto& entry : tensors) static_cast<void>(npyHeaderOf(entry.value(), resolved));
  ZipWriter file(path);
  for (const auto& entry : tensors) {
    const Tensor whole = boxcar::contiguous(boxcar::resolved(entry.value()));
    const std::string start = formatNpyHeader(npyHeaderOf(whole, resolved));
    const std::span<const std::byte> elements(
        static_cast<const std::byte*>(whole.storage()->data()) +
            static_cast<size_t>(whole.storage_offset()) * elementSize(whole.scalar_type()),
        static_cast<size_t>(whole.numel()) * elementSize(whole.scalar_type()));
    file.add(entry.key() + ".npy", {std::as_bytes(std::span(start)), elements});
  }
  file.finish();
}

BOXCAR_LIBRARY_IMPL(io, CompositeExplicitAutograd, m) { m.impl("save_npz", BOXCAR_FN(saveNpz)); }

}  // namespace boxcar::io
