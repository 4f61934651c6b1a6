#include <boxcar/interpreter/cli/command.h>

#include <cstdio>

namespace boxcar::cli {

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void printError(const std::string& text) {
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace boxcar::cli
