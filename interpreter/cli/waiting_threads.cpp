#include <boxcar/interpreter/cli/waiting_threads.h>

#include <unistd.h>

#include <string_view>
#include <utility>

namespace boxcar::cli {
namespace {

// 30 to 100 microseconds, after which the teams of a model that has the cores to itself have met again.
char spin_count[] = "GOMP_SPINCOUNT=2000";

char* borrowed = nullptr;  // what the entry of the environment is that has spin_count

#ifdef __GLIBC__
bool isSet(char** environment, std::string_view name) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) return true;
  }
  return false;
}

// libgomp reads its settings when it is loaded, which is before the first constructor of a program. Only this array's
// functions run earlier, and then setenv() has no effect yet. So the setting takes the place of a variable that no
// library reads.
void setSpinCount(int /*argc*/, char** /*argv*/, char** environment) {
  if (isSet(environment, "GOMP_SPINCOUNT") || isSet(environment, "OMP_WAIT_POLICY")) return;
  for (const std::string_view name : {"_=", "OLDPWD=", "SHLVL=", "HOSTNAME=", "LOGNAME=", "USER=", "PWD=", "HOME="}) {
    for (char** entry = environment; *entry != nullptr; ++entry) {
      if (!std::string_view(*entry).starts_with(name)) continue;
      borrowed = std::exchange(*entry, spin_count);
      return;
    }
  }
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
