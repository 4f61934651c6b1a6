#include <boxcar/interpreter/import/pt2/body_text.h>
#include <boxcar/interpreter/import/pt2/function_sizes.h>
#include <boxcar/interpreter/import/pt2/function_text.h>
#include <boxcar/interpreter/import/pt2/higher_order.h>
#include <boxcar/interpreter/import/pt2/list_inputs.h>
#include <boxcar/interpreter/import/pt2/module_calls.h>
#include <boxcar/interpreter/import/pt2/program_text.h>
#include <boxcar/interpreter/import/pt2/recompose.h>
#include <boxcar/interpreter/import/pt2/value_table.h>
#include <boxcar/interpreter/import/pt2/word.h>
#include <boxcar/interpreter/import/script_words.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace boxcar::interp::pt2 {
namespace {

std::string described(const Graph& graph, const std::string& value) {
  const auto tensor = graph.tensors.find(value);
  if (tensor == graph.tensors.end()) {
    const auto number = graph.numbers.find(value);
    return number != graph.numbers.end() ? std::string(number->second) : "Tensor";
  }
  std::vector<std::string> sizes;
  for (const Size& size : tensor->second.sizes) {
    sizes.push_back(size.number.has_value() ? std::to_string(*size.number) : size.expression);
  }
  return fmt::format("{} [{}]", dtypeName(tensor->second.dtype), fmt::join(sizes, ", "));
}

// A few paths whole, of many the first and the last.
std::string listed(const std::vector<std::string>& paths) {
  constexpr size_t kMost = 3;
  if (paths.size() <= kMost) return fmt::format("{}", fmt::join(paths, ", "));
  return fmt::format("{} to {}, {} in all", paths.front(), paths.back(), paths.size());
}

// A parameter of forward(): its type, and how its leaves are written.
class Parameters final {
 public:
  Parameters(const ExportedProgram& program, BodyText& body, std::vector<std::string>& comments)
      : program_(program), body_(body), comments_(comments) {
    for (const InputSpec& input : program.inputs) {
      if (input.kind == InputSpec::Kind::User || input.kind == InputSpec::Kind::Constant) leaves_.push_back(&input);
      const auto tensor = program.graph.tensors.find(input.value);
      if (input.kind != InputSpec::Kind::User || tensor == program.graph.tensors.end()) continue;
      for (const Size& size : tensor->second.sizes) {
        if (!size.number.has_value() && !symbols_.insert(size.expression).second) shared_.insert(size.expression);
      }
    }
    symbols_.clear();
    for (const Node& node : program.graph.nodes) {
      if (node.target != "torch.ops.aten.cat.default") continue;
      forEachValue(*NodeText::find(node, "tensors"), [this](const std::string& value) { joined_.insert(value); });
    }
  }

  std::vector<std::string> texts() {
    const TreeSpec& tree = program_.arguments;
    BOXCAR_CHECK(tree.children.size() == 2, "its arguments are not positional ones and ones by name");
    std::vector<std::string> parameters;
    size_t number = 0;
    std::vector<std::pair<std::string, const TreeSpec*>> all;
    for (const TreeSpec& child : tree.children[0].children) {
      all.emplace_back(nameAt(number), &child);
      ++number;
    }
    for (size_t i = 0; i < tree.children[1].children.size(); ++i) {
      all.emplace_back(tree.children[1].keys.at(i), &tree.children[1].children[i]);
    }
    for (auto& [name, spec] : all) {
      // With the underscore, a number at its end stays. Only functions of modules have another `name`.
      name = ownName(name == "name" ? name : variableName(name + "_"));
    }
    for (const auto& [name, spec] : all) parameters.push_back(parameter(name, *spec));
    // What the model was exported with is the default, unless a parameter without one follows.
    for (size_t i = parameters.size(); i-- > 0 && !defaults_[i].empty();) parameters[i] += "=" + defaults_[i];
    return parameters;
  }
  std::vector<std::string> takeChecks() { return std::move(checks_); }

 private:
  std::string nameAt(size_t number) const {
    return number < program_.argument_names.size() ? program_.argument_names[number] : fmt::format("input_{}", number);
  }

  std::string ownName(std::string name) {
    while (!names_.insert(name).second) name += "_";
    return name;
  }

  std::string parameter(const std::string& name, const TreeSpec& spec) {
    default_.clear();
    const std::string type = add(spec, {name, name});
    body_.reserve(name);
    defaults_.push_back(spec.kind == TreeSpec::Kind::Leaf ? default_ : "");
    return fmt::format("{} {}", type, name);
  }

