// Writes a table from the operators' names to boxed adapters around their typed functions, for tests that call what is
// in <boxcar/ops.h>: `generate_typed_calls OUT_DIR PARTS FILE.schemas…` makes OUT_DIR/typed_calls_0.cpp to
// typed_calls_{PARTS-1}.cpp, so that they compile side by side. tests/numerics/typed_calls.h has what they include.

#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backends/codegen/cpp_type.h"
#include "backends/codegen/generator_main.h"
#include "backends/codegen/schema_file.h"

namespace boxcar::codegen {
namespace {

// The type of the function in <boxcar/ops.h>, which tells overloads apart.
std::string callerFunctionType(const FunctionSchema& schema) {
  std::vector<std::string> types;
  for (const Argument* argument : parameterOrder(schema)) types.push_back(callerArgumentType(*argument));
  return fmt::format("{} (*)({})", resultType(schema), fmt::join(types, ", "));
}

// A lambda that takes the arguments in the schema's order, as a stack has them, and calls the function with them.
std::string adapter(const FunctionSchema& schema) {
  std::vector<std::string> parameters;
  for (const Argument& argument : schema.arguments()) {
    parameters.push_back(fmt::format("{} {}", kernelArgumentType(argument), argument.name()));
  }
  std::vector<std::string> names;
  for (const Argument* argument : parameterOrder(schema)) names.push_back(argument->name());
  std::string scope = "::boxcar::";
  if (namespaceOf(schema) != "aten") scope += namespaceOf(schema) + "::";
  return fmt::format("+[]({}) -> {} {{ return static_cast<{}>(&{}{})({}); }}", fmt::join(parameters, ", "),
                     resultType(schema), callerFunctionType(schema), scope, functionName(schema),
                     fmt::join(names, ", "));
}

std::string part(const std::vector<Operator>& operators, size_t first, size_t past) {
  std::string text =
      "#include <boxcar/ops.h>\n\n#include \"tests/numerics/typed_calls.h\"\n\nnamespace boxcar::numerics {\n"
      "namespace {\n\nusing ::boxcar::ArrayRef;\n\nconst TypedCalls calls({\n";
  for (size_t i = first; i < past; ++i) {
    const FunctionSchema& schema = operators[i].schema;
    text += fmt::format("    {{\"{}\", typedCall({})}},\n", toString(schema.operator_name()), adapter(schema));
  }
  return text + "});\n\n}  // namespace\n}  // namespace boxcar::numerics\n";
}

void generate(int argc, char** argv) {
  BOXCAR_CHECK(argc > 3, "usage: generate_typed_calls OUT_DIR PARTS FILE.schemas…");
  const std::vector<Operator> operators = readSchemas({argv + 3, argv + argc});
  const size_t parts = std::stoul(argv[2]);
  for (size_t i = 0; i < parts; ++i) {
    writeIfChanged(fmt::format("{}/typed_calls_{}.cpp", argv[1], i),
                   part(operators, operators.size() * i / parts, operators.size() * (i + 1) / parts));
  }
}

}  // namespace
}  // namespace boxcar::codegen

int main(int argc, char** argv) {
  return boxcar::codegen::runGenerator("generate_typed_calls", boxcar::codegen::generate, argc, argv);
}
