#include <boxcar/dispatcher/registry/registration_site.h>
#include <fmt/format.h>

#include <mutex>
#include <set>

namespace boxcar {

RegistrationSite RegistrationSite::ofScript(const std::string& file, uint32_t line) {
  static std::mutex mutex;
  static std::set<std::string> files;
  const std::lock_guard lock(mutex);
  return {files.insert(file).first->c_str(), line, true};
}

bool RegistrationSite::operator==(const RegistrationSite& other) const noexcept {
  return line == other.line && std::string_view(file) == other.file;
}

std::string toString(const RegistrationSite& site) { return fmt::format("{}:{}", site.file, site.line); }

}  // namespace boxcar