  // A part of an argument: its text here, and what errors call it, as the caller writes it: past[0][1].
  struct Part {
    std::string text;
    std::string path;
  };

  // Whether one of the leaves of [spec], the next ones, is joined with another tensor.
  bool isJoined(const TreeSpec& spec, size_t& leaf) const {
    if (spec.kind == TreeSpec::Kind::Leaf) {
      const size_t own = leaf++;
      return own < leaves_.size() && joined_.contains(leaves_[own]->value);
    }
    bool is_joined = false;
    for (const TreeSpec& child : spec.children) is_joined = isJoined(child, leaf) || is_joined;
    return is_joined;
  }

  // Returns the items of [part], a tuple or a list. Where the program joins one of them with another tensor, as it does
  // with the keys and values of the tokens before, they get names, so that no list holds them any longer.
  std::vector<Part> itemsOf(const TreeSpec& spec, const Part& part) {
    std::vector<Part> items;
    size_t leaf = next_;
    const bool has_names = spec.children.size() > 1 && isJoined(spec, leaf);
    for (size_t i = 0; i < spec.children.size(); ++i) {
      const std::string index = fmt::format("[{}]", i);
      items.push_back({has_names ? ownName(fmt::format("{}_{}", part.text, i)) : part.text + index, part.path + index});
      if (has_names) body_.reserve(items.back().text);
    }
    if (!has_names) return items;
    std::vector<std::string> names;
    for (const Part& item : items) names.push_back(item.text);
    checks_.push_back(fmt::format("{} = {}", fmt::join(names, ", "), part.text));
    return items;
  }

  // Adds the leaves of an argument; returns its type.
  std::string add(const TreeSpec& spec, const Part& part) {
    switch (spec.kind) {
      case TreeSpec::Kind::Leaf: return addLeaf(part);
      case TreeSpec::Kind::Tuple: {
        std::vector<std::string> types;
        // The type has the length, but for a tuple of one, which is written as a list, and for none.
        if (spec.children.size() < 2) checkLength(spec, part);
        const std::vector<Part> items = itemsOf(spec, part);
        for (size_t i = 0; i < items.size(); ++i) types.push_back(add(spec.children[i], items[i]));
        if (types.size() == 1) return types[0] + "[]";
        return types.empty() ? "Any" : fmt::format("({})", fmt::join(types, ", "));
      }
      case TreeSpec::Kind::List: {
        std::set<std::string> types;
        checkLength(spec, part);
        const std::vector<Part> items = itemsOf(spec, part);
        for (size_t i = 0; i < items.size(); ++i) types.insert(add(spec.children[i], items[i]));
        return types.size() == 1 ? *types.begin() + "[]" : "Any";
      }
      case TreeSpec::Kind::Dict: {
        std::set<std::string> types;
        std::vector<std::string> keys;
        for (const std::string& key : spec.keys) keys.push_back(scriptString(key));
        checks_.push_back(
            fmt::format("check_keys({}, {}, [{}])", part.text, scriptString(part.path), fmt::join(keys, ", ")));
        for (size_t i = 0; i < spec.children.size(); ++i) {
          const std::string index = fmt::format("[{}]", scriptString(spec.keys[i]));
          types.insert(add(spec.children[i], {part.text + index, part.path + index}));
        }
        return fmt::format("Dict(str, {})", types.size() == 1 ? *types.begin() : "Any");
      }
      case TreeSpec::Kind::Other: break;
    }
    std::vector<std::string> unused;
    checkLength(spec, part);
    for (size_t i = 0; i < spec.children.size(); ++i) {
      const std::string index = fmt::format("[{}]", i);
      unused.push_back(add(spec.children[i], {part.text + index, part.path + index}));
    }
    return "Any";
  }

  std::string addLeaf(const Part& part) {
    const std::string& text = part.text;
    BOXCAR_CHECK(next_ < leaves_.size(), "its tree of arguments has more leaves than the program has inputs");
    const InputSpec& input = *leaves_[next_++];
    if (input.kind == InputSpec::Kind::Constant || input.constant.kind != Argument::Kind::Value) {
      const NodeText literal([](const std::string&) -> Expression { return {}; });
      const std::string value = literal.argument(input.constant).text;
      checks_.push_back(
          fmt::format("assert {0} {1} {2}, f\"{3} must be {4}, as it was when the model was exported, not {{{0}}}\"",
                      text, value == "None" ? "is" : "==", value, textOfFString(part.path), textOfFString(value)));
      default_ = value;
      return value == "None" ? "Any?" : std::string(literal.argument(input.constant).type->text());
    }
    const TypePtr type = typeOf(input.value);
    body_.addExpression(input.value, {text, Precedence::Atom, type});
    comments_.push_back(fmt::format("{}: {}", part.path, described(program_.graph, input.value)));
    check(part, input.value);
    if (type == Type::tensor()) return "Tensor";
    return type == Type::integer() ? "int" : type == Type::floating() ? "float" : "bool";
  }

