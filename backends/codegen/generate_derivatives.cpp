// Generates the backward functions of operators from their formulas: `generate_derivatives OUT_DIR FILE.schemas…
// FILE.derivatives…` writes
//   OUT_DIR/derivatives_FILE.cpp   the functions, a source for each file of formulas
//   OUT_DIR/formulas.cpp           the table of all formulas
//
// A .derivatives file has the name of an operator, and below it, indented, a line for each argument that has a
// gradient:
//
//   aten::mul.Tensor
//     self: grad * other.conj()
//     other: grad * self.conj()
//
// `a, b: f(…)` is a function that returns a tuple of both. `results: values` says which results have gradients, if not
// all of floating point or complex dtype do. `weight: refused` (`a, b: refused`) makes a call an Error if that argument
// requires grad, as PyTorch does for arguments by which it cannot differentiate; one that has neither a formula nor
// this mark is taken to have no influence. `none` in place of the lines says that no result has a gradient. The
// in-place form of an operator, and the copy of a view (select_copy), have its formulas, too, but not its `none`. In
// formulas (formula_text.h) `grad` is the gradient of the first such result, `grads[i]` that of result i, undefined
// where there is none; `result`, `result1` or the schema's name is a result; `x.sizes`, `x.strides`,
// `x.storage_offset`, `x.dtype`, `x.dim` and `x.is_turned` (whether a matrix is a transposed one) do not keep the
// tensor x; `x.later` is what gives it when it is called, for tensors that only some calls need, and others write;
// `grad_input_mask` says which of the line's arguments need a gradient.
//
// A line with the name of a result says how its tangent follows from those of the arguments:
//
//     result: self_t.mm(mat2) + self.mm(mat2_t)
//
// `self_t` is the tangent of self. A term of the sum is left out if no argument in it has a tangent; else tangents that
// are not there are zeros. `result: auto_linear` calls the operator with the tangents in place of all arguments that
// have formulas, and `result: auto_element_wise` applies the arguments' formulas to them: right where each element of
// the result depends on one element of each argument. Without such a line the formulas of the arguments are
// transposed.

#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/codegen/cpp_type.h"
#include "backends/codegen/formula_text.h"
#include "backends/codegen/generator_main.h"
#include "backends/codegen/schema_file.h"

namespace boxcar::codegen {
namespace {

struct FormulaLine {
  std::vector<std::string> inputs;
  std::string text;
  int number;
};

struct Entry {
  const FunctionSchema* schema;
  std::string stem;
  std::string path;
  int number;
  std::vector<FormulaLine> lines;
  std::set<std::string> results;
  std::vector<FormulaLine> refused;
  std::vector<FormulaLine> tangents;
  bool has_none = false;
};

using Schemas = std::map<std::string, const FunctionSchema*>;

std::vector<std::string> separated(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : text + ",") {
    if (c == ',') {
      parts.push_back(std::move(part));
      part.clear();
    } else if (c != ' ') {
      part += c;
    }
  }
  return parts;
}

std::string resultName(const FunctionSchema& schema, size_t i) {
  if (!schema.returns()[i].name().empty()) return schema.returns()[i].name();
  return schema.returns().size() == 1 ? "result" : fmt::format("result{}", i);
}

// Whether it is the name of a result, and not of an argument.
bool isResult(const FunctionSchema& schema, const std::string& name) {
  if (schema.argumentIndexWithName(name).has_value()) return false;
  for (size_t i = 0; i < schema.returns().size(); ++i) {
    if (resultName(schema, i) == name) return true;
  }
  return false;
}

std::vector<Entry> readDerivatives(const std::string& path, const Schemas& schemas) {
  std::ifstream file(path);
  BOXCAR_CHECK(file.good(), "cannot read {}", path);
  std::vector<Entry> entries;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line.starts_with('#')) continue;
    if (!line.starts_with(' ')) {
      const auto found = schemas.find(line);
      BOXCAR_CHECK(found != schemas.end(), "{}:{}: there is no operator {}", path, number, line);
      entries.push_back({found->second, std::filesystem::path(path).stem().string(), path, number, {}, {}, {}, {}});
      continue;
    }
    BOXCAR_CHECK(!entries.empty(), "{}:{}: expected the name of an operator", path, number);
    Entry& entry = entries.back();
    const std::string text = line.substr(line.find_first_not_of(' '));
    if (text == "none") {
      entry.has_none = true;
      continue;
    }
    const size_t colon = text.find(": ");
    BOXCAR_CHECK(colon != std::string::npos, "{}:{}: expected `argument: formula`", path, number);
    const std::vector<std::string> names = separated(text.substr(0, colon));
    if (names[0] == "results") {
      for (const std::string& name : separated(text.substr(colon + 2))) entry.results.insert(name);
    } else {
      const std::string formula = text.substr(colon + 2);
      const bool is_of_result = names.size() == 1 && isResult(*entry.schema, names[0]);
      auto& lines = formula == "refused" ? entry.refused : is_of_result ? entry.tangents : entry.lines;
      lines.push_back({names, formula, number});
    }
  }
  return entries;
}

