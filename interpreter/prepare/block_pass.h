#pragma once

#include <boxcar/interpreter/prepare/block_flow.h>
#include <boxcar/interpreter/prepare/effects.h>
#include <boxcar/interpreter/prepare/matcher.h>
#include <boxcar/interpreter/prepare/text_edit.h>
#include <boxcar/interpreter/prepare/typed_script.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::interp {

// One pass over the blocks of a function that replaces expressions: those of the last statement first, and the
// outermost of each statement first. A statement is changed once in a pass.
class BlockPass {
 public:
  BlockPass(const TypedScript& script, Effects& effects, const TypedFunction& function, std::vector<Edit>& edits)
      : script_(script), effects_(effects), function_(function), edits_(edits) {}
  virtual ~BlockPass() = default;

  // [is_body]: as of BlockFlow.
  void run(const typed::Block& block, bool is_body);

 protected:
  // Replaces [root] by apply(), or returns false. Called for expressions that give tensors.
  virtual bool replace(Place root) = 0;

  // Puts [text] in the place of [root] and removes the statements [consumed]. Where [root] is an in-place call that is
  // a statement, its variable is set instead. Comments in what it removes come before the statement.
  void apply(Place root, const std::set<size_t>& consumed, const std::string& text);

  const TypedScript& script() const noexcept { return script_; }
  Effects& effects() const noexcept { return effects_; }
  const BlockFlow& flow() const noexcept { return *flow_; }
  const std::set<size_t>& touched() const noexcept { return touched_; }

 private:
  void visit(const typed::Expr& expr, size_t statement);
  // Adds the comments at [span] to [lines], one a line, but for those that [text] has.
  void addComments(Span span, std::string_view text, std::string& lines) const;

  const TypedScript& script_;
  Effects& effects_;
  const TypedFunction& function_;
  std::vector<Edit>& edits_;
  const BlockFlow* flow_ = nullptr;
  std::set<size_t> touched_;
};

// Returns the changes that a Pass, a BlockPass, makes to all functions of [script]. [arguments]: what it takes first.
template <class Pass, class... Arguments>
std::vector<Edit> changesOf(const TypedScript& script, const Arguments&... arguments) {
  Effects effects(script);
  std::vector<Edit> edits;
  for (const TypedFunction& function : script.functions()) {
    Pass(arguments..., script, effects, function, edits).run(function.typed.body, true);
  }
  return edits;
}

}  // namespace boxcar::interp
