#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>

#include <stdio_ext.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace boxcar::composite {
namespace {

void print(std::string_view s) {
  const bool written = std::fwrite(s.data(), 1, s.size(), stdout) == s.size();
  // On a terminal, which is line buffered, a part of a line is shown at once: a prompt, or progress.
  if (__flbf(stdout) != 0 && !s.ends_with('\n')) std::fflush(stdout);
  BOXCAR_CHECK(written, "_print: cannot write to the standard output: {}", std::strerror(errno));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) { m.impl("_print", BOXCAR_FN(print)); }

}  // namespace boxcar::composite
