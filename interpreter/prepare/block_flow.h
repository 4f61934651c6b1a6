#pragma once

#include <boxcar/interpreter/compiler/typed_program.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace boxcar::interp {

// Where the variables of one block's statements get their values. A statement *defines* a variable if it does nothing
// else: `y = relu(x)`, and `y.relu_()`, after which y has the result of the call.
class BlockFlow final {
 public:
  // [is_body]: nothing reads the variables after the block, as with the body of a function.
  BlockFlow(const typed::Block& block, bool is_body);

  size_t size() const noexcept { return statements_.size(); }
  const typed::Stmt& statement(size_t i) const { return *(*block_)[i]; }

  // What gives a variable the value that statement [place] reads.
  struct Origin {
    enum class Kind : uint8_t { Outside, Statement, Unknown };  // before the block; a statement that defines it; others
    Kind kind = Kind::Outside;
    size_t statement = 0;

    bool operator==(const Origin&) const = default;
  };
  Origin originOf(typed::VariableId variable, size_t place) const;

  std::optional<typed::VariableId> definedBy(size_t statement) const { return statements_[statement].defines; }
  // The value that [statement] defines its variable with; null if it defines none.
  const typed::Expr* valueOf(size_t statement) const { return statements_[statement].value; }
  // Whether it is an in-place call on a variable, `y.relu_()`.
  bool isInPlace(size_t statement) const { return statements_[statement].is_in_place; }
  // In how many places the value is read that [statement] defines its variable with; nothing if that is not known.
  std::optional<size_t> readsOf(size_t statement) const;
  bool assigns(size_t statement, typed::VariableId variable) const;

 private:
  struct Statement {
    std::optional<typed::VariableId> defines;
    const typed::Expr* value = nullptr;
    bool is_in_place = false;
    std::vector<typed::VariableId> reads;    // one entry for each place
    std::vector<typed::VariableId> assigns;  // also in blocks within
  };

  void noteReads(const typed::Expr& expr, Statement& to);
  void noteParts(const typed::Stmt& statement, Statement& to);

  const typed::Block* block_;
  bool is_body_;
  std::vector<Statement> statements_;
};

// Returns the variable whose tensor an in-place call of an operator changes, `y` of `y.relu_()`; nothing for others.
std::optional<typed::VariableId> changedInPlace(const typed::Expr& expr);
// Whether the operator called [name] is the in-place form of another: `aten::relu_`.
bool isInPlaceName(std::string_view name);
// Returns the name of the operator that it is the in-place form of, `aten::relu`; other names as they are.
std::string_view functionalName(std::string_view name);

}  // namespace boxcar::interp
