#include "backends/codegen/schema_file.h"

#include <boxcar/ivalue/error.h>
#include <boxcar/schema/parse_schema.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "backends/codegen/cpp_type.h"

namespace boxcar::codegen {
namespace {

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
