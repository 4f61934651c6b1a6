#pragma once

#include <boxcar/interpreter/compiler/typed_program.h>

#include <map>
#include <optional>
#include <set>

namespace boxcar::interp {

// Computes expressions whose values are known before a program runs: of constants, and of variables and the script's
// constants that are known. Values are what the program would compute: what would be an error, has an effect, or is
// known at run time only has none.
class ConstantEvaluator final {
 public:
  std::optional<IValue> valueOf(const typed::Expr& expr) const;

  std::map<typed::VariableId, IValue> variables;
  std::set<typed::VariableId> present;  // variables that are not None, whatever else they are
  std::map<uint32_t, IValue> globals;

 private:
  std::optional<IValue> compute(const typed::Expr& expr) const;
  std::optional<IValue> compute(const typed::Operate& operate) const;
  std::optional<IValue> compute(const typed::Logical& logical) const;
  std::optional<IValue> compute(const typed::CallBuiltin& call) const;
  std::optional<IValue> compute(const typed::MakeList& list, TypePtr type) const;
  std::optional<IValue> compute(const typed::MakeSlice& slice) const;
};

// Returns the part of [expr] that keeps a ConstantEvaluator from computing it whatever its variables are: a call of an
// operator or of a function, or a tensor, say. Null if there is none.
const typed::Expr* partThatIsNeverConstant(const typed::Expr& expr);

// Whether [value] is a scalar or a text, of which any number of variables can have the same.
bool isPlainConstant(const IValue& value);

}  // namespace boxcar::interp
