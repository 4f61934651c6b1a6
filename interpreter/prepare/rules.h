#pragma once

#include <boxcar/interpreter/prepare/typed_script.h>

#include <memory>
#include <string>
#include <vector>

namespace boxcar::interp {

// A rewrite of the preparation: expressions like [before] are replaced by [after]. Both are what one function of the
// rules' script returns; its parameters stand for any expressions of their types. What it asserts before that must
// hold.
struct Rule {
  const TypedFunction* function;
  const typed::Expr* before;
  const typed::Expr* after;
  std::vector<const typed::Expr*> conditions;

  const std::string& name() const { return function->declared->schema.name(); }
};

// The rules of a script, in the order of the text: its functions that return `(T before, T after)`.
class Rules final {
 public:
  // Throws CompileError if the script is wrong, and Error that names the function where a rule is more than its
  // conditions and its results, a condition cannot be judged, or a parameter has no example.
  Rules(const SourcePtr& source, ModuleLoader* loader);

  const std::vector<Rule>& all() const noexcept { return rules_; }
  const TypedScript& script() const noexcept { return *script_; }
  // Where a rule is declared: "rules.ops:3:4".
  std::string placeOf(const Rule& rule) const;

 private:
  void add(const TypedFunction& function);
  // Throws Error if [condition] cannot be judged before a program runs.
  void checkCondition(const typed::Expr& condition, const FunctionSchema& rule) const;
  // Throws Error if [expr], the after side of [rule], calls what other scripts may not have.
  void checkCalls(const typed::Expr& expr, const FunctionSchema& rule, const std::string& place) const;

  std::unique_ptr<TypedScript> script_;
  std::vector<Rule> rules_;
};

// Returns the name of the function that gives an example of a parameter: `example_x` for `x`.
std::string exampleName(const std::string& parameter);
// Whether a schema is that of a rule.
bool isRule(const FunctionSchema& schema);

}  // namespace boxcar::interp