  void checkLength(const TreeSpec& spec, const Part& part) {
    checks_.push_back(
        fmt::format("check_length({}, {}, {})", part.text, scriptString(part.path), spec.children.size()));
  }

  TypePtr typeOf(const std::string& value) const {
    const auto number = program_.graph.numbers.find(value);
    if (number == program_.graph.numbers.end()) return Type::tensor();
    return number->second == "int" ? Type::integer() : number->second == "float" ? Type::floating() : Type::boolean();
  }

  void check(const Part& part, const std::string& value) {
    const auto& [text, path] = part;
    const auto tensor = program_.graph.tensors.find(value);
    if (tensor == program_.graph.tensors.end()) return;
    std::vector<std::string> sizes;
    bool is_sharing = false;
    for (const Size& size : tensor->second.sizes) {
      is_sharing |= !size.number.has_value() && shared_.contains(size.expression);
      sizes.push_back(size.number.has_value() ? std::to_string(*size.number) : scriptString(size.expression));
    }
    if (is_sharing && !has_sizes_) {
      has_sizes_ = true;
      body_.reserve("sizes");
      checks_.emplace_back("sizes: Dict(str, Any) = {}");
    }
    checks_.push_back(fmt::format("check_input({}, {}, {}, [{}]{})", text, scriptString(path),
                                  dtypeName(tensor->second.dtype), fmt::join(sizes, ", "),
                                  is_sharing ? ", sizes" : ""));
    for (size_t dim = 0; dim < tensor->second.sizes.size(); ++dim) {
      const Size& size = tensor->second.sizes[dim];
      if (size.number.has_value() || !symbols_.insert(size.expression).second) continue;
      const std::string index = fmt::format(".size({})", dim);
      checkSymbol(size.expression, {text + index, path + index});
    }
  }

  void checkSymbol(const std::string& symbol, const Part& part) {
    const auto range = program_.ranges.find(symbol);
    if (range == program_.ranges.end()) return;
    // PyTorch gives 0 and a huge number where there is no limit.
    constexpr int64_t kHuge = int64_t{1} << 48;
    const auto [least, most] = range->second;
    const int64_t from = least.value_or(0);
    const bool has_most = most.has_value() && *most < kHuge;
    if (from <= 0 && !has_most) return;
    const std::string limits = !has_most   ? fmt::format("least={}", from)
                               : from <= 0 ? fmt::format("most={}", *most)
                                           : fmt::format("least={}, most={}", from, *most);
    checks_.push_back(fmt::format("check_size({}, {}, {})", part.text, scriptString(part.path), limits));
  }

  const ExportedProgram& program_;
  BodyText& body_;
  std::vector<std::string>& comments_;
  std::vector<const InputSpec*> leaves_;
  size_t next_ = 0;
  std::string default_;                // of the last leaf, if that is a constant
  std::vector<std::string> defaults_;  // of the parameters
  std::vector<std::string> checks_;
  std::set<std::string> symbols_;  // that were checked
  std::set<std::string> shared_;   // that stand twice
  bool has_sizes_ = false;
  std::set<std::string> names_;   // of parameters and their parts
  std::set<std::string> joined_;  // values that are joined with others
};

// The results of forward(), in the structure of the model.
class Results final {
 public:
  Results(const ExportedProgram& program, BodyText& body) : body_(body), graph_(program.graph) {
    for (const OutputSpec& output : program.outputs) {
      if (output.kind == OutputSpec::Kind::User) leaves_.push_back(&output.value);
    }
  }

