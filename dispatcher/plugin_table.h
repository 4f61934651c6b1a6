#pragma once

#include <boxcar/dispatcher/plugin_file.h>

#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <vector>

namespace boxcar {

// The plugins of the process: those that are loaded, and those that were, whose code stays.
class PluginTable final {
 public:
  // [registrations] is the Dispatcher's lock, under which plugins register.
  explicit PluginTable(std::recursive_mutex& registrations) : registrations_(registrations) {}

  // What the Dispatcher promises of loadPlugin, unloadPlugin and plugins.
  PluginInfo load(const std::string& path);
  void unload(const std::string& name_or_path);
  std::vector<PluginInfo> list() const;

 private:
  struct Plugin {
    PluginInfo info;
    PluginFile file;
    void* handle;
    // Static constructors link the blocks once, when the code is mapped: they are kept for the next load.
    std::vector<const detail::LibraryBlock*> blocks;
    std::deque<Library> libraries;
    bool is_loaded = false;
  };
  using Plugins = std::list<Plugin>;

  Plugins::iterator open(const PluginFile& file, const std::string& path);
  void registerAll(Plugin& plugin, const std::string& path);
  static void removeAll(Plugin& plugin) noexcept;

  // Held while the system maps a plugin and runs its static constructors; the Dispatcher's lock is not, for
  // constructors of other libraries may wait for it in another thread while they keep the system's.
  std::recursive_mutex opening_;
  std::recursive_mutex& registrations_;
  // Changed under both locks; opening_ is taken before the other, never the other way. Loaded ones stand behind the
  // others, in the order of loading.
  Plugins plugins_;
};

}  // namespace boxcar
