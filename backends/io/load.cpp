// io::load, io::load_checkpoint, io::load_torchscript, io::torchscript_lines

#include <boxcar/backends/io/checkpoint.h>
#include <boxcar/backends/io/file_kind.h>
#include <boxcar/backends/io/gguf.h>
#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/backends/io/npz.h>
#include <boxcar/backends/io/pt2.h>
#include <boxcar/backends/io/safetensors.h>
#include <boxcar/backends/io/sharded.h>
#include <boxcar/backends/io/torchscript.h>
#include <boxcar/backends/io/zip_archive.h>
#include <boxcar/backends/native/recorded_work.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>
#include <boxcar/ivalue/program_path.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::io {
namespace {

IValue loadAny(std::string_view path, std::string_view reader, bool is_shard);

Dict<std::string, Tensor> loadShard(const std::string& path) {
  return tensorsOfCheckpoint(loadAny(path, "io::load", true), resolvePath(path));
}

IValue loadZip(const IntrusivePtr<MappedFile>& file, const std::string& path, std::string_view program,
               std::string_view reader) {
  const ZipArchive archive(file->bytes(), path);
  if (const std::optional<std::string> folder = findPt2Folder(archive)) {
    return loadPt2(file, archive, *folder, path, program);
  }
  if (isTorchScript(archive)) return tensorsOfTorchScript(loadTorchScript(file, archive, path));
  std::vector<std::string_view> names;
  for (const ZipMember& member : archive.members()) names.push_back(member.name);
  if (const ForeignKind* kind = findForeignKind(names)) failForeign(*kind, path, reader);
  if (isZipCheckpoint(archive)) return loadZipCheckpoint(file, archive, path);
  return loadNpz(archive, path);
}

// Returns what a file holds. The contents determine its kind; if they are cut off, the name does.
IValue loadAny(std::string_view path_of_program, std::string_view reader, bool is_shard) {
  const auto [path, program] = splitProgramPath(path_of_program);
  const std::string resolved = resolvePath(path);
  const auto file = makeIntrusive<MappedFile>(path);
  const std::span<const std::byte> bytes = file->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  BOXCAR_CHECK(!text.starts_with("\x93NUMPY"), "'{}' is a .npy file, one array without a name: io::load_npy reads it",
               resolved);
  if (isLegacyCheckpoint(bytes)) return loadLegacyCheckpoint(file, resolved);
  if (isGguf(bytes)) return loadGguf(file, resolved);
  if (isShardIndex(bytes)) {
    BOXCAR_CHECK(!is_shard, "'{}' is the index of a model in several files, and another index names it", resolved);
    return loadSharded(bytes, path, resolved, loadShard);
  }
  if (const ForeignKind* kind = findForeignKind(bytes)) failForeign(*kind, resolved, reader);
  if (isZip(bytes) || resolved.ends_with(".npz")) return loadZip(file, resolved, program, reader);
  return loadSafetensors(file, resolved);
}

Dict<std::string, Tensor> loadTensors(std::string_view path) {
  native::refuseWhereRecorded("reads a file");
  return tensorsOfCheckpoint(loadAny(path, "io::load", false), resolvePath(path));
}

IValue loadCheckpoint(std::string_view path) {
  native::refuseWhereRecorded("reads a file");
  return loadAny(path, "io::load_checkpoint", false);
}

Dict<std::string, IValue> loadModule(std::string_view path) {
  native::refuseWhereRecorded("reads a file");
  const auto file = makeIntrusive<MappedFile>(path);
  const std::string resolved = resolvePath(path);
  return loadTorchScript(file, ZipArchive(file->bytes(), resolved), resolved);
}

List<IValue> torchScriptLines(const Tensor& debug_pkl) {
  BOXCAR_CHECK(debug_pkl.dtype() == ScalarType::Byte && debug_pkl.is_contiguous() && debug_pkl.device().is_cpu(),
               "io::torchscript_lines takes the bytes of a member .debug_pkl, as io::load_zip gives them: a contiguous "
               "Tensor of uint8 on the CPU");
  return linesOfDebugPickle(
      {static_cast<const std::byte*>(debug_pkl.data_ptr()), static_cast<size_t>(debug_pkl.numel())});
}

}  // namespace

BOXCAR_LIBRARY_IMPL(io, CompositeExplicitAutograd, m) {
  m.impl("load", BOXCAR_FN(loadTensors));
  m.impl("load_checkpoint", BOXCAR_FN(loadCheckpoint));
  m.impl("load_torchscript", BOXCAR_FN(loadModule));
  m.impl("torchscript_lines", BOXCAR_FN(torchScriptLines));
}

}  // namespace boxcar::io
