// Runs a fuzz target once on each of the kept inputs, as libFuzzer does with a corpus, for other compilers.
// Usage: replay FILE-OR-FOLDER...     Fails if one of them does not exist or holds no input.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "tests/fuzz/fuzz.h"

namespace {

// Runs the target on the file; returns whether the file was readable.
bool replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string input{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    std::fprintf(stderr, "replay: cannot read %s\n", path.c_str());
    return false;
  }
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  return true;
}

// Replays every file at or below [path]; returns false if there is none or one is not readable.
bool replayAll(const std::filesystem::path& path, size_t& count) {
  std::error_code fault;
  if (!std::filesystem::is_directory(path, fault)) {
    ++count;
    return replay(path);
  }
  bool good = true;
  const size_t before = count;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (!entry.is_regular_file()) continue;
    ++count;
    good = replay(entry.path()) && good;
  }
  if (count == before) std::fprintf(stderr, "replay: there is no input in %s\n", path.c_str());
  return good && count != before;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: replay FILE-OR-FOLDER...\n", stderr);
    return 2;
  }
  if (std::freopen("/dev/null", "w", stdout) == nullptr) return 2;
  bool good = true;
  size_t count = 0;
  try {
    for (int i = 1; i < argc; ++i) good = replayAll(argv[i], count) && good;
  } catch (const std::filesystem::filesystem_error& error) {
    std::fprintf(stderr, "replay: %s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "%zu inputs\n", count);
  return good ? 0 : 1;
}