// Whether the arguments have the same names and types: pow.Scalar and pow_.Scalar have not.
bool takesTheSame(const FunctionSchema& a, const FunctionSchema& b) {
  return std::ranges::equal(a.arguments(), b.arguments(), [](const Argument& x, const Argument& y) {
    return x.name() == y.name() && x.type()->kind() == y.type()->kind();
  });
}

// "MulBackward0" for the first operator called mul, or in PyTorch's manner "AddmmBackward0".
std::string nodeName(const FunctionSchema& schema, size_t number) {
  std::string name;
  bool is_start = true;
  for (const char c : schema.name().substr(schema.name().find("::") + 2)) {
    if (c == '_') {
      is_start = true;
    } else {
      name += is_start ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      is_start = false;
    }
  }
  return fmt::format("{}Backward{}", name, number);
}

// Writes the code of one operator.
class EntryWriter final {
 public:
  explicit EntryWriter(const Entry& entry) : entry_(entry), schema_(*entry.schema) {
    for (size_t i = 0; i < schema_.returns().size(); ++i) {
      const bool is_named = entry.results.empty() || entry.results.contains(resultName(schema_, i));
      const TypePtr type = schema_.returns()[i].type();
      const bool is_tensor = type->kind() == TypeKind::Tensor || type->isList();
      if (is_named && is_tensor) differentiable_ |= 1U << i;
    }
    for (const FormulaLine& line : entry.lines) {
      for (const std::string& input : line.inputs) inputs_.push_back(positionOf(input, line));
    }
    for (const FormulaLine& line : entry.refused) {
      for (const std::string& input : line.inputs) {
        const size_t position = positionOf(input, line);
        if (std::ranges::count(inputs_, position) != 0) fail(line, fmt::format("'{}' has a formula, too", input));
        if (position >= 32) fail(line, "only the first 32 arguments can be refused");
        refused_ |= uint32_t{1} << position;
      }
    }
  }

  // Returns the body of the backward function.
  std::string body() {
    std::string text;
    size_t first = 0;
    for (const FormulaLine& line : entry_.lines) {
      text += lineBody(line, first);
      first += line.inputs.size();
    }
    return text;
  }
  // Returns the body of the function of tangents; empty if none is given.
  std::string tangentsBody() const {
    std::string text;
    for (const FormulaLine& line : entry_.tangents) {
      if (!isAutomatic(line)) text += tangentBody(line);
    }
    return text;
  }
  std::string forward() const {
    if (entry_.tangents.empty()) return "Forward::kTransposed";
    if (!isAutomatic(entry_.tangents[0])) return "Forward::kGiven";
    if (entry_.tangents.size() != 1) fail(entry_.tangents[1], "expected one line about results");
    return entry_.tangents[0].text == "auto_linear" ? "Forward::kLinear" : "Forward::kElementwise";
  }
  const std::vector<size_t>& inputs() const { return inputs_; }
  uint32_t differentiable() const { return differentiable_; }
  uint32_t refused() const { return refused_; }
  // "{SavedItem::What::kArgument, 1, 1}, …"
  std::string savedItems() const {
    std::string text;
    for (const Item& item : items_) {
      text += fmt::format("{}{{SavedItem::What::{}, {}, {}}}", text.empty() ? "" : ", ", item.what, item.position,
                          item.for_inputs);
    }
    return text;
  }
  size_t savedCount() const { return items_.size(); }

