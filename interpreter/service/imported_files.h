#pragma once

#include <boxcar/interpreter/compiler/import_chain.h>
#include <boxcar/interpreter/runtime/module_loader.h>
#include <boxcar/interpreter/service/workspace.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace boxcar::service {

// Compiles what a text imports and registers nothing. For a file that is being edited, it takes the text from the
// editor. It loads no plugins, since their code would run: plugins that are not loaded already count as missing.
class ImportedFiles final : public interp::ModuleLoader {
 public:
  // [name]: the text's name. [workspace] must outlive this.
  ImportedFiles(const std::string& name, const Workspace& workspace);

  const interp::CodeUnit* load(const SourcePtr& source, std::string_view path, Span span,
                               Diagnostics& diagnostics) override;

  // Returns whether [diagnostic] only says that a plugin is missing.
  bool isAboutPlugin(const Diagnostic& diagnostic) const;

  // Returns the path of the file that [source] imports as [path]: absolute, without symbolic links.
  static std::string pathOf(const Source& source, std::string_view path);
  // Returns a file's text: as it is being edited, or from the disk. Throws Error.
  std::string textOf(const std::string& path, const std::string& name) const;

  // All compiled files, by their absolute paths.
  const std::map<std::string, interp::CodeUnit>& units() const noexcept { return compiled_; }

 private:
  const interp::CodeUnit* compile(const interp::ScriptFile& file, const SourcePtr& source, Span span,
                                  Diagnostics& diagnostics);
  void reportPlugin(const SourcePtr& source, Span span, std::string message, Diagnostics& diagnostics);

  const Workspace& workspace_;
  interp::ImportChain open_;
  std::map<std::string, interp::CodeUnit> compiled_;
  std::set<std::string> wrong_;
  std::vector<Location> plugins_;  // where a missing plugin is reported
};

}  // namespace boxcar::service
