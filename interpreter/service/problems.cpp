#include <boxcar/interpreter/compiler/compile_unit.h>
#include <boxcar/interpreter/service/imported_files.h>
#include <boxcar/interpreter/service/problems.h>
#include <boxcar/interpreter/syntax/grammar.h>

namespace boxcar::service {

std::vector<Problem> problems(std::string text, const std::string& name, const Workspace& workspace) {
  Diagnostics diagnostics;
  ImportedFiles files(name, workspace);
  const syntax::SyntaxTree tree = syntax::parse(Source::create(name, std::move(text)), diagnostics);
  if (!diagnostics.hasErrors()) interp::compileUnit(tree, diagnostics, &files);
  std::vector<Problem> result;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.source != tree.source) continue;  // the import's own message says so
    Problem::Level level = diagnostic.severity == Severity::Error ? Problem::Level::Error : Problem::Level::Warning;
    if (files.isAboutPlugin(diagnostic)) level = Problem::Level::Information;
    result.push_back({level, diagnostic});
  }
  return result;
}

}  // namespace boxcar::service