 private:
  struct Item {
    std::string what;
    size_t position;
    uint32_t for_inputs;
  };

  [[noreturn]] void fail(const FormulaLine& line, const std::string& message) const {
    BOXCAR_FAIL("{}:{}: {}", entry_.path, line.number, message);
  }
  size_t positionOf(const std::string& name, const FormulaLine& line) const {
    for (size_t i = 0; i < schema_.arguments().size(); ++i) {
      if (schema_.arguments()[i].name() == name) return i;
    }
    fail(line, fmt::format("{} has no argument '{}'", schema_.operator_name(), name));
  }
  size_t itemOf(const std::string& what, size_t position, uint32_t for_inputs) {
    for (size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].what != what || items_[i].position != position) continue;
      items_[i].for_inputs |= for_inputs;
      return i;
    }
    items_.push_back({what, position, for_inputs});
    return items_.size() - 1;
  }

  static bool isAutomatic(const FormulaLine& line) {
    return line.text == "auto_linear" || line.text == "auto_element_wise";
  }

  std::string translated(const std::string& text, const FormulaNames& names, const FormulaLine& line) const {
    try {
      return translateFormula(text, names);
    } catch (const Error& error) {
      fail(line, error.message());
    }
  }

  // Names of a formula that become local variables, with the code that makes them.
  using Locals = std::map<std::string, std::string>;

  // Returns the name of a local variable that holds an argument or result: what `call` knows as [what].
  static std::string local(Locals& locals, const std::string& name, const std::string& type, size_t what) {
    if (type == "Tensor") {
      locals[name] = fmt::format("const Tensor {} = call.tensor({});", name, what);
    } else if (type == "const std::optional<Tensor>&") {
      locals[name] = fmt::format("const std::optional<Tensor> {} = call.optionalTensor({});", name, what);
    } else {
      locals[name] = fmt::format("auto {0}_ = call.value<{1}>({2});\n    [[maybe_unused]] auto&& {0} = {0}_.get();",
                                 name, type, what);
    }
    return name;
  }

  static std::string typeOf(const Argument& argument) {
    return argument.type()->kind() == TypeKind::Tensor ? "Tensor" : kernelArgumentType(argument);
  }

  std::string tangentBody(const FormulaLine& line) const {
    std::string text;
    size_t result = 0;
    while (resultName(schema_, result) != line.inputs[0]) ++result;
    for (const std::string& term : termsOf(line.text)) {
      Locals locals;
      std::set<size_t> used;
      FormulaNames names;
      names.name = [&](std::string_view given) -> std::string {
        const std::string name(given);
        for (size_t i = 0; i < schema_.arguments().size(); ++i) {
          const Argument& argument = schema_.arguments()[i];
          if (argument.name() == name) return local(locals, name, typeOf(argument), i);
          if (argument.name() + "_t" != name) continue;
          used.insert(i);
          return fmt::format("call.tangent({})", i);
        }
        for (size_t i = 0; i < schema_.returns().size(); ++i) {
          if (resultName(schema_, i) == name) return fmt::format("call.result({})", i);
        }
        return {};
      };
      names.property = [&](std::string_view given, std::string_view attribute) -> std::string {
        const std::string_view member = attribute == "sizes"   ? "sizes"
                                        : attribute == "dtype" ? "scalar_type"
                                        : attribute == "dim"   ? "dim"
                                                               : "";
        return member.empty() ? "" : fmt::format("{}.{}()", names.name(given), member);
      };
      const std::string expression = translated(term, names, line);
      if (used.empty()) fail(line, fmt::format("the term '{}' has no tangent", term));
      std::vector<std::string> has;
      for (const size_t position : used) has.push_back(fmt::format("call.has({})", position));
      text += fmt::format("  if ({}) {{\n", fmt::join(has, " || "));
      for (const auto& [name, code] : locals) text += fmt::format("    {}\n", code);
      text += fmt::format("    call.add({}, {});\n  }}\n", result, expression);
    }
    return text;
  }

  std::string lineBody(const FormulaLine& line, size_t first) {
    uint32_t inputs = 0;
    std::vector<std::string> needs;
    for (size_t i = 0; i < line.inputs.size(); ++i) {
      inputs |= 1U << (first + i);
      needs.push_back(fmt::format("call.needs({})", first + i));
    }
    Locals locals;
    FormulaNames names;
    names.name = [&](std::string_view given) -> std::string {
      std::string name(given);
      if (name == "grad") return fmt::format("call.grad({})", std::countr_zero(differentiable_));
      if (name == "grads") return "call.grads()";
      if (name == "grad_input_mask") {
        locals[name] = fmt::format("const bool grad_input_mask[] = {{{}}};", fmt::join(needs, ", "));
        return name;
      }
      for (size_t i = 0; i < schema_.arguments().size(); ++i) {
        const Argument& argument = schema_.arguments()[i];
        if (argument.name() != name) continue;
        return local(locals, name, typeOf(argument), itemOf("kArgument", i, inputs));
      }
      for (size_t i = 0; i < schema_.returns().size(); ++i) {
        if (resultName(schema_, i) == name) return local(locals, name, "Tensor", itemOf("kResult", i, inputs));
      }
      return {};
    };
    names.property = [&](std::string_view given, std::string_view attribute) -> std::string {
      const std::pair<std::string_view, std::pair<const char*, const char*>> kProperties[] = {
          {"sizes", {"kSizes", "std::span<const int64_t>"}},
          {"strides", {"kStrides", "std::span<const int64_t>"}},
          {"storage_offset", {"kOffset", "int64_t"}},
          {"dtype", {"kDtype", "ScalarType"}},
          {"dim", {"kDim", "int64_t"}},
          {"is_turned", {"kIsTurned", "bool"}}};
      if (attribute == "later") {
        for (size_t i = 0; i < schema_.arguments().size(); ++i) {
          if (schema_.arguments()[i].name() != given) continue;
          return fmt::format("LaterTensor{{call, {}}}", itemOf("kArgument", i, inputs));
        }
      }
      for (const auto& [name, property] : kProperties) {
        if (name != attribute) continue;
        for (size_t i = 0; i < schema_.arguments().size(); ++i) {
          const Argument& argument = schema_.arguments()[i];
          if (argument.name() != given || argument.type()->kind() != TypeKind::Tensor) continue;
          return local(locals, fmt::format("{}_{}", given, attribute), property.second,
                       itemOf(property.first, i, inputs));
        }
      }
      return {};
    };
    const std::string expression = translated(line.text, names, line);
    std::string text = fmt::format("  if ({}) {{\n", fmt::join(needs, " || "));
    for (const auto& [name, code] : locals) text += fmt::format("    {}\n", code);
    if (line.inputs.size() == 1) {
      text += fmt::format("    call.set({}, {});\n", first, expression);
    } else {
      text += fmt::format("    call.setAll({}, {});\n", first, expression);
    }
    return text + "  }\n";
  }

  const Entry& entry_;
  const FunctionSchema& schema_;
  std::vector<size_t> inputs_;
  std::vector<Item> items_;
  uint32_t differentiable_ = 0;
  uint32_t refused_ = 0;
};

