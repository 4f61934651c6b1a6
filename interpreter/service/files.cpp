#include <boxcar/interpreter/service/files.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace boxcar::service {

std::vector<std::string> filesThatBegin(std::string_view written, const std::string& folder,
                                        std::span<const std::string_view> endings) {
  namespace fs = std::filesystem;
  const std::string_view begun = written.substr(lastPart(written));
  fs::path place = fs::path(folder) / written.substr(0, lastPart(written));
  if (place.empty()) place = ".";
  std::vector<std::string> found;
  std::error_code error;
  fs::directory_iterator entry(place, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (!name.starts_with(begun) || (name.starts_with('.') && begun.empty())) continue;
    std::error_code status;
    const bool is_folder = entry->is_directory(status);
    const auto ends = [&name](std::string_view ending) { return name.ends_with(ending); };
    if (!is_folder && !endings.empty() && std::ranges::none_of(endings, ends)) continue;
    if (is_folder) name += '/';
    found.push_back(std::move(name));
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace boxcar::service
