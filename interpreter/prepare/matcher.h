#pragma once

#include <boxcar/interpreter/prepare/block_flow.h>
#include <boxcar/interpreter/prepare/effects.h>
#include <boxcar/interpreter/prepare/rules.h>
#include <boxcar/interpreter/prepare/typed_script.h>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace boxcar::interp {

// An expression of a script, and the statement of its block that evaluates it.
struct Place {
  const typed::Expr* expr = nullptr;
  size_t statement = 0;
};

struct Match {
  std::vector<Place> bindings;  // of the rule's parameters
  std::set<size_t> consumed;    // statements whose values only the replaced expression read
};

// Finds expressions of a block that the before side of a rule describes, with the operands of products and sums in any
// order. It looks through variables that only the expression reads, and takes in-place calls on tensors that nothing
// else refers to for the calls that they are the in-place forms of: so `y = conv2d(…); y.relu_()` is
// `relu(conv2d(…))`, and `y = x - x.mean(); y * y` is `(x - x.mean()) * (x - x.mean())`.
class Matcher final {
 public:
  // [touched]: statements that may not be consumed.
  Matcher(const TypedScript& script, const BlockFlow& flow, Effects& effects, const std::set<size_t>& touched)
      : script_(script), flow_(flow), effects_(effects), touched_(touched) {}

  // Returns what [rule]'s parameters stand for if [root] is an instance of its before side, and nothing is in the way
  // of evaluating all of it where [root] is.
  std::optional<Match> match(const Rules& rules, const Rule& rule, Place root);

  // Whether two expressions have the same value.
  bool isSame(Place a, Place b) const;
  // Whether a tensor is new, and nothing but the reader of [place] refers to it.
  bool isFresh(Place place) const;
  // Returns where a variable that is read once gets its value, through any number of variables; [place] for others.
  Place resolved(Place place, std::set<size_t>& consumed) const;
  // Whether what [consumed] defines and [leaves] can be evaluated at [root] as well, in any order.
  bool canMove(const std::vector<Place>& leaves, const std::set<size_t>& consumed, Place root) const;

 private:
  // What a match has found so far.
  struct Found {
    Match match;
    // The places where it read the variables that statements define, if these are read in several.
    std::map<size_t, std::set<const typed::Expr*>> shared;
  };

  bool match(const typed::Expr& pattern, Place subject);
  // Returns where a variable gets its value, through any number of variables, if the match may look through these.
  Place definition(Place place);
  bool matchNumber(const typed::Expr& pattern, Place subject);
  bool matchOperator(const typed::CallOperator& pattern, const typed::CallOperator& call, size_t statement);
  bool matchArguments(const typed::CallOperator& pattern, const typed::CallOperator& call, size_t statement,
                      bool is_swapped);
  bool matchFunction(const typed::CallFunction& pattern, const typed::CallFunction& call, size_t statement);
  bool matchAll(const std::vector<typed::ExprPtr>& patterns, const std::vector<typed::ExprPtr>& subjects,
                size_t statement);
  bool bind(typed::VariableId parameter, Place subject);

  const TypedScript& script_;
  const BlockFlow& flow_;
  Effects& effects_;
  const std::set<size_t>& touched_;
  const Rules* rules_ = nullptr;
  const Rule* rule_ = nullptr;
  Found found_;
};

// Returns the value of a constant, or of a list or tuple of constants; nothing for others.
std::optional<IValue> constantValue(const typed::Expr& expr);

}  // namespace boxcar::interp
