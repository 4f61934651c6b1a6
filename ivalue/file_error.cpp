#include <boxcar/ivalue/file_error.h>
#include <fmt/format.h>

#include <system_error>

namespace boxcar {

void throwFileError(int code, std::string_view what) {
  throw FileError(fmt::format("{}: {}", what, std::generic_category().message(code)), code);
}

}  // namespace boxcar
