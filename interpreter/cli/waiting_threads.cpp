#include <boxcar/interpreter/cli/waiting_threads.h>

#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace boxcar::cli {
namespace {

// 30 to 100 microseconds, after which the teams of a model that has the cores to itself have met again.
char spin_count[] = "GOMP_SPINCOUNT=2000";

char* borrowed = nullptr;  // what the entry of the environment is that has spin_count

#ifdef __GLIBC__
// libgomp reads its settings when it is loaded, which is before the first constructor of a program. Only this array's
// functions run earlier, and then setenv() has no effect yet. So the setting takes the place of a variable that no
// library reads.
void setSpinCount(int /*argc*/, char** /*argv*/, char** environment) {
  const auto isOneOf = [](const char* entry, std::initializer_list<std::string_view> names) {
    return std::ranges::any_of(names, [&](std::string_view name) {
      return *entry == name.front() && std::string_view(entry).starts_with(name);
    });
  };
  char** place = nullptr;
  for (char** entry = environment; *entry != nullptr; ++entry) {
    if (isOneOf(*entry, {"GOMP_SPINCOUNT=", "OMP_WAIT_POLICY="})) return;
    if (isOneOf(*entry, {"_=", "OLDPWD=", "SHLVL=", "HOSTNAME=", "LOGNAME=", "USER=", "PWD=", "HOME="})) place = entry;
  }
  if (place != nullptr) borrowed = std::exchange(*place, spin_count);
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const kBeforeLibraries)(int, char**, char**) = setSpinCount;
#endif

}  // namespace

void restoreEnvironment() {
  // A constructor that sets a variable may have moved the entries.
  for (char** entry = environ; borrowed != nullptr && *entry != nullptr; ++entry) {
    if (*entry == spin_count) *entry = std::exchange(borrowed, nullptr);
  }
}

}  // namespace boxcar::cli
