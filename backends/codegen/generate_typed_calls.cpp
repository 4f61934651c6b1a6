// Writes a table that maps operator names to boxed adapters around their typed functions, for tests that call the
// functions in <boxcar/ops.h>: `generate_typed_calls OUT_DIR PARTS FILE.schemas…` writes OUT_DIR/typed_calls_0.cpp to
// typed_calls_{PARTS-1}.cpp, which compile in parallel. They include tests/numerics/typed_calls.h.

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

// Returns the type of the function in <boxcar/ops.h>, which distinguishes overloads.
std::string callerFunctionType(const FunctionSchema& schema) {
  std::vector<std::string> types;
  for (const Argument* argument : parameterOrder(schema)) types.push_back(callerArgumentType(*argument));
  return fmt::format("{} (*)({})", resultType(schema), fmt::join(types, ", "));
}

// Returns a lambda that takes the arguments in schema order, as on a stack, and calls the function with them.
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
    if (!operators[i].has_function) continue;
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
