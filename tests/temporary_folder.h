#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace boxcar {

// A folder for the files of one test, deleted with this object. Its path contains no links.
class TemporaryFolder final {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::canonical(std::filesystem::temp_directory_path()) / "boxcar_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::filesystem::filesystem_error("mkdtemp", name, {});
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

  // Writes the file [name] and creates the folders on its path.
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void link(const std::string& name, const std::string& target) const {
    std::filesystem::create_symlink(target, path_ / name);
  }
  size_t count(const std::string& folder) const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_ / folder), {}));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace boxcar
