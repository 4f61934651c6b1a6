// Generates the calls of operators from their schemas: `generate_ops OUT_DIR FILE.schemas…` writes
//   OUT_DIR/ops.h           a typed function for every operator
//   OUT_DIR/ops_FILE.cpp    their bodies, a source for each file of schemas
//   OUT_DIR/schemas.cpp     the operators' definitions
//   OUT_DIR/view_forms.cpp  the kernels of operators that are derived from views
//   OUT_DIR/schemas.txt     all schemas, one per line

#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "backends/codegen/cpp_type.h"
#include "backends/codegen/generator_main.h"
#include "backends/codegen/schema_file.h"

namespace boxcar::codegen {
namespace {

// C++ allows defaults only after the last parameter without one.
size_t requiredParameters(const FunctionSchema& schema) {
  const auto order = parameterOrder(schema);
  size_t required = order.size();
  while (required > 0 && defaultExpression(*order[required - 1]).has_value()) --required;
  return required;
}

// A call that matches two overloads would be ambiguous, so the longer one then requires one more argument.
void separate(Operator& a, Operator& b) {
  const auto order_a = parameterOrder(a.schema);
  const auto order_b = parameterOrder(b.schema);
  for (size_t count = 0; count <= std::min(order_a.size(), order_b.size()); ++count) {
    const bool both = count >= a.required && count >= b.required;
    if (both) (order_a.size() > order_b.size() ? a : b).required = count + 1;
    if (count < std::min(order_a.size(), order_b.size()) &&
        callerArgumentType(*order_a[count]) != callerArgumentType(*order_b[count])) {
      return;
    }
  }
}

void chooseDefaults(std::vector<Operator>& operators) {
  for (Operator& op : operators) op.required = requiredParameters(op.schema);
  for (size_t i = 0; i < operators.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      Operator& a = operators[i];
      Operator& b = operators[j];
      if (functionName(a.schema) == functionName(b.schema) && namespaceOf(a.schema) == namespaceOf(b.schema)) {
        separate(a, b);
      }
    }
  }
}

// Returns the parameters of a declaration, with defaults from [required] on.
std::string parameters(const FunctionSchema& schema, size_t required) {
  const auto order = parameterOrder(schema);
  std::vector<std::string> texts;
  for (size_t i = 0; i < order.size(); ++i) {
    std::string text = fmt::format("{} {}", callerArgumentType(*order[i]), order[i]->name());
    if (i >= required) text += " = " + *defaultExpression(*order[i]);
    texts.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Returns `self, std::move(alpha)`: the arguments in schema order, as passed to the operator.
std::string forwarded(const FunctionSchema& schema) {
  std::vector<std::string> names;
  for (const Argument& argument : schema.arguments()) {
    const bool is_reference = callerArgumentType(argument).ends_with('&');
    names.push_back(is_reference ? argument.name() : fmt::format("std::move({})", argument.name()));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

struct Namespaced {
  std::string outer;  // "boxcar", "boxcar::io", "boxcar::redispatch"
  std::string body;
};

std::string outerNamespace(const FunctionSchema& schema, bool redispatch) {
  std::string outer = redispatch ? "boxcar::redispatch" : "boxcar";
  if (namespaceOf(schema) != "aten") outer += "::" + namespaceOf(schema);
  return outer;
}

std::string header(const std::vector<Operator>& operators) {
  std::map<std::string, std::string> bodies;
  for (const Operator& op : operators) {
    if (!op.has_function) continue;
    bodies[outerNamespace(op.schema, false)] +=
        fmt::format("\n// {}\n// {}\nBOXCAR_API {} {}({});\n", op.docstring, op.text, resultType(op.schema),
                    functionName(op.schema), parameters(op.schema, op.required));
    const std::string rest = parameters(op.schema, op.required);
    bodies[outerNamespace(op.schema, true)] +=
        fmt::format("BOXCAR_API {} {}(DispatchKeySet keys{}{});\n", resultType(op.schema), functionName(op.schema),
                    rest.empty() ? "" : ", ", rest);
  }
  std::string text =
      "#pragma once\n\n// A typed function for every operator, made from the schemas in backends/ops/. Those in "
      "redispatch "
      "go on with the\n// keys that they are given, as a kernel does that hands a call to the kernels below it.\n\n"
      "#include <boxcar/ivalue/array_ref.h>\n#include <boxcar/ivalue/dispatch_key_set.h>\n#include "
      "<boxcar/ivalue/ivalue.h>\n#include <boxcar/schema/function_object.h>\n\n#include <cmath>\n#include "
      "<complex>\n#include <optional>\n#include "
      "<span>\n#include "
      "<string_view>\n#include <tuple>\n#include <vector>\n";
  for (const auto& [outer, body] : bodies)
    text += fmt::format("\nnamespace {} {{\n{}\n}}  // namespace {}\n", outer, body, outer);
  return text;
}

// [stem]: of the file with their schemas. It is part of the names, because sources may be compiled together.
std::string bodies(const std::string& stem, const std::vector<Operator>& operators) {
  std::string text =
      "#include <boxcar/dispatcher/registry/declared_operator.h>\n#include <boxcar/ops.h>\n\n#include <utility>\n";
  for (size_t i = 0; i < operators.size(); ++i) {
    const Operator& op = operators[i];
    if (!op.has_function) continue;
    text += fmt::format("\nnamespace boxcar {{\nstatic constinit DeclaredOperator<{}> op_{}_{}(\"{}\", \"{}\");\n}}\n",
                        functionType(op.schema), stem, i, op.schema.name(), op.schema.overload_name());
    for (const bool redispatch : {false, true}) {
      const std::string rest = parameters(op.schema, op.schema.arguments().size());
      const std::string arguments = forwarded(op.schema);
      text += fmt::format("namespace {} {{\n{} {}({}{}{}) {{ return op_{}_{}.{}({}{}{}); }}\n}}\n",
                          outerNamespace(op.schema, redispatch), resultType(op.schema), functionName(op.schema),
                          redispatch ? "DispatchKeySet keys" : "", redispatch && !rest.empty() ? ", " : "", rest, stem,
                          i, redispatch ? "redispatch" : "call", redispatch ? "keys" : "",
                          redispatch && !arguments.empty() ? ", " : "", arguments);
    }
  }
  return text;
}

size_t countTags(const std::string& tags) {
  return tags.empty() ? 0 : 1 + static_cast<size_t>(std::ranges::count(tags, ','));
}

std::string definitions(std::vector<Operator> operators) {
  // Error messages list overloads in this order, so the ones that users call come first.
  std::ranges::stable_partition(
      operators, [](const Operator& op) { return std::ranges::none_of(op.schema.arguments(), &Argument::is_out); });
  std::map<std::string, std::string> libraries;
  std::map<std::string, std::string> first_files;
  for (const Operator& op : operators) {
    const std::string ns = namespaceOf(op.schema);
    first_files.emplace(ns, op.file);
    const OperatorName& name = op.schema.operator_name();
    libraries[ns] += fmt::format("    {{\"{}\", \"{}\", R\"schema({})schema\", {{\"{}\", {}}}, {}, {{{}}}}},\n",
                                 name.name, name.overload_name, op.text, op.file, op.line, countTags(op.tags), op.tags);
  }
  std::string text = "#include <boxcar/dispatcher/registry/library.h>\n";
  for (const auto& [ns, body] : libraries) {
    text += fmt::format(
        "\nstatic constexpr boxcar::detail::SchemaText k_{0}[] = {{\n{1}}};\n"
        "#line 1 \"{2}\"\nBOXCAR_LIBRARY({0}, m) {{ m.def(k_{0}); }}\n",
        ns, body, first_files[ns]);
  }
  return text;
}

// Registers kernels for the _copy and _scatter forms of views.
std::string viewForms(const std::vector<Operator>& operators) {
  std::map<std::string, std::string> forms;
  for (const Operator& op : operators) {
    if (op.view_form == ViewForm::kNone) continue;
    const OperatorName& name = op.schema.operator_name();
    const bool is_out = std::ranges::any_of(op.schema.arguments(), &Argument::is_out);
    forms[namespaceOf(op.schema)] += fmt::format(
        "    {{\"{}\", \"{}\", \"{}\", ViewForm::{}, {}}},\n",
        (name.name + (name.overload_name.empty() ? "" : ".") + name.overload_name)
            .substr(namespaceOf(op.schema).size() + 2),
        op.view.name, op.view.overload_name, op.view_form == ViewForm::kCopy ? "kCopy" : "kScatter", is_out);
  }
  std::string text = "#include <boxcar/backends/composite/view_forms.h>\n";
  for (const auto& [ns, body] : forms) {
    text += fmt::format(
        "\nusing boxcar::composite::ViewForm;\nstatic constexpr boxcar::composite::DerivedFromView k_forms_{0}[] = "
        "{{\n{1}}};\n"
        "BOXCAR_LIBRARY_IMPL({0}, CompositeExplicitAutograd, m) {{ boxcar::composite::implViewForms(m, k_forms_{0}); "
        "}}\n",
        ns, body);
  }
  return text;
}

void generate(int argc, char** argv) {
  BOXCAR_CHECK(argc > 2, "usage: generate_ops OUT_DIR FILE.schemas…");
  std::vector<Operator> operators = readSchemas({argv + 2, argv + argc});
  chooseDefaults(operators);
  const std::string folder = argv[1];
  writeIfChanged(folder + "/ops.h", header(operators));
  // A source for each file of schemas, so that they compile in parallel.
  std::map<std::string, std::vector<Operator>> files;
  for (const Operator& op : operators) files[op.file].push_back(op);
  for (const auto& [file, declared] : files) {
    const std::string stem = std::filesystem::path(file).stem().string();
    writeIfChanged(fmt::format("{}/ops_{}.cpp", folder, stem), bodies(stem, declared));
  }
  writeIfChanged(folder + "/schemas.cpp", definitions(operators));
  writeIfChanged(folder + "/view_forms.cpp", viewForms(operators));
  std::string texts;
  for (const Operator& op : operators) texts += op.text + "\n";
  writeIfChanged(folder + "/schemas.txt", texts);
}

}  // namespace
}  // namespace boxcar::codegen

int main(int argc, char** argv) {
  return boxcar::codegen::runGenerator("generate_ops", boxcar::codegen::generate, argc, argv);
}