  // Returns the expression and the type.
  std::pair<std::string, std::string> text(const TreeSpec& spec) {
    switch (spec.kind) {
      case TreeSpec::Kind::Leaf: return leaf();
      case TreeSpec::Kind::Tuple: {
        const auto [texts, types] = children(spec);
        if (texts.size() == 1) return {fmt::format("({},)", texts[0]), "Any"};
        if (texts.empty()) return {"()", "Any"};
        return {fmt::format("({})", fmt::join(texts, ", ")), fmt::format("({})", fmt::join(types, ", "))};
      }
      case TreeSpec::Kind::List: {
        const auto [texts, types] = children(spec);
        const bool is_even =
            !types.empty() && std::ranges::all_of(types, [&](const auto& type) { return type == types[0]; });
        return {fmt::format("[{}]", fmt::join(texts, ", ")), is_even ? types[0] + "[]" : "Any"};
      }
      case TreeSpec::Kind::Dict: {
        const auto [texts, types] = children(spec);
        std::vector<std::string> items;
        for (size_t i = 0; i < texts.size(); ++i) {
          items.push_back(fmt::format("{}: {}", scriptString(spec.keys[i]), texts[i]));
        }
        const bool is_even =
            !types.empty() && std::ranges::all_of(types, [&](const auto& type) { return type == types[0]; });
        return {fmt::format("{{{}}}", fmt::join(items, ", ")),
                fmt::format("Dict(str, {})", is_even ? types[0] : "Any")};
      }
      case TreeSpec::Kind::Other: break;
    }
    const auto [texts, types] = children(spec);
    return {fmt::format("[{}]", fmt::join(texts, ", ")), "Any"};
  }

 private:
  std::pair<std::vector<std::string>, std::vector<std::string>> children(const TreeSpec& spec) {
    std::vector<std::string> texts;
    std::vector<std::string> types;
    for (const TreeSpec& child : spec.children) {
      auto [text, type] = this->text(child);
      texts.push_back(std::move(text));
      types.push_back(std::move(type));
    }
    return {texts, types};
  }

  std::pair<std::string, std::string> leaf() {
    BOXCAR_CHECK(next_ < leaves_.size(), "its tree of results has more leaves than the program has outputs");
    const Argument& value = *leaves_[next_++];
    if (value.kind == Argument::Kind::Value) {
      const auto number = graph_.numbers.find(value.text);
      std::string text = body_.resultText(value.text);
      return {std::move(text), number != graph_.numbers.end() ? std::string(number->second) : "Tensor"};
    }
    const NodeText literal([](const std::string&) -> Expression { return {}; });
    const Expression text = literal.argument(value);
    return {text.text, value.kind == Argument::Kind::None ? "Any?" : std::string(text.type->text())};
  }

  BodyText& body_;
  const Graph& graph_;
  std::vector<const Argument*> leaves_;
  size_t next_ = 0;
};

void collectMissing(const Graph& graph, std::vector<std::string>& missing) {
  for (const Node& node : graph.nodes) {
    if (isNumberFunction(node.target) || node.target == "torch.ops.aten.sym_size.int") continue;
    for (const NamedArgument& input : node.inputs) {
      if (input.value.graph != nullptr) collectMissing(*input.value.graph, missing);
    }
    const bool is_there = isHigherOrder(node) ? hasHigherOrderText(node) : operatorOf(node.target).has_value();
    std::string line = is_there ? missingOf(node) : describedNode(node);
    if (line.empty()) continue;
    if (node.target.starts_with("torch.ops.aten._assert_tensor_metadata") ||
        node.target.starts_with("torch.ops.aten.sym_constrain_range")) {
      continue;
    }
    if (std::ranges::find(missing, line) == missing.end()) missing.push_back(std::move(line));
  }
}

}  // namespace

std::vector<std::string> missingParts(const ExportedProgram& program) {
  std::vector<std::string> missing;
  for (const InputSpec& input : program.inputs) {
    if (input.kind == InputSpec::Kind::CustomObject) missing.push_back("an object of the class " + input.weight);
  }
  collectMissing(program.graph, missing);
  return missing;
}

