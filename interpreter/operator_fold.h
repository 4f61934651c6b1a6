#pragma once

#include <boxcar/interpreter/ast.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace boxcar::syntax {

class TreeBuilder;

// An operator as it stands between or before operands.
struct OperatorToken {
  // By rising precedence; Python's order.
  enum class Level : uint8_t { None, Or, And, Not, Compare, BitOr, BitXor, BitAnd, Shift, Sum, Product, Sign, Power };

  Level level = Level::None;
  uint8_t op = 0;  // a LogicalOp, UnaryOp, CompareOp or BinaryOp, as the level tells
  bool is_prefix = false;
  Span span;
};

// Makes the tree of a run of operands and operators, which arrive from left to right. Without recursion: a run may have
// any length.
class OperatorFold {
 public:
  void prefix(const OperatorToken& op, TreeBuilder& builder);
  void infix(const OperatorToken& op, TreeBuilder& builder);
  void operand(ExprPtr value) { operands_.push_back({std::move(value), OperatorToken::Level::None}); }

  // The tree; behind an operand only.
  ExprPtr finish(TreeBuilder& builder);

 private:
  struct Operand {
    ExprPtr value;
    OperatorToken::Level made_by;  // None for what came as an operand: `(a < b) < c` is no chain
  };

  void reduce(TreeBuilder& builder);
  void extendOrMake(const OperatorToken& op, Operand right, TreeBuilder& builder);

  std::vector<OperatorToken> operators_;
  std::vector<Operand> operands_;
};

}  // namespace boxcar::syntax
