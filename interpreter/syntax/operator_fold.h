#pragma once

#include <boxcar/interpreter/syntax/ast.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace boxcar::syntax {

class TreeBuilder;

// A binary or prefix operator among operands.
struct OperatorToken {
  // By rising precedence, as in Python.
  enum class Level : uint8_t { None, Or, And, Not, Compare, BitOr, BitXor, BitAnd, Shift, Sum, Product, Sign, Power };

  Level level = Level::None;
  uint8_t op = 0;  // a LogicalOp, UnaryOp, CompareOp or BinaryOp, depending on the level
  bool is_prefix = false;
  Span span;
};

// Builds the tree from operands and operators that arrive from left to right. It does not recurse, so there may be any
// number of them.
class OperatorFold {
 public:
  void prefix(const OperatorToken& op, TreeBuilder& builder);
  void infix(const OperatorToken& op, TreeBuilder& builder);
  void operand(ExprPtr value) { operands_.push_back({std::move(value), OperatorToken::Level::None}); }

  // Returns the tree; only allowed after an operand.
  ExprPtr finish(TreeBuilder& builder);

 private:
  struct Operand {
    ExprPtr value;
    OperatorToken::Level made_by;  // None for an input operand: `(a < b) < c` is not a chain
  };

  void reduce(TreeBuilder& builder);
  void extendOrMake(const OperatorToken& op, Operand right, TreeBuilder& builder);

  std::vector<OperatorToken> operators_;
  std::vector<Operand> operands_;
};

}  // namespace boxcar::syntax
