#pragma once

#include <boxcar/dispatcher/plugin/plugin.h>

#include <cstdint>
#include <string>

namespace boxcar {

// A plugin's file, before any of its code has run.
struct PluginFile {
  PluginStamp stamp;
  std::string path;  // absolute, without symbolic links
  // Distinguishes the file from another one that replaces it.
  uint64_t device;
  uint64_t inode;
  int64_t modified;  // in nanoseconds

  bool isSameFileAs(const PluginFile& other) const noexcept {
    return device == other.device && inode == other.inode && modified == other.modified;
  }
};

// Reads the stamp of the plugin at [path] and checks it against this boxcar. Throws Error if the file is not a plugin,
// and says what it is; or if it was built for another boxcar, and says what differs.
PluginFile readPluginFile(const std::string& path);

}  // namespace boxcar