namespace {

// Returns the program; nothing if its functions are to be divided otherwise, which FunctionTexts then knows.
std::optional<std::string> textOf(const ExportedProgram& program, const ModuleCall& root, FunctionTexts& functions,
                                  const ProgramTextOptions& options) {
  const ValueTable& values = functions.values();
  std::vector<std::string> outputs;
  for (const OutputSpec& output : program.outputs) {
    forEachValue(output.value, [&](const std::string& value) { outputs.push_back(values.resolve(value)); });
    const bool is_of_input =
        output.kind == OutputSpec::Kind::InputWrite || output.kind == OutputSpec::Kind::GradientOfInput;
    if (is_of_input) outputs.push_back(output.target);
  }
  BodyText body(functions, "", outputs);
  std::vector<std::string> comments;
  Parameters parameters(program, body, comments);
  const std::vector<std::string> signature = parameters.texts();
  body.addItems(root);
  for (const OutputSpec& output : program.outputs) {
    const auto weight = [&] { return fmt::format("weights[{}]", scriptString(output.target)); };
    const auto input = [&] { return body.expressionOf(output.target).text; };
    const auto value = [&] { return body.resultText(output.value.text); };
    switch (output.kind) {
      case OutputSpec::Kind::WeightWrite: body.addLine(fmt::format("{}.copy_({})", weight(), value())); break;
      case OutputSpec::Kind::InputWrite: body.addLine(fmt::format("{}.copy_({})", input(), value())); break;
      case OutputSpec::Kind::GradientOfWeight: body.addLine(fmt::format("{}.grad = {}", weight(), value())); break;
      case OutputSpec::Kind::GradientOfInput: body.addLine(fmt::format("{}.grad = {}", input(), value())); break;
      case OutputSpec::Kind::User:
      case OutputSpec::Kind::Token: break;
    }
  }
  auto [result, result_type] = Results(program, body).text(program.results);
  // Several results are a tuple without its parentheses. Those of `(x + 3).clamp(min=0)` stay.
  if (result_type.starts_with('(')) result = result.substr(1, result.size() - 2);
  body.addLine(fmt::format("return {}", result));
  const auto [marked, numbers] = body.takeLines();
  if (!functions.finish()) return std::nullopt;
  const std::vector<std::string> lines = functions.finished(marked, numbers);
  const std::vector<std::string> checks = parameters.takeChecks();

  std::string text =
      fmt::format("# {}, written by torch.export of PyTorch {}.\n#\n", options.title, program.torch_version);
  for (const std::string& comment : comments) text += fmt::format("# {}\n", comment);
  for (const OutputSpec& output : program.outputs) {
    if (output.kind != OutputSpec::Kind::User || output.value.kind != Argument::Kind::Value) continue;
    text += fmt::format("# -> {}\n", described(program.graph, output.value.text));
  }
  for (const auto& [second, first] : options.tied_weights) {
    text += fmt::format("# The weight {} is {}.\n", second, first);
  }
  const bool has_gradients = std::ranges::any_of(
      program.outputs, [](const OutputSpec& output) { return output.kind == OutputSpec::Kind::GradientOfWeight; });
  if (has_gradients) text += "# Each call sets .grad of the weights.\n";
  if (functions.usesLayers() || !checks.empty()) text += "import \"nn.ops\"\n";
  text += fmt::format("\nconst weights = io::load({})\n\n", scriptString(options.weights));
  text +=
      "# The weights by their names, to be trained or saved.\nfn parameters() -> Dict(str, Tensor) { return weights "
      "}\n\n";
  if (options.has_missing) {
    text +=
        "# What boxcar does not have.\nfn missing(str what) -> Any {\nraise f\"boxcar does not have "
        "{what}\"\n}\n\n";
  }
  for (const FunctionText& function : functions.functions()) {
    if (!function.type.empty()) text += fmt::format("# {}: {}\n", function.type, listed(function.paths));
    text += fmt::format("fn {}({}) -> {} {{\n{}\n}}\n\n", function.name, fmt::join(function.parameters, ", "),
                        function.result, fmt::join(function.lines, "\n"));
  }
  text += fmt::format("fn forward({}) -> {} {{\n", fmt::join(signature, ", "), result_type);
  for (const std::string& check : checks) text += check + "\n";
  for (const std::string& line : lines) text += line + "\n";
  return text + "}\n";
}

}  // namespace

std::string programText(ExportedProgram program, const ProgramTextOptions& options) {
  recompose(program);
  placeSizes(program);
  const ValueTable values(program.graph);
  std::unordered_map<std::string, std::string> weights;
  for (const InputSpec& input : program.inputs) {
    if (input.kind == InputSpec::Kind::Weight) weights.emplace(input.value, input.weight);
  }
  FunctionTexts functions(program.graph, values, std::move(weights), {});
  const ModuleCall root = moduleCalls(program.graph, values);
  functions.setListTypes(typesOfListInputs(
      program.graph, values, root, [&](const std::string& value) { return functions.weightOf(value) != nullptr; }));
  while (true) {
    if (std::optional<std::string> text = textOf(program, root, functions, options)) return std::move(*text);
    functions.restart();
  }
}

}  // namespace boxcar::interp::pt2
