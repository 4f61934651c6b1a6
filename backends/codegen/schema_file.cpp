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

// Returns the schema of the in-place or out= variant called [name] of an operator that returns one Tensor.
std::string derivedText(const std::string& functional, const std::string& name) {
  constexpr std::string_view kResult = " -> Tensor";
  const std::string full_name = functional.substr(0, functional.find("::") + 2) + name;
  const size_t open = functional.find('(');
  BOXCAR_CHECK(functional.ends_with(kResult),
               "autogen makes forms of operators that return one Tensor: write out the line of {}", full_name);
  std::string arguments = functional.substr(open + 1, functional.size() - kResult.size() - open - 2);
  if (isInplace(name)) {
    constexpr std::string_view kSelf = "Tensor self";
    BOXCAR_CHECK(arguments.starts_with(kSelf),
                 "autogen makes in-place forms of operators whose first argument is `Tensor self`: write out the line "
                 "of {}",
                 full_name);
    arguments.replace(0, kSelf.size(), "Tensor(a!) self");
  } else {
    if (!arguments.empty()) arguments += ", ";
    if (arguments.find("*, ") == std::string::npos) arguments += "*, ";
    arguments += "Tensor(a!) out";
  }
  return fmt::format("{}({}) -> Tensor(a!)", full_name, arguments);
}

// "The sine." becomes "In place: the sine." and "The sine. Writes the result to [out]."
std::string derivedDocstring(std::string docstring, bool is_inplace) {
  if (is_inplace) {
    docstring[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(docstring[0])));
    return "In place: " + docstring;
  }
  return docstring + (docstring.ends_with('.') ? "" : ".") + " Writes the result to [out].";
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
        const std::vector<std::string> forms = takeAutogen(line);
        const std::string tags = takeTags(line);
        const auto add = [&](const std::string& text, std::string of_text) {
          // Only the part of the path that is the same on every machine is shown.
          operators.push_back({parseSchema(text), text, tags, std::move(of_text),
                               "backends/ops/" + std::filesystem::path(path).filename().string(), number});
        };
        add(line, docstring);
        BOXCAR_CHECK(!docstring.empty(), "{} has no docstring: put a `# ` line above it",
                     operators.back().schema.operator_name());
        for (const std::string& form : forms) {
          add(derivedText(line, form), derivedDocstring(docstring, isInplace(form)));
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
