#pragma once

#include <boxcar/interpreter/import/pt2/exported_program.h>
#include <boxcar/interpreter/import/pt2/module_calls.h>
#include <boxcar/interpreter/import/pt2/node_text.h>
#include <boxcar/interpreter/import/pt2/number_slots.h>
#include <boxcar/interpreter/import/pt2/value_table.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

// Functions of a script, one for the calls of modules that do the same.

namespace boxcar::interp::pt2 {

struct FunctionText {
  std::string name;
  std::vector<std::string> parameters;  // "Tensor x"
  std::string result;                   // its type
  std::vector<std::string> lines;
  std::string type;                // of the modules: "BasicBlock"
  std::vector<std::string> paths;  // which modules it is
  bool takes_name = false;
  std::string key;  // tells it from other functions
  // The numbers in the lines, for each module.
  std::vector<std::vector<NumberSlot>> numbers;
  // The parameter that each slot became; empty if it is the same in all modules. A call gives only those that are
  // the first of their name.
  std::vector<std::string> number_parameters;
  std::vector<bool> is_given;
};

// A call of such a function.
struct FunctionUse {
  size_t function = 0;
  std::vector<std::string> inputs;   // values, in the order of the parameters
  std::vector<std::string> list;     // those that it takes as a list
  size_t list_position = 0;          // of the list among the inputs
  std::vector<std::string> outputs;  // values, in the order of the results
  std::vector<NumberSlot> numbers;   // of the function's lines, as the module has them
};

// The functions of a program, as they are found, inner ones first.
class FunctionTexts final {
 public:
  // [weights]: the key of the weight that a value is. [constants]: values that are written as they are.
  FunctionTexts(const Graph& graph, const ValueTable& values, std::unordered_map<std::string, std::string> weights,
                std::unordered_map<std::string, Expression> constants)
      : graph_(graph), values_(values), weight_of_value_(std::move(weights)), constants_(std::move(constants)) {
    for (const auto& [value, key] : weight_of_value_) keys_.insert(key);
  }

  // Says which types of modules take a list of tensors.
  void setListTypes(std::set<std::string, std::less<>> types) { list_types_ = std::move(types); }

  // Returns the use of the function for [call], which is made if there is none yet.
  FunctionUse use(const ModuleCall& call);

  // Makes a function of a graph that an operator takes; returns its name.
  std::string useGraph(const Argument& graph);

  // Writes numbers that differ among the modules of a function as parameters. Returns false if a function would have
  // too many: then it becomes several, after restart(), when everything is written again.
  bool finish();
  void restart();
  // Returns [lines] of the main function, which have [numbers]; after finish().
  std::vector<std::string> finished(const std::vector<std::string>& lines,
                                    const std::vector<NumberSlot>& numbers) const;

  const std::vector<FunctionText>& functions() const noexcept { return functions_; }
  const Graph& graph() const noexcept { return graph_; }
  const ValueTable& values() const noexcept { return values_; }
  // Returns the key of the weight that a value is; null if it is none.
  const std::string* weightOf(const std::string& value) const;
  bool hasWeight(const std::string& key) const { return keys_.contains(key); }
  const std::unordered_map<std::string, Expression>& constants() const noexcept { return constants_; }

  // Whether layers of nn.ops are used.
  bool usesLayers() const noexcept { return uses_layers_; }
  void useLayers() noexcept { uses_layers_ = true; }

  // Returns a key as a module at [path] writes it: `name + ".fc.weight"`, or whole if it is not the module's own.
  static std::string pathText(const std::string& path, std::string_view key, bool& uses_name);

 private:
  std::string uniqueName(std::string_view type);
  // Divides the inputs into those that are a list and the others.
  void takeList(const ModuleCall& call, FunctionUse& use) const;
  std::string slotText(const NumberSlot& slot, const std::string& parameter) const;
  bool takesPart(const NumberSlot& slot) const;
  bool finish(FunctionText& function);

  const Graph& graph_;
  const ValueTable& values_;
  const std::unordered_map<std::string, std::string> weight_of_value_;
  const std::unordered_map<std::string, Expression> constants_;
  std::set<std::string> keys_;
  std::vector<FunctionText> functions_;
  std::map<std::string, size_t> by_text_;
  std::map<const ModuleCall*, FunctionUse> uses_;
  std::set<std::string, std::less<>> names_;
  std::set<std::string, std::less<>> list_types_;
  size_t rounds_ = 0;
  std::set<std::string> apart_;  // the keys of functions whose modules must have equal numbers
  bool uses_layers_ = false;
};

// Returns the type of a parameter for a value: "Tensor".
std::string_view typeText(TypePtr type);

// Returns the values that the nodes [begin, end) take from outside, in the order of their first use, and those of their
// own that are used outside.
std::vector<std::string> inputsOf(const ValueTable& values, size_t begin, size_t end);
std::vector<std::string> outputsOf(const ValueTable& values, size_t begin, size_t end);

}  // namespace boxcar::interp::pt2
