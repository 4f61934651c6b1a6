#pragma once

#include <boxcar/interpreter/runtime/module_loader.h>
#include <boxcar/interpreter/service/workspace.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace boxcar::service {

// Compiles what a text imports and registers nothing. Of files that are being edited it takes the text as it is there.
// Plugins, whose code would run, are not loaded: those that are not loaded already count as missing.
class ImportedFiles final : public interp::ModuleLoader {
 public:
  // [name] is the text's. [workspace] stays longer than this.
  ImportedFiles(const std::string& name, const Workspace& workspace);

  const interp::CodeUnit* load(const SourcePtr& source, std::string_view path, Span span,
                               Diagnostics& diagnostics) override;

  // Whether [diagnostic] only says that a plugin is missing.
  bool isAboutPlugin(const Diagnostic& diagnostic) const;

  // Where the file that [source] imports as [path] lies; absolute, without symbolic links.
  static std::string pathOf(const Source& source, std::string_view path);
  // A file's text: as it is edited, or on the disk. Throws Error.
  std::string textOf(const std::string& path, const std::string& name) const;

  // All that were compiled, by their absolute paths.
  const std::map<std::string, interp::CodeUnit>& units() const noexcept { return compiled_; }

 private:
  struct File {
    std::string path;
    std::string name;  // what messages call it
  };
  const interp::CodeUnit* compile(const File& file, const SourcePtr& source, Span span, Diagnostics& diagnostics);
  void reportPlugin(const SourcePtr& source, Span span, std::string message, Diagnostics& diagnostics);

  const Workspace& workspace_;
  std::vector<File> open_;  // being compiled, the outermost first
  std::map<std::string, interp::CodeUnit> compiled_;
  std::set<std::string> wrong_;
  std::vector<Location> plugins_;  // where it is reported that one is missing
};

}  // namespace boxcar::service
