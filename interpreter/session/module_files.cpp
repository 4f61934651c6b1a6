#include <boxcar/dispatcher/plugin/plugin.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/compiler/compile_unit.h>
#include <boxcar/interpreter/import/import_model.h>
#include <boxcar/interpreter/prepare/prepared_text.h>
#include <boxcar/interpreter/session/library_scripts.h>
#include <boxcar/interpreter/session/module_files.h>
#include <boxcar/interpreter/session/prepared_program.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/syntax/grammar.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>
#include <boxcar/ivalue/output_file.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

namespace boxcar::interp {
namespace {

std::recursive_mutex& loadMutex() {
  static std::recursive_mutex& mutex = *new std::recursive_mutex;
  return mutex;
}

// The files that programs have imported and still use.
std::map<std::string, std::weak_ptr<LoadedScript>>& loadedFiles() {
  static auto& files = *new std::map<std::string, std::weak_ptr<LoadedScript>>;
  return files;
}

std::string keyOf(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path key = std::filesystem::weakly_canonical(path, error);
  return error ? path.string() : key.string();
}

void loadPlugin(const std::string& key, const std::string& name) {
  Dispatcher& dispatcher = Dispatcher::singleton();
  const auto is_loaded = [&key](const PluginInfo& plugin) { return keyOf(plugin.path) == key; };
  if (std::ranges::any_of(dispatcher.plugins(), is_loaded)) return;
  BOXCAR_CHECK(
      !fileAccess().restricted(),
      "{} is a plugin, which a sandbox cannot restrict: load it with --plugin (in C++: Dispatcher::loadPlugin)", name);
  std::error_code error;
  BOXCAR_CHECK(
      std::filesystem::exists(key, error),
      "plugin {} cannot be opened: No such file or directory; the path is relative to the folder of the script", name);
  dispatcher.loadPlugin(name.find('/') == std::string::npos ? "./" + name : name);
}

std::string textOf(const std::string& key, const std::string& name) {
  if (const auto text = libraryText(key)) return std::string(*text);
  if (isModelPath(key)) return importModel(key);
  protectFile(key);
  if (!fileAccess().restricted()) {
    std::error_code error;
    const bool is_special = std::filesystem::exists(key, error) && !std::filesystem::is_regular_file(key, error) &&
                            !std::filesystem::is_directory(key, error);
    BOXCAR_CHECK(!is_special, "{}: cannot be read: it is not a regular file", name);
    return readFile(name == "-" ? "./-" : name);
  }
  return readWholeFile(key);
}

}  // namespace

ModuleFiles::ModuleFiles(const std::string& name, std::map<std::string, PreparedScript::File> prepared)
    : lock_(loadMutex()), prepared_(std::move(prepared)) {
  open_.push({keyOf(name), name});
}

SourcePtr ModuleFiles::sourceOf(const ScriptFile& script) {
  const auto prepared = prepared_.find(script.key);
  return Source::create(script.name,
                        prepared == prepared_.end() ? textOf(script.key, script.name) : prepared->second.text);
}

const CodeUnit* ModuleFiles::load(const SourcePtr& source, std::string_view path, Span span, Diagnostics& diagnostics) {
  const ScriptFile script = importedScript(source->name(), path);
  try {
    BOXCAR_CHECK(!path.empty(), "an import names a file, but this path is empty");
    if (wrong_.contains(script.key)) return nullptr;
    if (isPluginPath(path)) {
      loadPlugin(script.key, script.name);
      return nullptr;
    }
    return compile(script, source, span, diagnostics);
  } catch (const Error& error) {
    diagnostics.error(source, span, error.message());
    return nullptr;
  }
}

const CodeUnit* ModuleFiles::compile(const ScriptFile& script, const SourcePtr& source, Span span,
                                     Diagnostics& diagnostics) {
  if (const std::string cycle = open_.cycleAt(script); !cycle.empty()) {
    diagnostics.error(source, span, cycle);
    return nullptr;
  }
  if (const auto found = compiled_.find(script.key); found != compiled_.end()) return &found->second;
  if (const auto running = loaded(script.key)) return &running->executable().unit();

  SourcePtr text = sourceOf(script);
  const size_t errors_before = diagnostics.error_count();
  open_.push(script);
  if (isModelPath(script.key) && preparesImports()) text = Source::create(script.name, preparedText(text, this));
  CodeUnit unit;
  const syntax::SyntaxTree tree = syntax::parse(text, diagnostics);
  if (diagnostics.error_count() == errors_before) unit = compileUnit(tree, diagnostics, this);
  open_.pop();
  if (diagnostics.error_count() != errors_before) {
    diagnostics.error(source, span, fmt::format("{}, which is imported here, has errors", script.name));
    wrong_.insert(script.key);
    return nullptr;
  }
  return &compiled_.emplace(script.key, std::move(unit)).first->second;
}

// Returns the script of that file if a program already uses it.
std::shared_ptr<LoadedScript> ModuleFiles::loaded(const std::string& key) {
  const auto held = found_.find(key);
  if (held != found_.end()) return held->second;
  if (prepared_.contains(key)) return nullptr;
  const auto file = loadedFiles().find(key);
  if (file == loadedFiles().end()) return nullptr;
  std::shared_ptr<LoadedScript> script = file->second.lock();
  if (script != nullptr) {
    found_.emplace(key, script);
  } else {
    loadedFiles().erase(file);
  }
  return script;
}

std::vector<std::shared_ptr<LoadedScript>> ModuleFiles::modulesOf(const CodeUnit& unit,
                                                                  std::vector<std::shared_ptr<LoadedScript>> known) {
  std::vector<std::shared_ptr<LoadedScript>> modules = std::move(known);
  for (const CodeModule& module : std::span(unit.modules).subspan(modules.size())) {
    const ScriptFile script = importedScript(unit.source->name(), module.path);
    if (isPluginPath(module.path)) {
      loadPlugin(script.key, script.name);  // a unit compiled elsewhere may not have loaded it
      modules.push_back(nullptr);
      continue;
    }
    // With an alias, the importing script has the file's constants to itself.
    const bool is_own = !module.alias.empty();
    std::shared_ptr<LoadedScript> found = is_own ? nullptr : loaded(script.key);
    if (found == nullptr) {
      Diagnostics diagnostics;
      const CodeUnit* code = compile(script, unit.source, module.span, diagnostics);
      diagnostics.throwIfErrors();
      BOXCAR_INTERNAL_ASSERT(code != nullptr);
      open_.push(script);
      found = std::make_shared<LoadedScript>(*code, modulesOf(*code));
      open_.pop();
      if (!is_own) {
        if (!prepared_.contains(script.key)) loadedFiles()[script.key] = found;
        found_.emplace(script.key, found);
      }
    }
    modules.push_back(std::move(found));
  }
  return modules;
}

}  // namespace boxcar::interp
