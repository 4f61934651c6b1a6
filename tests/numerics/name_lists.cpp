#include "tests/numerics/name_lists.h"

#include <boxcar/ivalue/error.h>

#include <fstream>
#include <map>
#include <mutex>
#include <utility>

namespace boxcar::numerics {
namespace {

std::string list_folder = std::string(BOXCAR_NUMERICS_DATA) + "/..";

}  // namespace

void setListFolder(std::string folder) { list_folder = std::move(folder); }

const std::set<std::string>& namesIn(const std::string& file_name) {
  static std::mutex mutex;
  static std::map<std::string, std::set<std::string>> lists;
  const std::lock_guard lock(mutex);
  const auto [list, is_new] = lists.try_emplace(file_name);
  if (!is_new) return list->second;
  const std::string path = list_folder + "/" + file_name;
  std::ifstream file(path);
  BOXCAR_CHECK(file.good(), "cannot read '{}'", path);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && !line.starts_with('#')) list->second.insert(line.substr(0, line.find(' ')));
  }
  return list->second;
}

}  // namespace boxcar::numerics
