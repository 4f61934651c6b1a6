#include <boxcar/interpreter/import/pt2/exported_program.h>
#include <boxcar/interpreter/import/pt2/json.h>
#include <boxcar/interpreter/import/pt2/node_text.h>
#include <boxcar/interpreter/import/pt2/symbolic_size.h>
#include <boxcar/interpreter/import/pt2/tree_spec.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/function_schema.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace boxcar::interp::pt2 {
namespace {

constexpr int64_t kSchemaVersion = 8;
// Graphs within graphs.
constexpr int kMostNesting = 32;
// What PyTorch writes for nodes that no module made.
constexpr std::string_view kNoModule = "empty_nn_module_stack_from_metadata_hook";

class Reader final {
 public:
  explicit Reader(const std::string& what) : what_(what) {}

  ExportedProgram program(const json::object& root) const {
    const json::object& version = objectAt(root, "schema_version");
    const int64_t major = intAt(version, "major");
    BOXCAR_CHECK(major == kSchemaVersion,
                 "{}: its schema version is {}, but only version {} is read; load the model with torch.export.load in "
                 "a PyTorch of 2.6 or later, and save it again",
                 what_, major, kSchemaVersion);
    const json::object& module = objectAt(root, "graph_module");
    ExportedProgram program;
    program.graph = graph(objectAt(module, "graph"), 0);
    const json::object& signature = objectAt(module, "signature");
    for (const json::value& spec : arrayAt(signature, "input_specs")) program.inputs.push_back(inputSpec(spec));
    for (const json::value& spec : arrayAt(signature, "output_specs")) program.outputs.push_back(outputSpec(spec));
    readCalls(module, program);
    if (const json::object* ranges = findObject(root, "range_constraints")) {
      for (const auto& [symbol, range] : *ranges) {
        const json::object& limits = object(range);
        program.ranges.emplace(std::string(symbol), Range{limit(limits, "min_val"), limit(limits, "max_val")});
      }
    }
    if (const json::value* torch = root.if_contains("torch_version"); torch != nullptr && torch->is_string()) {
      program.torch_version = std::string(torch->get_string());
    }
    return program;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    BOXCAR_FAIL("{}: it is no program of torch.export, because {}", what_, expected);
  }

  const json::object& object(const json::value& value) const {
    if (!value.is_object()) fail("an object is missing in its JSON");
    return value.get_object();
  }
  const json::value& at(const json::object& object, std::string_view key) const {
    const json::value* const found = object.if_contains(key);
    if (found == nullptr) fail(fmt::format("'{}' is missing in its JSON", key));
    return *found;
  }
  static const json::object* findObject(const json::object& object, std::string_view key) {
    const json::value* const found = object.if_contains(key);
    return found != nullptr ? found->if_object() : nullptr;
  }
  const json::object& objectAt(const json::object& owner, std::string_view key) const {
    const json::value& value = at(owner, key);
    if (!value.is_object()) fail(fmt::format("'{}' is no object in its JSON", key));
    return value.get_object();
  }
  const json::array& arrayAt(const json::object& object, std::string_view key) const {
    const json::value& value = at(object, key);
    if (!value.is_array()) fail(fmt::format("'{}' is no array in its JSON", key));
    return value.get_array();
  }
  std::string stringAt(const json::object& object, std::string_view key) const { return string(at(object, key), key); }
  std::string string(const json::value& value, std::string_view key) const {
    if (!value.is_string()) fail(fmt::format("'{}' is no string in its JSON", key));
    return std::string(value.get_string());
  }
  int64_t intAt(const json::object& object, std::string_view key) const { return integer(at(object, key)); }
  int64_t integer(const json::value& value) const {
    if (const int64_t* number = value.if_int64()) return *number;
    if (const bool* flag = value.if_bool()) return *flag ? 1 : 0;
    fail("its JSON has something else where an integer of 64 bits must stand");
  }
  double number(const json::value& value) const {
    if (value.is_number()) return value.get_number();
    if (value.is_string()) {
      const std::string_view text = value.get_string();
      if (text == "Infinity") return std::numeric_limits<double>::infinity();
      if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
      if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    }
    fail("its JSON has something else where a number must stand");
  }
  std::optional<int64_t> limit(const json::object& range, std::string_view key) const {
    const json::value* const value = range.if_contains(key);
    if (value == nullptr || !value->is_int64()) return std::nullopt;
    return value->get_int64();
  }

