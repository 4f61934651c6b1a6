#pragma once

#include <boxcar/interpreter/import/pt2/function_text.h>
#include <boxcar/interpreter/import/pt2/module_calls.h>
#include <boxcar/interpreter/import/pt2/node_text.h>
#include <boxcar/interpreter/import/pt2/number_slots.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar::interp::pt2 {

// The statements of a function, for the items of a call.
//
// A variable is used again when its value is no longer needed, as people write `x = f(x)`, and a value that only the
// next statement needs is written into it, while the line is short.
class BodyText final {
 public:
  // [path]: of the module. [outputs]: values that stay until the end.
  BodyText(FunctionTexts& functions, std::string path, const std::vector<std::string>& outputs);

  // Adds a parameter that holds [value]; returns its name.
  std::string addParameter(const std::string& value, TypePtr type);
  // Adds a parameter that holds [values]; returns its name.
  std::string addListParameter(const std::vector<std::string>& values);
  // Says how a value is written that is no variable of its own.
  void addExpression(const std::string& value, Expression expression);
  // Reserves a name for something else.
  void reserve(const std::string& name) { reserved_.insert(name); }
  void addLine(std::string line) { lines_.push_back(std::move(line)); }

  void addItems(const ModuleCall& call);

  // Returns the text of an output, to be called in the order of the outputs after addItems().
  std::string resultText(const std::string& value);
  Expression expressionOf(const std::string& value);
  // Returns the lines, with marks for the numbers in them.
  std::pair<std::vector<std::string>, std::vector<NumberSlot>> takeLines();
  bool usesName() const noexcept { return uses_name_; }

 private:
  // A value that is not written yet, because only the next statement needs it.
  struct Pending {
    std::string value;
    Expression expression;
    std::string heir;  // the variable that it may take
    std::string base;
  };
  // Calls of one function, one after the other, each on the results of the one before.
  struct Loop {
    size_t count = 0;
    int64_t first_number = 0;
    std::string stem;                            // of the paths, before the number
    std::vector<std::optional<size_t>> carried;  // for each parameter, the result of the call before; nothing if it
                                                 // is the same in all calls
    std::vector<bool> collected;                 // for each result, whether it is used after the loop
    bool grows = false;                          // each result goes to the end of the list that the next call takes
  };

  void addNode(size_t index, const CallItem* next, size_t end);
  void addHigherOrder(size_t index, size_t end);
  void addCall(const ModuleCall& call, const CallItem* next, size_t end);
  void addLoop(const std::vector<CallItem>& items, size_t first, const Loop& loop, size_t end);
  void addGrowingLoop(const std::vector<CallItem>& items, size_t first, const Loop& loop, size_t end);
  // Returns the text of a list of values: its variable, if it is one.
  std::string listText(const std::vector<std::string>& values);
  // Returns the text of the paths of a loop, and of the numbers that it goes over.
  std::string loopPath(const Loop& loop, const std::string& number);
  std::string loopRange(const Loop& loop);
  std::optional<Loop> loopAt(const std::vector<CallItem>& items, size_t first) const;
  // Assigns the results of a statement.
  void assign(const std::vector<std::string>& values, const Expression& expression, const std::string& heir,
              const CallItem* next, size_t end, std::string_view base, bool is_call);
  bool mayWait(const std::string& value, const CallItem* next, size_t end) const;
  Expression nodeText(const Node& node);
  NodeText nodeTexts();
  // Returns the numbers that a call of the function gives, as its last arguments.
  std::string numberArguments(const FunctionUse& use);
  std::string pathText(std::string_view key) { return FunctionTexts::pathText(path_, key, uses_name_); }

  void flush();
  // Forgets which of [values] are not needed at position [from] or later; returns the name of the first variable that
  // is free then.
  std::string release(const std::vector<std::string>& values, size_t from, size_t end);
  bool isNeededFrom(const std::string& value, size_t from, size_t end) const;
  std::string freshName(std::string_view base) const;
  void hold(const std::string& name, const std::string& value);
  std::string variableBase(size_t node) const;

  FunctionTexts& functions_;
  const std::string path_;
  const std::set<std::string> outputs_;
  std::unordered_map<std::string, Expression> known_;
  std::map<std::string, std::set<std::string>> held_;  // by variables
  std::map<std::string, std::string> lists_;           // variables, by the names of what they hold
  std::set<std::string> reserved_;
  std::optional<Pending> pending_;
  std::vector<std::string> lines_;
  NumberSlots numbers_;
  bool uses_name_ = false;
};

}  // namespace boxcar::interp::pt2
