// io::read_text, io::write_text, io::exists

#include <boxcar/backends/native/recorded_work.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>
#include <boxcar/ivalue/output_file.h>

#include <span>
#include <string>
#include <string_view>

namespace boxcar::io {
namespace {

std::string readText(std::string_view path) {
  native::refuseWhereRecorded("reads a file");
  return readWholeFile(path);
}

bool isThere(std::string_view path) {
  native::refuseWhereRecorded("asks for a file");
  return fileExists(path);
}

void writeText(std::string_view text, std::string_view path) {
  native::refuseWhereRecorded("writes a file");
  OutputFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace

BOXCAR_LIBRARY_IMPL(io, CompositeExplicitAutograd, m) {
  m.impl("read_text", BOXCAR_FN(readText));
  m.impl("exists", BOXCAR_FN(isThere));
  m.impl("write_text", BOXCAR_FN(writeText));
}

}  // namespace boxcar::io