  // A union is an object with one member.
  std::pair<std::string_view, const json::value&> member(const json::value& value) const {
    const json::object& only = object(value);
    if (only.size() != 1) fail("a union has not exactly one member in its JSON");
    return {only.begin()->key, only.begin()->content};
  }

  // ---- Arguments ----

  template <class Read>
  Argument list(const json::value& value, Read&& read) const {
    if (!value.is_array()) fail("its JSON has something else where an array must stand");
    Argument result{.kind = Argument::Kind::List};
    for (const json::value& item : value.get_array()) result.items.push_back(read(item));
    return result;
  }
  Argument named(const json::value& value) const {
    return {.kind = Argument::Kind::Value, .text = stringAt(object(value), "name")};
  }
  Argument symbol(const json::value& value) const {
    const auto& [kind, content] = member(value);
    if (kind == "as_name") return {.kind = Argument::Kind::Value, .text = string(content, kind)};
    if (kind == "as_int") return intArgument(content);
    if (kind == "as_float") return floatArgument(content);
    if (kind == "as_bool") return {.kind = Argument::Kind::Bool, .integer = integer(content)};
    fail(fmt::format("a symbolic number is given by '{}'", kind));
  }
  Argument intArgument(const json::value& value) const {
    return {.kind = Argument::Kind::Int, .integer = integer(value)};
  }
  Argument floatArgument(const json::value& value) const {
    return {.kind = Argument::Kind::Float, .number = number(value)};
  }
  Argument boolArgument(const json::value& value) const {
    return {.kind = Argument::Kind::Bool, .integer = integer(value)};
  }
  Argument stringArgument(const json::value& value) const {
    return {.kind = Argument::Kind::String, .text = string(value, "as_string")};
  }
  Argument optionalTensor(const json::value& value) const {
    const auto& [kind, content] = member(value);
    return kind == "as_none" ? Argument() : named(content);
  }
  Argument device(const json::value& value) const {
    const json::object& parts = object(value);
    std::string text = stringAt(parts, "type");
    const json::value* const index = parts.if_contains("index");
    if (index != nullptr && index->is_int64()) text += ':' + std::to_string(index->get_int64());
    return {.kind = Argument::Kind::Device, .text = std::move(text)};
  }

