#include <boxcar/backends/cuda/environment.h>
#include <boxcar/ivalue/error.h>

#include <cstdlib>
#include <string_view>

namespace boxcar::cuda {

bool isSwitchedOn(const char* name) {
  const char* const value = std::getenv(name);
  const std::string_view text = value == nullptr ? "" : value;
  BOXCAR_CHECK(text.empty() || text == "0" || text == "1",
               "the environment variable {} is '{}'; set it to 1 to switch it on, or to 0", name, text);
  return text == "1";
}

}  // namespace boxcar::cuda
