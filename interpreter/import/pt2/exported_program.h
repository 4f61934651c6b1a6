#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

// A program that torch.export wrote, as `models/NAME.json` of a .pt2 archive has it: schema version 8.

namespace boxcar::interp::pt2 {

struct Graph;

// A size of a tensor: a number, or an expression of symbols, such as "2*s77 + 1".
struct Size {
  std::optional<int64_t> number = {};
  std::string expression = {};

  bool operator==(const Size&) const = default;
};

struct TensorMeta {
  int dtype = 0;            // a number of the archive
  std::string device = {};  // "cpu"; without its index
  std::vector<Size> sizes = {};
};

// What a node takes or gives: a constant, the name of a value, or a list of such.
struct Argument {
  enum class Kind : uint8_t {
    None,
    Value,
    Int,
    Float,
    Bool,
    Complex,
    String,
    ScalarType,
    MemoryFormat,
    Layout,
    Device,
    List,
    Dict,
    Graph,
    Operator,
    CustomObject,
  };

  Kind kind = Kind::None;
  int64_t integer = 0;  // an int, a bool, or a number of an enumeration of the archive
  double number = 0;    // a float, or the real part
  double imaginary = 0;
  std::string text = {};  // of a String, the name of a value, a graph, an operator or a custom object, or a device
  std::vector<Argument> items = {};
  std::vector<std::string> keys = {};  // of a Dict
  std::shared_ptr<Graph> graph = {};

  bool isInt(int64_t value) const noexcept { return kind == Kind::Int && integer == value; }
  bool isBool(bool value) const noexcept { return kind == Kind::Bool && (integer != 0) == value; }
};

struct NamedArgument {
  std::string name = {};
  Argument value = {};
};

// A call of a module: where it lies in the model, and its class.
struct ModuleFrame {
  std::string path = {};  // "layer1.0"; a further call of the same module ends with "@1"
  std::string type = {};  // "torchvision.models.resnet.BasicBlock"
};

struct Node {
  std::string target = {};  // "torch.ops.aten.relu.default", "_operator.add"
  std::vector<NamedArgument> inputs = {};
  std::vector<Argument> outputs = {};
  std::vector<ModuleFrame> modules = {};  // from the outermost to the innermost
  std::string source = {};                // the innermost line of the model's own source: "model.py:12"
};

struct Graph {
  std::vector<Argument> inputs = {};
  std::vector<Argument> outputs = {};
  std::vector<Node> nodes = {};
  std::unordered_map<std::string, TensorMeta> tensors;
  // The kinds of values that are no tensors: "int", "float", "bool".
  std::unordered_map<std::string, std::string_view> numbers;
  // The symbolic expressions of ints, as those of sizes.
  std::unordered_map<std::string, std::string> expressions;
};

struct InputSpec {
  enum class Kind : uint8_t { User, Weight, Constant, Token, CustomObject };

  Kind kind = Kind::User;
  std::string value = {};   // its name in the graph
  std::string weight = {};  // the key of a parameter, a buffer or a constant tensor
  Argument constant = {};   // of a Constant
};

struct OutputSpec {
  enum class Kind : uint8_t { User, WeightWrite, InputWrite, GradientOfWeight, GradientOfInput, Token };

  Kind kind = Kind::User;
  Argument value = {};
  std::string target = {};  // the key of the weight, or the name of the input
};

// How arguments or results nest: torch.utils._pytree's TreeSpec.
struct TreeSpec {
  enum class Kind : uint8_t { Leaf, Tuple, List, Dict, Other };

  Kind kind = Kind::Leaf;
  std::string type = {};               // its name in Python
  std::vector<std::string> keys = {};  // of a Dict
  std::vector<TreeSpec> children = {};
};

struct Range {
  std::optional<int64_t> least = {};
  std::optional<int64_t> most = {};
};

struct ExportedProgram {
  Graph graph;
  std::vector<InputSpec> inputs = {};
  std::vector<OutputSpec> outputs = {};
  TreeSpec arguments;  // a tuple of the positional ones, and a dict of those by name
  TreeSpec results;
  std::vector<std::string> argument_names = {};
  std::map<std::string, Range> ranges;  // of symbols
  std::string torch_version = {};
};

// Reads a model's JSON text. [what] names it in errors: "'m.pt2', models/model.json". Throws Error if it is not such a
// text, or of another version.
ExportedProgram readExportedProgram(std::string_view json, const std::string& what);

}  // namespace boxcar::interp::pt2
