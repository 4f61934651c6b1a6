#include "backends/codegen/schema_file.h"

#include <boxcar/ivalue/error.h>
#include <boxcar/schema/parse_schema.h>
#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "backends/codegen/cpp_type.h"

namespace boxcar::codegen {
namespace {

// Removes the tags from the end of a line and returns them as C++ code.
std::string takeTags(std::string& line) {
  const size_t begin = line.rfind(" [");
  if (!line.ends_with(']') || begin == std::string::npos) return {};
  std::stringstream names(line.substr(begin + 2, line.size() - begin - 3));
  line.resize(begin);
  std::string tags;
  for (std::string name; names >> name;) tags += (tags.empty() ? "::boxcar::Tag::" : ", ::boxcar::Tag::") + name;
  return tags;
}

// Removes " manual_cpp_binding" from the end of a line; returns whether it was there.
bool takeManualBinding(std::string& line) {
  constexpr std::string_view kMark = " manual_cpp_binding";
  if (!line.ends_with(kMark)) return false;
  line.resize(line.size() - kMark.size());
  return true;
}

// Removes " autogen: add_.Tensor, add.out" from the end of a line and returns the names.
std::vector<std::string> takeAutogen(std::string& line) {
  constexpr std::string_view kMark = " autogen: ";
  const size_t begin = line.find(kMark);
  if (begin == std::string::npos) return {};
  std::stringstream list(line.substr(begin + kMark.size()));
  line.resize(begin);
  std::vector<std::string> names;
  for (std::string name; std::getline(list >> std::ws, name, ',');) names.push_back(name);
  return names;
}

// Returns whether the name is that of an in-place variant: true for add_.Tensor, false for add.out.
bool isInplace(const std::string& name) { return name.substr(0, name.find('.')).ends_with('_'); }

// Returns whether the name is that of an out= variant: true for add.out and squeeze_copy.dim_out.
bool isOut(const std::string& name) { return name.ends_with(".out") || name.ends_with("_out"); }

// Returns the form of a view that the name tells: kCopy for permute_copy and permute_copy.out.
ViewForm viewFormOf(const std::string& name) {
  const std::string base = name.substr(0, name.find('.'));
  return base.ends_with("_copy") ? ViewForm::kCopy : base.ends_with("_scatter") ? ViewForm::kScatter : ViewForm::kNone;
}

// The line of an operator: its schema, and its docstring.
struct Line {
  std::string text;
  std::string docstring;

  std::string namespaceMark() const { return text.substr(0, text.find("::") + 2); }
  std::string arguments() const {
    const size_t open = text.find('(') + 1;
    return text.substr(open, text.rfind(") -> ") - open);
  }
  std::string result() const { return text.substr(text.rfind(" -> ") + 4); }
};

std::string lowered(std::string sentence) {
  sentence[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence[0])));
  return sentence;
}

// Throws Error unless [text] begins with [old]; else returns it with [replacement] in place of that.
std::string withBeginning(const std::string& text, std::string_view old, std::string_view replacement,
                          std::string_view what, const std::string& name) {
  BOXCAR_CHECK(text.starts_with(old), "autogen makes {}: write out the line of {}", what, name);
  return std::string(replacement) + text.substr(old.size());
}

// "The sine." becomes "In place: the sine."
Line inplaceForm(const Line& functional, const std::string& name) {
  const std::string arguments =
      withBeginning(functional.arguments(), "Tensor self", "Tensor(a!) self",
                    "in-place forms of operators whose first argument is `Tensor self`", name);
  return {fmt::format("{}({}) -> Tensor(a!)", name, arguments), "In place: " + lowered(functional.docstring)};
}

// "The sine." becomes "The sine. Writes the result to [out]." An operator that returns lists writes to a list.
Line outForm(const Line& functional, const std::string& name) {
  const bool is_list = functional.result() == "Tensor[]";
  std::string arguments = functional.arguments();
  if (!arguments.empty()) arguments += ", ";
  if (arguments.find("*, ") == std::string::npos) arguments += "*, ";
  return {fmt::format("{}({}{}) -> {}", name, arguments, is_list ? "Tensor(a!)[] out" : "Tensor(a!) out",
                      is_list ? "()" : "Tensor(a!)"),
          fmt::format("{}{} Writes the {} to [out].", functional.docstring,
                      functional.docstring.ends_with('.') ? "" : ".", is_list ? "results" : "result")};
}

