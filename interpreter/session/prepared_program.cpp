#include <boxcar/interpreter/import/import_model.h>
#include <boxcar/interpreter/prepare/prepared_text.h>
#include <boxcar/interpreter/prepare/text_edit.h>
#include <boxcar/interpreter/session/library_scripts.h>
#include <boxcar/interpreter/session/module_files.h>
#include <boxcar/interpreter/session/prepared_program.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/syntax/grammar.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <set>
#include <utility>

namespace boxcar::interp {
namespace {

std::atomic<bool> prepares_imports = true;

std::vector<const syntax::Import*> importsOf(const syntax::SyntaxTree& tree) {
  std::vector<const syntax::Import*> imports;
  for (const syntax::StmtPtr& statement : tree.statements) {
    const auto* import = boost::variant2::get_if<syntax::Import>(&statement->node);
    if (import != nullptr) imports.push_back(import);
  }
  return imports;
}

// Whether [path] may be a script with text of its own: no plugin, no model, and none of the library.
bool isScriptFile(std::string_view path, const ScriptFile& file) {
  return !isPluginPath(path) && !isModelPath(file.key) && !libraryText(file.key);
}

// Prepares the files that a script imports.
class ImportedFiles final {
 public:
  ImportedFiles(ModuleFiles& files, const std::vector<const Rules*>& rules) : files_(files), rules_(rules) {}

  // Prepares what [source] imports. Returns whether one of these files is another one then.
  bool prepareImportsOf(const SourcePtr& source) {
    Diagnostics diagnostics;
    const syntax::SyntaxTree tree = syntax::parse(source, diagnostics);
    bool has_changed = false;
    for (const syntax::Import* import : importsOf(tree)) {
      const ScriptFile file = importedScript(source->name(), import->path);
      if (!isScriptFile(import->path, file)) continue;
      if (!seen_.contains(file.key)) {
        const CodeUnit* unit = files_.load(source, import->path, import->path_span, diagnostics);
        diagnostics.throwIfErrors();
        seen_.insert(file.key);
        prepare(file, *unit);
      }
      has_changed = has_changed || prepared.contains(file.key);
    }
    return has_changed;
  }

  // Marks what [unit] imports as files that stay.
  void keepImportsOf(const CodeUnit& unit) {
    Diagnostics diagnostics;
    for (const CodeModule& module : unit.modules) {
      const ScriptFile file = importedScript(unit.source->name(), module.path);
      if (!isScriptFile(module.path, file) || !seen_.insert(file.key).second) continue;
      const CodeUnit* imported = files_.load(unit.source, module.path, module.span, diagnostics);
      diagnostics.throwIfErrors();
      keepImportsOf(*imported);
    }
  }

  // Marks the files that stay: those that define operators or handlers, of which a process has one, and what they
  // import, since both must mean the same structs. Goes before prepareImportsOf().
  void keepThoseWithOperators(const SourcePtr& source, const std::vector<std::pair<std::string, Span>>& imports) {
    Diagnostics diagnostics;
    for (const auto& [path, span] : imports) {
      const ScriptFile file = importedScript(source->name(), path);
      if (!isScriptFile(path, file) || !walked_.insert(file.key).second) continue;
      const CodeUnit* unit = files_.load(source, path, span, diagnostics);
      diagnostics.throwIfErrors();
      if (!unit->operators.empty() ||
          std::ranges::any_of(unit->handlers, [](const CodeHandler& each) { return each.kind != HandlerKind::Mode; })) {
        seen_.insert(file.key);
        keepImportsOf(*unit);
      }
      std::vector<std::pair<std::string, Span>> further;
      for (const CodeModule& module : unit->modules) further.emplace_back(module.path, module.span);
      keepThoseWithOperators(unit->source, further);
    }
  }

  std::map<std::string, PreparedScript::File> prepared;

 private:
  void prepare(const ScriptFile& file, const CodeUnit& unit) {
    const bool imports_changed = prepareImportsOf(unit.source);
    std::string text = preparedText(unit.source, &files_, rules_, ScriptRole::Imported);
    if (imports_changed || text != unit.source->text())
      prepared.emplace(file.key, PreparedScript::File{file.name, text});
  }

  ModuleFiles& files_;
  const std::vector<const Rules*>& rules_;
  std::set<std::string> seen_;
  std::set<std::string> walked_;
};

// Returns [text], of the script called [name], with other paths for the imports in [names], by key.
std::string withImports(const std::string& text, const std::string& name,
                        const std::map<std::string, std::string>& names) {
  Diagnostics diagnostics;
  const syntax::SyntaxTree tree = syntax::parse(Source::create(name, text), diagnostics);
  std::vector<Edit> edits;
  for (const syntax::Import* import : importsOf(tree)) {
    const auto found = names.find(importedScript(name, import->path).key);
    if (found == names.end()) continue;
    const std::filesystem::path path(import->path);
    edits.push_back({import->path_span, fmt::format("\"{}\"", (path.parent_path() / found->second).string())});
  }
  return edited(text, std::move(edits));
}

}  // namespace

void setPreparesImports(bool prepares) noexcept { prepares_imports = prepares; }
bool preparesImports() noexcept { return prepares_imports; }

PreparedScript prepareScript(std::string text, std::string name, const std::vector<std::string>& rules) {
  ModuleFiles files(name);
  std::deque<ModuleFiles> files_of_rules;
  std::deque<Rules> read;
  std::vector<const Rules*> all;
  for (const std::string& path : rules) {
    ModuleFiles& each = files_of_rules.emplace_back(path);
    all.push_back(&read.emplace_back(Source::create(nameOfFile(path), readFile(path)), &each));
  }
  const SourcePtr source = Source::create(std::move(name), std::move(text));
  Diagnostics diagnostics;
  if (TypedScript::infer(source, diagnostics, &files) == nullptr) diagnostics.throwIfErrors();
  ImportedFiles imported(files, all);
  const syntax::SyntaxTree tree = syntax::parse(source, diagnostics);
  std::vector<std::pair<std::string, Span>> imports;
  for (const syntax::Import* import : importsOf(tree)) imports.emplace_back(import->path, import->path_span);
  imported.keepThoseWithOperators(source, imports);
  imported.prepareImportsOf(source);
  return {preparedText(source, &files, all), std::move(imported.prepared)};
}

std::vector<PreparedScript::File> filesOf(const PreparedScript& prepared, const std::string& name,
                                          const std::string& output) {
  namespace fs = std::filesystem;
  const std::string stem = fs::path(output).stem().string();
  std::map<std::string, std::string> names;
  for (const auto& [key, file] : prepared.imports) {
    const fs::path path(file.name);
    names.emplace(key, fmt::format("{}.{}{}", path.stem().string(), stem, path.extension().string()));
  }
  std::vector<PreparedScript::File> files = {{output, withImports(prepared.text, name, names)}};
  for (const auto& [key, file] : prepared.imports) {
    const fs::path path(file.name);
    std::string text = fmt::format("{}: {}, prepared, for {}.\n{}", kPreparedFileLine, path.filename().string(),
                                   fs::path(output).filename().string(), withImports(file.text, file.name, names));
    files.push_back({(path.parent_path() / names.at(key)).string(), std::move(text)});
  }
  return files;
}

}  // namespace boxcar::interp
