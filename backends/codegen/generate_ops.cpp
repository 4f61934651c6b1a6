// Writes, from the operators' schemas, what a program calls them by: `generate_ops OUT_DIR FILE.schemas…` makes
//   OUT_DIR/ops.h        a typed function for every operator
//   OUT_DIR/ops.cpp      their bodies
//   OUT_DIR/schemas.cpp  the operators' definitions
// A .schemas file has one schema a line; the `#` line above it is its docstring. Tags stand behind the schema:
// `aten::_print(str s) -> () [io]`.

#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/schema/parse_schema.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "backends/codegen/cpp_type.h"

namespace boxcar::codegen {
namespace {

struct Operator {
  FunctionSchema schema;
  std::string text;
  std::string tags;  // "::boxcar::Tag::io", as C++
  std::string docstring;
  std::string file;
  int line;
  size_t required = 0;  // parameters without a default in C++
};

// Takes the tags off the end of a line; as C++.
std::string takeTags(std::string& line) {
  const size_t begin = line.rfind(" [");
  if (!line.ends_with(']') || begin == std::string::npos) return {};
  std::stringstream names(line.substr(begin + 2, line.size() - begin - 3));
  line.resize(begin);
  std::string tags;
  for (std::string name; names >> name;) tags += (tags.empty() ? "::boxcar::Tag::" : ", ::boxcar::Tag::") + name;
  return tags;
}

std::vector<Operator> readSchemas(const std::string& path) {
  std::ifstream file(path);
  BOXCAR_CHECK(file.good(), "cannot read {}", path);
  std::vector<Operator> operators;
  std::string line;
  std::string docstring;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.starts_with("# ==") || line.empty()) {
      docstring.clear();
    } else if (line.starts_with("# ")) {
      docstring = line.substr(2);
    } else {
      try {
        std::string tags = takeTags(line);
        // What is shown of the path does not depend on the machine.
        operators.push_back({parseSchema(line), line, std::move(tags), docstring,
                             "backends/ops/" + std::filesystem::path(path).filename().string(), number});
      } catch (const Error& error) {
        BOXCAR_FAIL("{}:{}: {}", path, number, error.message());
      }
      BOXCAR_CHECK(!docstring.empty(), "{}:{}: {} has no docstring: put a `# ` line above it", path, number,
                   operators.back().schema.operator_name());
      docstring.clear();
    }
  }
  return operators;
}

// `add` of aten::add.Tensor, `add_out` of aten::add.out.
std::string functionName(const FunctionSchema& schema) {
  std::string name = schema.name().substr(schema.name().find("::") + 2);
  for (const Argument& argument : schema.arguments()) {
    if (argument.is_out()) return name + "_out";
  }
  return name;
}

std::string namespaceOf(const FunctionSchema& schema) { return schema.name().substr(0, schema.name().find("::")); }

// Out arguments come first in C++, as in PyTorch: add_out(out, self, other).
std::vector<const Argument*> parameterOrder(const FunctionSchema& schema) {
  std::vector<const Argument*> order;
  for (const Argument& argument : schema.arguments()) {
    if (argument.is_out()) order.push_back(&argument);
  }
  for (const Argument& argument : schema.arguments()) {
    if (!argument.is_out()) order.push_back(&argument);
  }
  return order;
}

// C++ takes defaults only behind the last parameter without one.
size_t requiredParameters(const FunctionSchema& schema) {
  const auto order = parameterOrder(schema);
  size_t required = order.size();
  while (required > 0 && defaultExpression(*order[required - 1]).has_value()) --required;
  return required;
}

// A call that two overloads take alike would be ambiguous: the longer one then needs one argument more.
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

// The parameters as a declaration has them, those from [required] on with their defaults.
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

