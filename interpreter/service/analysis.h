#pragma once

#include <boxcar/interpreter/compiler/declarations.h>
#include <boxcar/interpreter/compiler/findings.h>
#include <boxcar/interpreter/service/imported_files.h>
#include <boxcar/interpreter/service/known_variable.h>
#include <boxcar/interpreter/service/workspace.h>
#include <boxcar/interpreter/syntax/ast.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace boxcar::service {

// A text that may be broken, understood as far as it can be: what it declares, and the types that it has where. What is
// wrong in it is for diagnose().
class Analysis {
 public:
  // [name] is the text's path, from whose folder its imports start. [workspace] stays longer than this.
  Analysis(std::string text, const std::string& name, const Workspace& workspace,
           std::span<const KnownVariable> known = {});

  const SourcePtr& source() const noexcept { return tree_.source; }
  const syntax::SyntaxTree& tree() const noexcept { return tree_; }
  interp::Declarations& declarations() const noexcept { return *declarations_; }
  const interp::Findings& findings() const noexcept { return findings_; }
  const ImportedFiles& files() const noexcept { return files_; }

  // The function or the body that [offset] lies in; null for the script's statements.
  const interp::ScriptFunction* functionAt(uint32_t offset) const;
  // The expression of just this span, or null.
  const interp::Findings::Value* valueAt(Span span) const;
  // The assignments of the variable that [name] is at [offset], in the order of the text.
  std::vector<interp::Findings::Assignment> assignmentsOf(std::string_view name, uint32_t offset) const;

 private:
  ImportedFiles files_;
  Diagnostics unused_;
  syntax::SyntaxTree tree_;
  std::unique_ptr<interp::Declarations> declarations_;
  interp::Findings findings_;
};

}  // namespace boxcar::service
