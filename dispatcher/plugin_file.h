#pragma once

#include <boxcar/dispatcher/plugin.h>

#include <cstdint>
#include <string>

namespace boxcar {

// A plugin's file, of which nothing has run yet.
struct PluginFile {
  PluginStamp stamp;
  std::string path;  // absolute, without symbolic links
  // Tells the file from another one that is put in its place.
  uint64_t device;
  uint64_t inode;
  int64_t modified;  // in nanoseconds

  bool isSameFileAs(const PluginFile& other) const noexcept {
    return device == other.device && inode == other.inode && modified == other.modified;
  }
};

// Reads the stamp of the plugin at [path] and checks it against this boxcar. An Error says what the file is where it is
// no plugin, and what differs where it was built for another boxcar.
PluginFile readPluginFile(const std::string& path);

}  // namespace boxcar
