#include <boxcar/dispatcher/plugin/plugin_table.h>
#include <boxcar/dispatcher/registry/read_block.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

// An address that distinguishes the copies of boxcar in a process.
extern "C" BOXCAR_API const void* boxcar_home() noexcept {
  static constexpr char kMark = 0;
  return &kMark;
}

namespace boxcar {
namespace {

// "plugin 'sample' (build/libsample.so)".
std::string describe(const PluginInfo& info, const std::string& path) {
  return fmt::format("plugin '{}' ({})", info.name, path);
}

PluginInfo infoOf(const PluginFile& file) {
  return {std::string(file.stamp.name.view()), std::string(file.stamp.version.view()), file.path};
}

// Returns the handle of the library already mapped from [path]; null if there is none.
void* findMapped(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle;
}

// Whether the plugin brought its own libboxcar.so into a program that already contains boxcar.
bool bringsAnotherBoxcar(void* handle) {
  const auto home = reinterpret_cast<decltype(&boxcar_home)>(dlsym(handle, "boxcar_home"));
  return home != nullptr && home() != boxcar_home();
}

}  // namespace

PluginTable::Plugins::iterator PluginTable::open(const PluginFile& file, const std::string& path) {
  const PluginInfo info = infoOf(file);
  if (void* mapped = findMapped(file.path)) {
    const auto known = std::ranges::find(plugins_, mapped, &Plugin::handle);
    BOXCAR_CHECK(known != plugins_.end(),
                 "{} is already part of the program, which was linked with it or opened it; its operators are there "
                 "without loading",
                 describe(info, path));
    BOXCAR_CHECK(!known->is_loaded, "{} is already loaded; unload it first to load it again", describe(info, path));
    BOXCAR_CHECK(known->file.isSameFileAs(file),
                 "{} has changed since it was first loaded, but the code of an unloaded plugin stays in memory; "
                 "restart the program to load the new one",
                 describe(info, path));
    return known;
  }
  detail::LibraryCapture capture;
  void* handle = dlopen(file.path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* reason = dlerror();
    BOXCAR_FAIL("{} cannot be loaded: {}; check with `ldd` whether its libraries are there", describe(info, path),
                reason);
  }
  const std::lock_guard lock(registrations_);
  Plugin& plugin = plugins_.emplace_front();
  plugin.info = info;
  plugin.file = file;
  plugin.handle = handle;
  for (const auto* block = capture.take(); block != nullptr; block = block->next) plugin.blocks.push_back(block);
  return plugins_.begin();
}

void PluginTable::removeAll(Plugin& plugin) noexcept {
  // Newest first, as if the blocks had never been read. Without the Dispatcher's lock: kernels' states are destroyed,
  // and may wait for a thread that looks up an operator.
  while (!plugin.libraries.empty()) plugin.libraries.pop_back();
}

void PluginTable::registerAll(Plugin& plugin, const std::string& path) {
  try {
    const std::lock_guard lock(registrations_);
    for (const detail::LibraryBlock* block : plugin.blocks) detail::readBlock(*block, plugin.libraries);
    plugin.is_loaded = true;
  } catch (const Error& error) {
    removeAll(plugin);
    BOXCAR_FAIL("{} is not loaded, and nothing of it is registered, because one of its registrations failed:\n{}",
                describe(plugin.info, path), error.message());
  }
}

PluginInfo PluginTable::load(const std::string& path) {
  const std::lock_guard opening(opening_);
  const PluginFile file = readPluginFile(path);
  const PluginInfo info = infoOf(file);
  const auto namesake = std::ranges::find_if(plugins_, [&](const Plugin& plugin) {
    return plugin.is_loaded && plugin.info.name == info.name && plugin.info.path != info.path;
  });
  BOXCAR_CHECK(namesake == plugins_.end(),
               "{} is not loaded, because another plugin of that name is, from {}; unload that one first",
               describe(info, path), namesake->info.path);
  const auto plugin = open(file, path);
  BOXCAR_CHECK(!bringsAnotherBoxcar(plugin->handle),
               "{} is linked with libboxcar.so, but this program contains boxcar; build the plugin with the static "
               "package, which uses the program's",
               describe(info, path));
  registerAll(*plugin, path);
  const std::lock_guard lock(registrations_);
  plugins_.splice(plugins_.end(), plugins_, plugin);
  return plugin->info;
}

void PluginTable::unload(const std::string& name_or_path) {
  const std::lock_guard opening(opening_);
  std::unique_lock lock(registrations_);
  const std::unique_ptr<char, decltype(&std::free)> path(realpath(name_or_path.c_str(), nullptr), &std::free);
  const auto plugin = std::ranges::find_if(plugins_, [&](const Plugin& candidate) {
    return candidate.is_loaded && (candidate.info.name == name_or_path || candidate.info.path == name_or_path ||
                                   (path != nullptr && candidate.info.path == path.get()));
  });
  if (plugin == plugins_.end()) {
    std::vector<std::string_view> names;
    for (const Plugin& candidate : plugins_) {
      if (candidate.is_loaded) names.push_back(candidate.info.name);
    }
    BOXCAR_FAIL("plugin {} cannot be unloaded, because it is not loaded; {}{}", pythonStringRepr(name_or_path),
                names.empty() ? "no plugin is" : fmt::format("loaded are: {}.", fmt::join(names, ", ")),
                didYouMean(name_or_path, names));
  }
  plugin->is_loaded = false;
  lock.unlock();
  removeAll(*plugin);
}

std::vector<PluginInfo> PluginTable::list() const {
  const std::lock_guard lock(registrations_);
  std::vector<PluginInfo> infos;
  for (const Plugin& plugin : plugins_) {
    if (plugin.is_loaded) infos.push_back(plugin.info);
  }
  return infos;
}

}  // namespace boxcar