void generate(int argc, char** argv) {
  BOXCAR_CHECK(argc > 3, "usage: generate_derivatives OUT_DIR FILE.schemas… FILE.derivatives…");
  std::vector<std::string> schema_paths;
  std::vector<std::string> paths;
  for (int i = 2; i < argc; ++i) {
    const std::string path = argv[i];
    (path.ends_with(".derivatives") ? paths : schema_paths).push_back(path);
  }
  const std::vector<Operator> operators = readSchemas(schema_paths);
  Schemas schemas;
  for (const Operator& op : operators) schemas.emplace(toString(op.schema.operator_name()), &op.schema);

  const std::string folder = argv[1];
  std::map<std::pair<std::string, std::string>, std::string> rows;  // in the order of the table
  std::map<std::string, size_t> nodes_of;
  std::string declarations;
  std::string arrays;
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    files.push_back(fmt::format("\"{}\"", std::filesystem::path(path).filename().string()));
    std::string functions =
        "#include <boxcar/backends/autograd/formula.h>\n#include <boxcar/backends/autograd/formula_functions.h>\n"
        "#include <boxcar/ops.h>\n\n#include <optional>\n#include <span>\n\nnamespace boxcar::autograd {\n";
    const std::vector<Entry> entries = readDerivatives(path, schemas);
    for (size_t i = 0; i < entries.size(); ++i) {
      const Entry& entry = entries[i];
      const FunctionSchema& schema = *entry.schema;
      BOXCAR_CHECK(entry.has_none == entry.lines.empty(), "{}:{}: expected formulas or `none`", path, entry.number);
      EntryWriter writer(entry);
      const std::string function = fmt::format("backward_{}_{}", entry.stem, i);
      const std::string body = writer.body();
      const std::string tangents = writer.tangentsBody();
      const std::string forward = fmt::format("forward_{}_{}", entry.stem, i);
      if (!tangents.empty()) {
        functions += fmt::format("\nvoid {}(ForwardCall& call) {{\n{}}}\n", forward, tangents);
        declarations += fmt::format("void {}(ForwardCall& call);\n", forward);
      }
      if (!entry.has_none) {
        functions += fmt::format("\nvoid {}(BackwardCall& call) {{\n{}}}\n", function, body);
        declarations += fmt::format("void {}(BackwardCall& call);\n", function);
        arrays += fmt::format("constexpr uint8_t inputs_{}[] = {{{}}};\n", function, fmt::join(writer.inputs(), ", "));
        if (writer.savedCount() > 0) {
          arrays += fmt::format("constexpr SavedItem saved_{}[] = {{{}}};\n", function, writer.savedItems());
        }
      }
      const std::string node = nodeName(schema, nodes_of[schema.name()]++);
      const auto addRow = [&](const std::string& name, const std::string& of_node) {
        const std::string& overload = schema.overload_name();
        const bool is_new =
            rows.emplace(std::pair(name, overload),
                         fmt::format("    {{\"{}\", \"{}\", \"{}\", {}, {}, {}, {}, {}, {}, {}, {}, {}}},\n", name,
                                     overload, of_node, entry.has_none ? "{}" : "inputs_" + function,
                                     writer.savedCount() == 0 ? "{}" : "saved_" + function, writer.differentiable(),
                                     writer.refused(), files.size() - 1, entry.number,
                                     entry.has_none ? "nullptr" : "&" + function, writer.forward(),
                                     tangents.empty() ? "nullptr" : "&" + forward))
                .second;
        BOXCAR_CHECK(is_new, "{}:{}: {} has formulas already", path, entry.number, name);
      };
      addRow(schema.name(), node);
      const std::string overload = schema.overload_name().empty() ? "" : "." + schema.overload_name();
      const auto in_place = schemas.find(schema.name() + "_" + overload);
      if (in_place != schemas.end() && !entry.has_none && takesTheSame(schema, *in_place->second)) {
        addRow(schema.name() + "_", node);
      }
      if (schemas.contains(schema.name() + "_copy" + overload) && !entry.has_none) {
        addRow(schema.name() + "_copy", node + "_copy");
      }
    }
    functions += "\n}  // namespace boxcar::autograd\n";
    writeIfChanged(fmt::format("{}/derivatives_{}.cpp", folder, std::filesystem::path(path).stem().string()),
                   functions);
  }
  std::string table;
  for (const auto& [name, row] : rows) table += row;
  writeIfChanged(folder + "/formulas.cpp",
                 fmt::format("#include <boxcar/backends/autograd/formula.h>\n\nnamespace boxcar::autograd {{\n\n{}\n"
                             "namespace {{\n\n{}\nconstexpr Formula kFormulas[] = {{\n{}}};\n\n}}  // namespace\n\n"
                             "std::span<const Formula> allFormulas() noexcept {{ return kFormulas; }}\n\n"
                             "std::span<const char* const> formulaFiles() noexcept {{\n"
                             "  static constexpr const char* kFiles[] = {{{}}};\n  return kFiles;\n}}\n\n"
                             "}}  // namespace boxcar::autograd\n",
                             declarations, arrays, table, fmt::join(files, ", ")));
}

}  // namespace
}  // namespace boxcar::codegen

int main(int argc, char** argv) {
  return boxcar::codegen::runGenerator("generate_derivatives", boxcar::codegen::generate, argc, argv);
}
