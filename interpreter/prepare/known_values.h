#pragma once

#include <boxcar/interpreter/prepare/constant_evaluator.h>
#include <boxcar/interpreter/prepare/typed_script.h>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace boxcar::interp {

// Returns the script's constants whose values are known: those that are set before any function can be called.
std::map<uint32_t, IValue> knownGlobals(const TypedScript& script);

// The values of a function's expressions that are known before it runs.
class KnownValues final {
 public:
  KnownValues(const TypedFunction& function, std::map<uint32_t, IValue> globals);

  struct Value {
    TypePtr type;
    IValue value;
  };
  // Returns the value of the expression at [span]; null if it is not known.
  const Value* at(Span span) const;
  // Whether the condition of the expression `a if c else b` at [span] holds; nothing if that is not known, or if the
  // side that it chooses is of another type than the expression.
  std::optional<bool> choiceAt(Span span) const;

 private:
  void visit(const typed::Block& block);
  void visit(const typed::Stmt& statement);
  void visit(const typed::Expr& expr);
  void visitOperands(const typed::Expr& expr);
  void visitLoop(const typed::Stmt& statement);
  void forgetAssigned(const typed::Stmt& statement);

  using Key = std::pair<uint32_t, uint32_t>;
  ConstantEvaluator evaluator_;
  std::map<Key, std::optional<Value>> values_;
  std::map<Key, std::optional<bool>> choices_;
};

}  // namespace boxcar::interp
