#pragma once

#include <boxcar/interpreter/compiler/import_chain.h>
#include <boxcar/interpreter/runtime/module_loader.h>
#include <boxcar/interpreter/session/loaded_script.h>
#include <boxcar/interpreter/session/prepared_program.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace boxcar::interp {

// Finds imported scripts in files. A file is compiled once. It is loaded once per process, for as long as a program
// uses it: programs that import the same file share its operators and its constants.
class ModuleFiles final : public ModuleLoader {
 public:
  // [name]: the importing script's name. [prepared]: files that have other texts for this script alone.
  explicit ModuleFiles(const std::string& name, std::map<std::string, PreparedScript::File> prepared = {});

  const CodeUnit* load(const SourcePtr& source, std::string_view path, Span span, Diagnostics& diagnostics) override;

  // Returns the scripts that [unit] imports, loaded; null for plugins. Throws CompileError if [unit] was not compiled
  // here and one of them is wrong.
  // [known]: the unit's first modules, which are not files.
  std::vector<std::shared_ptr<LoadedScript>> modulesOf(const CodeUnit& unit,
                                                       std::vector<std::shared_ptr<LoadedScript>> known = {});

 private:
  const CodeUnit* compile(const ScriptFile& script, const SourcePtr& source, Span span, Diagnostics& diagnostics);
  std::shared_ptr<LoadedScript> loaded(const std::string& key);

  // Returns the text of the file, prepared where it is.
  SourcePtr sourceOf(const ScriptFile& script);

  // Only one program is loaded at a time.
  const std::unique_lock<std::recursive_mutex> lock_;
  ImportChain open_;
  const std::map<std::string, PreparedScript::File> prepared_;
  std::map<std::string, CodeUnit> compiled_;
  std::set<std::string> wrong_;  // files whose errors were reported
  std::map<std::string, std::shared_ptr<LoadedScript>> found_;
};

}  // namespace boxcar::interp
