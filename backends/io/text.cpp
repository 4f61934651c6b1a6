// io::read_text

#include <boxcar/backends/native/recorded_work.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>

#include <string>
#include <string_view>

namespace boxcar::io {
namespace {

std::string readText(std::string_view path) {
  native::refuseWhereRecorded("reads a file");
  return readWholeFile(path);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(io, CompositeExplicitAutograd, m) { m.impl("read_text", BOXCAR_FN(readText)); }

}  // namespace boxcar::io
