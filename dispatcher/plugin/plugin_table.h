#pragma once

#include <boxcar/dispatcher/plugin/plugin_file.h>

#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <vector>

namespace boxcar {

// The plugins of the process: the loaded ones, and the unloaded ones, whose code stays.
class PluginTable final {
 public:
  // [registrations] is the Dispatcher's lock; plugins register under it.
  explicit PluginTable(std::recursive_mutex& registrations) : registrations_(registrations) {}

  // They implement the Dispatcher's loadPlugin, unloadPlugin and plugins.
  PluginInfo load(const std::string& path);
  void unload(const std::string& name_or_path);
  std::vector<PluginInfo> list() const;

 private:
  struct Plugin {
    PluginInfo info;
    PluginFile file;
    void* handle;
    // Static constructors link the blocks only once, when the code is mapped, so the blocks are kept for the next load.
    std::vector<const detail::LibraryBlock*> blocks;
    std::deque<Library> libraries;
    bool is_loaded = false;
  };
  using Plugins = std::list<Plugin>;

  Plugins::iterator open(const PluginFile& file, const std::string& path);
  void registerAll(Plugin& plugin, const std::string& path);
  static void removeAll(Plugin& plugin) noexcept;

  // Held while the system loader maps a plugin and runs its static constructors. The Dispatcher's lock is not held
  // then: constructors of other libraries on another thread may wait for it while they hold the loader's lock.
  std::recursive_mutex opening_;
  std::recursive_mutex& registrations_;
  // Changed under both locks; opening_ is always taken first. Loaded plugins come after the others, in load order.
  Plugins plugins_;
};

}  // namespace boxcar
