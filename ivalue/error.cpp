#include <boxcar/ivalue/error.h>

#include <fmt/format.h>

namespace boxcar {

void Error::addContext(std::string_view line) {
  message_ += '\n';
  message_ += line;
}

namespace detail {

void throwError(fmt::string_view format, fmt::format_args args) { throw RuntimeError(fmt::vformat(format, args)); }
void throwIndexError(fmt::string_view format, fmt::format_args args) { throw IndexError(fmt::vformat(format, args)); }

void internalAssertFailed(const char* condition, const char* file, int line) {
  throw RuntimeError(fmt::format("internal assertion failed: {} at {}:{}; this is a fault in boxcar, please report it",
                                 condition, file, line));
}

}  // namespace detail
}  // namespace boxcar
