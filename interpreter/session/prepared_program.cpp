#include <boxcar/interpreter/prepare/prepared_text.h>
#include <boxcar/interpreter/session/module_files.h>
#include <boxcar/interpreter/session/prepared_program.h>
#include <boxcar/interpreter/session/program.h>

#include <atomic>
#include <deque>
#include <utility>

namespace boxcar::interp {
namespace {

std::atomic<bool> prepares_imports = true;

}  // namespace

void setPreparesImports(bool prepares) noexcept { prepares_imports = prepares; }
bool preparesImports() noexcept { return prepares_imports; }

std::string prepareScript(std::string text, std::string name, const std::vector<std::string>& rules) {
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
  return preparedText(source, &files, all);
}

}  // namespace boxcar::interp
