#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/memory_limit.h>
#include <boxcar/interpreter/cli/report.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

namespace boxcar::cli {
namespace {

// The last argument of limitMemory(); "" if it was not called.
std::string& currentLimit() {
  static std::string size;
  return size;
}

// Returns the bytes of this process's writable memory that belong to no file and no stack: what RLIMIT_DATA counts.
uint64_t dataInUse() {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen("/proc/self/status", "r"), close);
  BOXCAR_CHECK(file != nullptr, "--max-memory cannot be set: /proc/self/status cannot be read: {}",
               std::strerror(errno));
  char line[256];
  unsigned long long kibibytes = 0;
  while (std::fgets(line, sizeof(line), file.get()) != nullptr) {
    if (std::sscanf(line, "VmData: %llu kB", &kibibytes) == 1) return kibibytes * 1024;
  }
  BOXCAR_FAIL("--max-memory cannot be set: /proc/self/status does not tell VmData");
}

}  // namespace

uint64_t parseBytes(const std::string& text) {
  constexpr std::string_view kUnits = "KMGT";
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const size_t unit = rest == end ? 0 : kUnits.find(*rest) + 1;  // also 0 if it is no unit
  const bool is_unit = rest == end || (rest + 1 == end && unit != 0);
  const int shift = static_cast<int>(10 * unit);
  const uint64_t most = UINT64_MAX >> 1 >> shift;
  BOXCAR_CHECK(!is_unit || error == std::errc::invalid_argument || (error == std::errc() && number <= most),
               "'{}' is more memory than any system has; write bytes, or a number followed by K, M, G or T: 512M",
               text);
  BOXCAR_CHECK(error == std::errc() && is_unit && number != 0,
               "'{}' is not a size of memory; write bytes, or a number followed by K, M, G or T: 512M", text);
  return number << shift;
}

std::string faultOfBytes(const std::string& text) {
  try {
    static_cast<void>(parseBytes(text));
    return {};
  } catch (const Error& error) {
    return error.message();
  }
}

void limitMemory(const std::string& size) {
  const uint64_t bytes = parseBytes(size);
  rlimit limit{};
  BOXCAR_CHECK(getrlimit(RLIMIT_DATA, &limit) == 0, "--max-memory cannot be set: {}", std::strerror(errno));
  const uint64_t wanted = dataInUse() + bytes;
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < wanted) return;  // the system is stricter already
  limit.rlim_cur = wanted;
  currentLimit() = size;
  BOXCAR_CHECK(setrlimit(RLIMIT_DATA, &limit) == 0, "--max-memory cannot be set: {}", std::strerror(errno));
}

void reportMemoryLimit(std::string_view reason) {
  if (currentLimit().empty() || !reason.starts_with("out of memory")) return;
  printError(coloured("note:", TextInk::Note, errorColours()) +
             fmt::format(" --max-memory {} is the limit; raise it, or keep less in memory\n", currentLimit()));
}

}  // namespace boxcar::cli