// `, self, other`: the arguments in the schema's order, as the handle takes them.
std::string forwarded(const FunctionSchema& schema) {
  std::vector<std::string> names;
  for (const Argument& argument : schema.arguments()) names.push_back(argument.name());
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string functionType(const FunctionSchema& schema) {
  std::vector<std::string> types;
  for (const Argument& argument : schema.arguments()) types.push_back(kernelArgumentType(argument));
  return fmt::format("{}({})", resultType(schema), fmt::join(types, ", "));
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
      "<boxcar/ivalue/ivalue.h>\n\n#include <cmath>\n#include <complex>\n#include <optional>\n#include "
      "<span>\n#include "
      "<string_view>\n#include <tuple>\n#include <vector>\n";
  for (const auto& [outer, body] : bodies)
    text += fmt::format("\nnamespace {} {{\n{}\n}}  // namespace {}\n", outer, body, outer);
  return text;
}

std::string bodies(const std::vector<Operator>& operators) {
  std::string text =
      "#include <boxcar/dispatcher/dispatcher.h>\n#include <boxcar/ops.h>\n\n// The handle is looked up at the first "
      "call.\n"
      "#define BOXCAR_HANDLE(name, overload, ...)                                                     \\\n"
      "  static const auto op =                                                                      \\\n"
      "      ::boxcar::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<__VA_ARGS__>()\n";
  for (const Operator& op : operators) {
    for (const bool redispatch : {false, true}) {
      const std::string rest = parameters(op.schema, op.schema.arguments().size());
      const std::string arguments = forwarded(op.schema);
      text += fmt::format(
          "\nnamespace {} {{\n{} {}({}{}{}) {{\n  BOXCAR_HANDLE(\"{}\", \"{}\", {});\n  return "
          "op.{}({}{}{});\n}}\n}}\n",
          outerNamespace(op.schema, redispatch), resultType(op.schema), functionName(op.schema),
          redispatch ? "DispatchKeySet keys" : "", redispatch && !rest.empty() ? ", " : "", rest, op.schema.name(),
          op.schema.overload_name(), functionType(op.schema), redispatch ? "redispatch" : "call",
          redispatch ? "keys" : "", redispatch && !arguments.empty() ? ", " : "", arguments);
    }
  }
  return text;
}

std::string definitions(const std::vector<Operator>& operators) {
  std::map<std::string, std::string> libraries;
  for (const Operator& op : operators) {
    libraries[namespaceOf(op.schema)] +=
        fmt::format("#line {} \"{}\"\n  m.def(R\"schema({})schema\"{});\n", op.line, op.file, op.text,
                    op.tags.empty() ? "" : fmt::format(", {{{}}}", op.tags));
  }
  std::string text = "#include <boxcar/dispatcher/library.h>\n";
  for (const auto& [ns, body] : libraries) {
    text += fmt::format("\n#line 1 \"backends/ops/{}.schemas\"\nBOXCAR_LIBRARY({}, m) {{\n{}}}\n", ns, ns, body);
  }
  return text;
}

// A file that is the same as before is left alone, so that nothing is compiled again for it.
void writeIfChanged(const std::string& path, const std::string& text) {
  std::ifstream before(path);
  std::stringstream content;
  content << before.rdbuf();
  if (before.good() && content.str() == text) return;
  std::ofstream file(path);
  file << text;
  BOXCAR_CHECK(file.good(), "cannot write {}", path);
}

void generate(int argc, char** argv) {
  BOXCAR_CHECK(argc > 2, "usage: generate_ops OUT_DIR FILE.schemas…");
  std::vector<Operator> operators;
  for (int i = 2; i < argc; ++i) {
    for (Operator& op : readSchemas(argv[i])) operators.push_back(std::move(op));
  }
  chooseDefaults(operators);
  const std::string folder = argv[1];
  writeIfChanged(folder + "/ops.h", header(operators));
  writeIfChanged(folder + "/ops.cpp", bodies(operators));
  writeIfChanged(folder + "/schemas.cpp", definitions(operators));
}

}  // namespace
}  // namespace boxcar::codegen

int main(int argc, char** argv) {
  try {
    boxcar::codegen::generate(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "generate_ops: error: %s\n", error.what());
    return 1;
  }
}