  Argument argument(const json::value& value, int nesting) const {
    const auto& [kind, content] = member(value);
    using Kind = Argument::Kind;
    const auto numbered = [&](Kind of) { return Argument{.kind = of, .integer = integer(content)}; };
    if (kind == "as_none") return {};
    if (kind == "as_tensor") return named(content);
    if (kind == "as_tensors") return list(content, [this](const auto& item) { return named(item); });
    if (kind == "as_int") return intArgument(content);
    if (kind == "as_ints") return list(content, [this](const auto& item) { return intArgument(item); });
    if (kind == "as_float") return floatArgument(content);
    if (kind == "as_floats") return list(content, [this](const auto& item) { return floatArgument(item); });
    if (kind == "as_string") return stringArgument(content);
    if (kind == "as_strings") return list(content, [this](const auto& item) { return stringArgument(item); });
    if (kind == "as_bool") return boolArgument(content);
    if (kind == "as_bools") return list(content, [this](const auto& item) { return boolArgument(item); });
    if (kind == "as_sym_int" || kind == "as_sym_bool" || kind == "as_sym_float") return symbol(content);
    if (kind == "as_sym_ints" || kind == "as_sym_bools" || kind == "as_sym_floats") {
      return list(content, [this](const auto& item) { return symbol(item); });
    }
    if (kind == "as_scalar_type") return numbered(Kind::ScalarType);
    if (kind == "as_memory_format") return numbered(Kind::MemoryFormat);
    if (kind == "as_layout") return numbered(Kind::Layout);
    if (kind == "as_device") return device(content);
    if (kind == "as_optional_tensor") return optionalTensor(content);
    if (kind == "as_optional_tensors") {
      return list(content, [this](const auto& item) { return optionalTensor(item); });
    }
    if (kind == "as_complex") {
      const json::object& parts = object(content);
      return {.kind = Kind::Complex, .number = number(at(parts, "real")), .imaginary = number(at(parts, "imag"))};
    }
    if (kind == "as_nested_tensors") {
      return list(content,
                  [this](const auto& item) { return list(item, [this](const auto& inner) { return named(inner); }); });
    }
    if (kind == "as_int_lists") {
      return list(content, [this](const auto& item) {
        return list(item, [this](const auto& inner) { return intArgument(inner); });
      });
    }
    if (kind == "as_float_lists") {
      return list(content, [this](const auto& item) {
        return list(item, [this](const auto& inner) { return floatArgument(inner); });
      });
    }
    if (kind == "as_string_to_argument") {
      Argument dict{.kind = Kind::Dict};
      for (const auto& [key, item] : object(content)) {
        dict.keys.emplace_back(key);
        dict.items.push_back(argument(item, nesting));
      }
      return dict;
    }
    if (kind == "as_graph") {
      const json::object& parts = object(content);
      Argument result{.kind = Kind::Graph, .text = stringAt(parts, "name")};
      result.graph = std::make_shared<Graph>(graph(objectAt(parts, "graph"), nesting + 1));
      return result;
    }
    if (kind == "as_operator") return {.kind = Kind::Operator, .text = string(content, kind)};
    if (kind == "as_custom_obj") {
      return {.kind = Kind::CustomObject, .text = stringAt(object(content), "class_fqn")};
    }
    fail(fmt::format("it has an argument of the unknown kind '{}'", kind));
  }

  // ---- Graphs ----

  Node node(const json::object& parts, int nesting) const {
    Node node;
    node.target = stringAt(parts, "target");
    for (const json::value& input : arrayAt(parts, "inputs")) {
      const json::object& named = object(input);
      node.inputs.push_back({stringAt(named, "name"), argument(at(named, "arg"), nesting)});
    }
    for (const json::value& output : arrayAt(parts, "outputs")) node.outputs.push_back(argument(output, nesting));
    if (const json::object* metadata = findObject(parts, "metadata")) {
      if (const json::value* stack = metadata->if_contains("nn_module_stack"); stack && stack->is_string()) {
        node.modules = moduleFrames(stack->get_string());
      }
      if (const json::value* trace = metadata->if_contains("stack_trace"); trace && trace->is_string()) {
        node.source = sourceLine(trace->get_string());
      }
    }
    return plain(std::move(node));
  }

  // with_effects(token, op, …) calls op and orders it by tokens; in a script, the order of lines does that. Tests of
  // whole tensors have a second name.
  static Node plain(Node node) {
    if (node.target == "torch.ops.aten._is_all_true.default") node.target = "torch.ops.aten.all.default";
    if (node.target == "torch.ops.aten._is_any_true.default") node.target = "torch.ops.aten.any.default";
    if (node.target != "torch.ops.higher_order.with_effects" || node.inputs.size() < 2 || node.outputs.empty() ||
        node.inputs[1].value.kind != Argument::Kind::Operator) {
      return node;
    }
    node.target = node.inputs[1].value.text;
    node.inputs.erase(node.inputs.begin(), node.inputs.begin() + 2);
    node.outputs.erase(node.outputs.begin());
    std::erase_if(node.outputs, [](const Argument& output) { return output.kind == Argument::Kind::None; });
    const std::optional<OperatorHandle> op = operatorOf(node.target);
    for (size_t i = 0; op.has_value() && i < node.inputs.size(); ++i) {
      const auto& parameters = op->schema().arguments();
      if (node.inputs[i].name.empty() && i < parameters.size()) node.inputs[i].name = parameters[i].name();
    }
    return node;
  }

