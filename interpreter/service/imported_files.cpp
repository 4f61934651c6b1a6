#include <boxcar/dispatcher/plugin/plugin.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/compiler/compile_unit.h>
#include <boxcar/interpreter/import/import_model.h>
#include <boxcar/interpreter/service/imported_files.h>
#include <boxcar/interpreter/session/library_scripts.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/syntax/grammar.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace boxcar::service {

using interp::CodeUnit;

namespace {

std::string absolutePath(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path result = std::filesystem::weakly_canonical(path, error);
  return error ? path.string() : result.string();
}

bool isLoaded(const std::string& path) {
  const std::vector<PluginInfo> plugins = Dispatcher::singleton().plugins();
  return std::ranges::any_of(plugins, [&path](const PluginInfo& plugin) { return absolutePath(plugin.path) == path; });
}

}  // namespace

ImportedFiles::ImportedFiles(const std::string& name, const Workspace& workspace) : workspace_(workspace) {
  open_.push({absolutePath(name), name});
}

std::string ImportedFiles::pathOf(const Source& source, std::string_view path) {
  return interp::importedScript(source.name(), path).key;
}

std::string ImportedFiles::textOf(const std::string& path, const std::string& name) const {
  if (const auto text = interp::libraryText(path)) return std::string(*text);
  if (interp::isModelPath(path)) return interp::importModel(path);
  if (workspace_.open_text) {
    if (std::optional<std::string> text = workspace_.open_text(path)) return *std::move(text);
  }
  std::error_code error;
  const bool is_special = std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error) &&
                          !std::filesystem::is_directory(path, error);
  BOXCAR_CHECK(!is_special, "{}: cannot be read: it is not a regular file", name);
  return interp::readFile(name == "-" ? "./-" : name);
}

void ImportedFiles::reportPlugin(const SourcePtr& source, Span span, std::string message, Diagnostics& diagnostics) {
  diagnostics.error(source, span, std::move(message));
  plugins_.push_back({source, span});
}

bool ImportedFiles::isAboutPlugin(const Diagnostic& diagnostic) const {
  return std::ranges::any_of(plugins_, [&diagnostic](const Location& place) {
    return place.source == diagnostic.source && place.span == diagnostic.span;
  });
}

const CodeUnit* ImportedFiles::load(const SourcePtr& source, std::string_view path, Span span,
                                    Diagnostics& diagnostics) {
  const interp::ScriptFile file = interp::importedScript(source->name(), path);
  try {
    BOXCAR_CHECK(!path.empty(), "an import names a file, but this path is empty");
    if (wrong_.contains(file.key)) return nullptr;
    if (!interp::isPluginPath(path)) return compile(file, source, span, diagnostics);
    if (!isLoaded(file.key)) {
      reportPlugin(source, span,
                   fmt::format("{} is a plugin, which is not loaded for a file in an editor; names are not checked "
                               "without its operators. `boxcar --plugin {} lsp` loads it",
                               file.name, file.key),
                   diagnostics);
    }
  } catch (const Error& error) {
    diagnostics.error(source, span, error.message());
  }
  return nullptr;
}

const CodeUnit* ImportedFiles::compile(const interp::ScriptFile& file, const SourcePtr& source, Span span,
                                       Diagnostics& diagnostics) {
  if (const std::string cycle = open_.cycleAt(file); !cycle.empty()) {
    diagnostics.error(source, span, cycle);
    return nullptr;
  }
  if (const auto found = compiled_.find(file.key); found != compiled_.end()) return &found->second;

  const SourcePtr text = Source::create(file.name, textOf(file.key, file.name));
  const size_t before = diagnostics.size();
  const size_t errors_before = diagnostics.error_count();
  open_.push(file);
  CodeUnit unit;
  const syntax::SyntaxTree tree = syntax::parse(text, diagnostics);
  if (diagnostics.error_count() == errors_before) unit = interp::compileUnit(tree, diagnostics, this);
  open_.pop();
  if (diagnostics.error_count() == errors_before) return &compiled_.emplace(file.key, std::move(unit)).first->second;

  wrong_.insert(file.key);
  const auto isReal = [this](const Diagnostic& d) { return d.severity == Severity::Error && !isAboutPlugin(d); };
  const auto& all = diagnostics.all();
  const auto real = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(before), all.end(), isReal);
  if (real == all.end()) {
    reportPlugin(
        source, span,
        fmt::format("{} imports a plugin that is not loaded; names are not checked without its operators", file.name),
        diagnostics);
    return nullptr;
  }
  const Diagnostic why = *real;  // NOLINT(performance-unnecessary-copy-initialization): the next one moves it
  diagnostics.error(source, span, fmt::format("{}, which is imported here, has errors", file.name))
      .note(why.message, why.source, why.span);
  return nullptr;
}

}  // namespace boxcar::service
