#pragma once

#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/prepare/typed_script.h>

#include <unordered_map>

namespace boxcar::interp {

// Says what the parts of a script do besides computing values. Where it cannot tell, as with calls that are resolved at
// run time, it answers for the worst.
class Effects final {
 public:
  explicit Effects(const TypedScript& script) : script_(script) {}

  // Whether it may be evaluated later, or not at all, without anyone noticing: it writes to no tensor, list, dict or
  // struct, prints nothing, draws no random numbers.
  bool isPure(const typed::Expr& expr);
  bool isPure(const typed::Stmt& statement);

 private:
  bool isPure(const typed::Block& block);
  bool isPureCall(const typed::Expr& expr);
  bool isPure(const CalledFunction& function, const typed::CallFunction& call);

  const TypedScript& script_;
  std::unordered_map<const TypedFunction*, bool> known_;
};

// Whether [expr] gives a tensor that nothing else refers to: the result of a layer, or of an operator that makes one.
bool makesTensor(const TypedScript& script, const typed::Expr& expr);
// Whether [expr] makes a tensor, or changes one that it made: nothing sees that it writes.
bool isTemporary(const TypedScript& script, const typed::Expr& expr);

}  // namespace boxcar::interp