// "A view of x." becomes "A copy of x." and "A copy of [self] in which [src] is written to: a view of x."
Line formOfView(const Line& view, const std::string& name, ViewForm form) {
  const bool is_list = view.result() == "Tensor(a)[]";
  std::string arguments = withBeginning(view.arguments(), is_list ? "Tensor(a -> *) self" : "Tensor(a) self",
                                        "Tensor self", "forms of views whose first argument is `Tensor(a) self`", name);
  if (form == ViewForm::kCopy) {
    const bool is_plural = view.docstring.starts_with("Views");
    return {fmt::format("{}({}) -> {}", name, arguments, is_list ? "Tensor[]" : "Tensor"),
            withBeginning(view.docstring, is_plural ? "Views" : "A view", is_plural ? "Copies" : "A copy",
                          "copies of views whose docstring begins with `A view` or `Views`", name)};
  }
  BOXCAR_CHECK(!is_list, "autogen makes scatter forms of views that return one Tensor: write out the line of {}", name);
  arguments.insert(std::string_view("Tensor self").size(), ", Tensor src");
  return {fmt::format("{}({}) -> Tensor", name, arguments),
          "A copy of [self] in which [src] is written to: " + lowered(view.docstring)};
}

bool isView(const Line& line) { return line.result() == "Tensor(a)" || line.result() == "Tensor(a)[]"; }

// Returns the in-place, out= or view form called [short_name].
Line derivedLine(const Line& line, const std::string& short_name) {
  const std::string name = line.namespaceMark() + short_name;
  const bool is_view = isView(line);
  BOXCAR_CHECK(is_view || line.result() == "Tensor",
               "autogen makes forms of operators that return one Tensor: write out the line of {}", name);
  if (is_view) {
    const ViewForm form = viewFormOf(short_name);
    BOXCAR_CHECK(form != ViewForm::kNone,
                 "autogen makes forms of a view that are called _copy or _scatter: write out the line of {}", name);
    const Line functional = formOfView(line, name, form);
    return isOut(short_name) ? outForm(functional, name) : functional;
  }
  return isInplace(short_name) ? inplaceForm(line, name) : outForm(line, name);
}

std::vector<Operator> readFile(const std::string& path) {
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
        const bool has_function = !takeManualBinding(line);
        const std::vector<std::string> forms = takeAutogen(line);
        const std::string tags = takeTags(line);
        const auto add = [&](const Line& declared) -> Operator& {
          // Only the part of the path that is the same on every machine is shown.
          operators.push_back({parseSchema(declared.text), declared.text, tags, declared.docstring,
                               "backends/ops/" + std::filesystem::path(path).filename().string(), number});
          operators.back().has_function = has_function;
          return operators.back();
        };
        const Line written{line, docstring};
        const OperatorName name = add(written).schema.operator_name();
        BOXCAR_CHECK(!docstring.empty(), "{} has no docstring: put a `# ` line above it", name);
        for (const std::string& form : forms) {
          Operator& derived = add(derivedLine(written, form));
          if (!isView(written)) continue;
          derived.view_form = viewFormOf(form);
          derived.view = name;
        }
      } catch (const Error& error) {
        BOXCAR_FAIL("{}:{}: {}", path, number, error.message());
      }
      docstring.clear();
    }
  }
  return operators;
}

}  // namespace

std::vector<Operator> readSchemas(const std::vector<std::string>& paths) {
  std::vector<Operator> operators;
  for (const std::string& path : paths) {
    for (Operator& op : readFile(path)) operators.push_back(std::move(op));
  }
  return operators;
}

std::string functionName(const FunctionSchema& schema) {
  std::string name = schema.name().substr(schema.name().find("::") + 2);
  for (const Argument& argument : schema.arguments()) {
    if (argument.is_out()) return name + "_out";
  }
  return name;
}

std::string namespaceOf(const FunctionSchema& schema) { return schema.name().substr(0, schema.name().find("::")); }

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

std::string functionType(const FunctionSchema& schema) {
  std::vector<std::string> types;
  for (const Argument& argument : schema.arguments()) types.push_back(kernelArgumentType(argument));
  return fmt::format("{}({})", resultType(schema), fmt::join(types, ", "));
}

void writeIfChanged(const std::string& path, const std::string& text) {
  std::ifstream before(path);
  std::stringstream content;
  content << before.rdbuf();
  if (before.good() && content.str() == text) return;
  std::ofstream file(path);
  file << text;
  BOXCAR_CHECK(file.good(), "cannot write {}", path);
}

}  // namespace boxcar::codegen