  // "key,path,type;…"
  static std::vector<ModuleFrame> moduleFrames(std::string_view text) {
    std::vector<ModuleFrame> frames;
    while (!text.empty()) {
      const size_t end = std::min(text.find(';'), text.size());
      const std::string_view frame = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      const size_t first = frame.find(',');
      const size_t second = first == std::string_view::npos ? first : frame.find(',', first + 1);
      if (second == std::string_view::npos) continue;
      const std::string_view path = frame.substr(first + 1, second - first - 1);
      if (frame.find(kNoModule) != std::string_view::npos) continue;
      // The key tells further calls of a module apart.
      const std::string_view key = frame.substr(0, first);
      const size_t call = key.rfind('@');
      std::string whole(path);
      if (call != std::string_view::npos && path.find('@') == std::string_view::npos) whole += key.substr(call);
      frames.push_back({std::move(whole), std::string(frame.substr(second + 1))});
    }
    return frames;
  }

  // Returns "file.py:12" of the last line that is not in PyTorch's own modules; the last line of all if there is none.
  static std::string sourceLine(std::string_view trace) {
    constexpr std::string_view kFile = "File \"";
    constexpr std::string_view kLine = "\", line ";
    std::string found;
    for (size_t at = trace.find(kFile); at != std::string_view::npos; at = trace.find(kFile, at)) {
      at += kFile.size();
      const size_t end = trace.find(kLine, at);
      if (end == std::string_view::npos) break;
      const std::string_view path = trace.substr(at, end - at);
      size_t digits = end + kLine.size();
      while (digits < trace.size() && trace[digits] >= '0' && trace[digits] <= '9') ++digits;
      const bool is_own =
          path.find("/torch/nn/") == std::string_view::npos && path.find("/torch/_") == std::string_view::npos;
      if (is_own || found.empty()) {
        found = fmt::format("{}:{}", path.substr(path.rfind('/') + 1),
                            trace.substr(end + kLine.size(), digits - end - kLine.size()));
      }
      at = digits;
    }
    return found;
  }

  Graph graph(const json::object& parts, int nesting) const {
    if (nesting > kMostNesting) fail("its graphs nest too deep");
    Graph graph;
    for (const json::value& input : arrayAt(parts, "inputs")) graph.inputs.push_back(argument(input, nesting));
    for (const json::value& output : arrayAt(parts, "outputs")) graph.outputs.push_back(argument(output, nesting));
    for (const json::value& each : arrayAt(parts, "nodes")) graph.nodes.push_back(node(object(each), nesting));
    for (const auto& [name, meta] : objectAt(parts, "tensor_values")) {
      graph.tensors.emplace(std::string(name), tensorMeta(object(meta)));
    }
    const std::pair<std::string_view, std::string_view> tables[] = {
        {"sym_int_values", "int"}, {"sym_bool_values", "bool"}, {"sym_float_values", "float"}};
    for (const auto& [table, kind] : tables) {
      const json::object* const values = findObject(parts, table);
      if (values == nullptr) continue;
      for (const auto& [name, value] : *values) {
        graph.numbers.emplace(std::string(name), kind);
        const json::object* const symbolic =
            kind == "int" && value.is_object() ? findObject(value.get_object(), "as_expr") : nullptr;
        if (symbolic != nullptr) {
          graph.expressions.emplace(std::string(name), readableSize(stringAt(*symbolic, "expr_str")));
        }
      }
    }
    return graph;
  }

  TensorMeta tensorMeta(const json::object& parts) const {
    TensorMeta meta;
    meta.dtype = static_cast<int>(intAt(parts, "dtype"));
    meta.device = stringAt(objectAt(parts, "device"), "type");
    for (const json::value& size : arrayAt(parts, "sizes")) {
      const auto& [kind, content] = member(size);
      if (kind == "as_int") {
        meta.sizes.push_back({integer(content), {}});
      } else {
        meta.sizes.push_back({std::nullopt, readableSize(stringAt(object(content), "expr_str"))});
      }
    }
    return meta;
  }

