#include <boxcar/backends/io/file_kind.h>
#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/backends/io/npz.h>
#include <boxcar/backends/io/safetensors.h>
#include <boxcar/backends/native/recorded_work.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>

#include <string>
#include <string_view>

namespace boxcar::io {
namespace {

// Loads the tensors of a file of either kind. The contents determine the kind; if they are cut off, the name does.
Dict<std::string, Tensor> loadTensors(std::string_view path) {
  native::refuseWhereRecorded("reads a file");
  const std::string resolved = resolvePath(path);
  const auto file = makeIntrusive<MappedFile>(path);
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  BOXCAR_CHECK(!text.starts_with("\x93NUMPY"), "'{}' is a .npy file, one array without a name: io::load_npy reads it",
               resolved);
  if (const ForeignKind* kind = findForeignKind(file->bytes())) failForeign(*kind, resolved, "io::load");
  if (isZip(file->bytes()) || resolved.ends_with(".npz")) return loadNpz(file->bytes(), resolved);
  return loadSafetensors(file, resolved);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(io, CompositeExplicitAutograd, m) { m.impl("load", BOXCAR_FN(loadTensors)); }

}  // namespace boxcar::io
