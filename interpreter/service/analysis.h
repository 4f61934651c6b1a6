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

// A text that may be broken, understood as far as possible: what it declares, and which types it has where. problems()
// reports what is wrong in it.
class Analysis {
 public:
  // [name]: the text's path; its imports start from that path's folder. [workspace] must outlive this.
  Analysis(std::string text, const std::string& name, const Workspace& workspace,
           std::span<const KnownVariable> known = {});

  const SourcePtr& source() const noexcept { return tree_.source; }
  const syntax::SyntaxTree& tree() const noexcept { return tree_; }
  interp::Declarations& declarations() const noexcept { return *declarations_; }
  const interp::Findings& findings() const noexcept { return findings_; }
  const ImportedFiles& files() const noexcept { return files_; }

  // Returns the function or the body that contains [offset]; null for the script's statements.
  const interp::ScriptFunction* functionAt(uint32_t offset) const;
  // Returns the expression with exactly this span, or null.
  const interp::Findings::Value* valueAt(Span span) const;
  // Returns the assignments of the variable that [name] denotes at [offset], in the order of the text.
  std::vector<interp::Findings::Assignment> assignmentsOf(std::string_view name, uint32_t offset) const;

 private:
  ImportedFiles files_;
  Diagnostics unused_;
  syntax::SyntaxTree tree_;
  std::unique_ptr<interp::Declarations> declarations_;
  interp::Findings findings_;
};

}  // namespace boxcar::service