  // ---- The signature ----

  InputSpec inputSpec(const json::value& value) const {
    const auto& [kind, content] = member(value);
    const json::object& parts = object(content);
    const auto weight = [&](std::string_view key) {
      return InputSpec{.kind = InputSpec::Kind::Weight,
                       .value = stringAt(objectAt(parts, "arg"), "name"),
                       .weight = stringAt(parts, key),
                       .constant = {}};
    };
    if (kind == "parameter") return weight("parameter_name");
    if (kind == "buffer") return weight("buffer_name");
    if (kind == "tensor_constant") return weight("tensor_constant_name");
    InputSpec spec;
    if (kind == "user_input") {
      spec.constant = argument(at(parts, "arg"), 0);
      spec.value = spec.constant.text;
    } else if (kind == "constant_input") {
      spec.kind = InputSpec::Kind::Constant;
      spec.value = stringAt(parts, "name");
      spec.constant = argument(at(parts, "value"), 0);
    } else if (kind == "token") {
      spec.kind = InputSpec::Kind::Token;
    } else if (kind == "custom_obj") {
      spec.kind = InputSpec::Kind::CustomObject;
      spec.value = stringAt(objectAt(parts, "arg"), "name");
      spec.weight = stringAt(objectAt(parts, "arg"), "class_fqn");
    } else {
      fail(fmt::format("it has an input of the unknown kind '{}'", kind));
    }
    return spec;
  }

  OutputSpec outputSpec(const json::value& value) const {
    const auto& [kind, content] = member(value);
    const json::object& parts = object(content);
    using Kind = OutputSpec::Kind;
    const auto tensor = [&](Kind of, std::string_view target) {
      return OutputSpec{.kind = of, .value = named(at(parts, "arg")), .target = stringAt(parts, target)};
    };
    if (kind == "user_output") return {.kind = Kind::User, .value = argument(at(parts, "arg"), 0), .target = {}};
    if (kind == "loss_output") return {.kind = Kind::User, .value = named(at(parts, "arg")), .target = {}};
    if (kind == "buffer_mutation") return tensor(Kind::WeightWrite, "buffer_name");
    if (kind == "parameter_mutation") return tensor(Kind::WeightWrite, "parameter_name");
    if (kind == "user_input_mutation") return tensor(Kind::InputWrite, "user_input_name");
    if (kind == "gradient_to_parameter") return tensor(Kind::GradientOfWeight, "parameter_name");
    if (kind == "gradient_to_user_input") return tensor(Kind::GradientOfInput, "user_input_name");
    if (kind == "token") return {.kind = Kind::Token, .value = {}, .target = {}};
    fail(fmt::format("it has an output of the unknown kind '{}'", kind));
  }

  void readCalls(const json::object& module, ExportedProgram& program) const {
    for (const json::value& each : arrayAt(module, "module_call_graph")) {
      const json::object& entry = object(each);
      if (!stringAt(entry, "fqn").empty()) continue;
      const json::object& signature = objectAt(entry, "signature");
      program.arguments = readTreeSpec(stringAt(signature, "in_spec"), what_);
      program.results = readTreeSpec(stringAt(signature, "out_spec"), what_);
      const json::value* const names = signature.if_contains("forward_arg_names");
      if (names == nullptr || !names->is_array()) return;
      for (const json::value& name : names->get_array()) {
        program.argument_names.push_back(string(name, "forward_arg_names"));
      }
      return;
    }
    fail("'module_call_graph' has no entry for the model itself");
  }

  const std::string& what_;
};

}  // namespace

ExportedProgram readExportedProgram(std::string_view text, const std::string& what) {
  const json::value root = json::parse(text, what);
  BOXCAR_CHECK(root.is_object(), "{}: it is no program of torch.export, because its JSON is no object", what);
  return Reader(what).program(root.get_object());
}

}  // namespace boxcar::interp::pt2
