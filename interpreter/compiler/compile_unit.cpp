#include <boxcar/interpreter/compiler/code_builder.h>
#include <boxcar/interpreter/compiler/codegen.h>
#include <boxcar/interpreter/compiler/compile_unit.h>
#include <boxcar/interpreter/compiler/inference.h>
#include <boxcar/interpreter/compiler/liveness.h>

#include <unordered_set>

namespace boxcar::interp {
namespace {

// Adds the structs that types of the unit lead to, so that it describes every type that it names.
void addReachedStructs(CodeUnit& unit) {
  std::unordered_set<TypePtr> known;
  for (const CodeStruct& each : unit.structs) known.insert(each.type);
  const auto add = [&](TypePtr type) {
    eachStruct(type, [&](TypePtr each) {
      if (known.insert(each).second) unit.structs.push_back({each, CodeStruct::Origin::Reached, 0, {}, {}});
    });
  };
  const auto addAll = [&add](const FunctionSchema& schema) {
    for (const Argument& argument : schema.arguments()) add(argument.type());
    for (const Argument& result : schema.returns()) add(result.type());
  };
  for (const TypePtr type : unit.types) add(type);
  for (const CodeGlobal& global : unit.globals) add(global.type);
  for (const CodeExport& exported : unit.exports) addAll(exported.schema);
  for (const CodeField& field : unit.fields) add(field.type);
  for (size_t i = 0; i < unit.structs.size(); ++i) {
    for (const StructField& field : layoutOf(unit.structs[i].type)->fields) add(field.type);
  }
}

// [earlier] and [outline] are null for a script.
CodeUnit compile(const syntax::SyntaxTree& tree, Diagnostics& diagnostics, ModuleLoader* loader,
                 const EarlierInputs* earlier, InputOutline* outline) {
  const size_t first_diagnostic = diagnostics.size();
  const size_t errors_before = diagnostics.error_count();
  Declarations declarations(tree, loader, diagnostics, earlier);
  // Without the names of the failed file, there would be spurious errors.
  if (declarations.lacksModule()) return {};
  UnitBuilder unit(tree.source);

  // The statements come first: they determine the types of the constants.
  const Span whole{0, static_cast<uint32_t>(tree.source->text().size())};
  std::vector<typed::Function> functions;
  functions.push_back(Inference(declarations, nullptr, diagnostics, nullptr, outline).run(tree.statements, whole));
  for (const auto& function : declarations.functions()) {
    if (function->body == nullptr) continue;
    functions.push_back(
        Inference(declarations, function.get(), diagnostics).run(function->body->statements, function->span));
  }
  diagnostics.sortFrom(first_diagnostic);
  if (diagnostics.error_count() != errors_before) return {};

  for (const ScriptConstant& constant : declarations.constants()) {
    unit.global(std::string(constant.name), constant.type);
    if (outline != nullptr && !constant.is_earlier) ++outline->own_constants;
  }
  unit.unit().modules = declarations.modules();
  unit.unit().imports = declarations.imports();
  unit.unit().structs = declarations.codeStructs();
  unit.unit().handlers = declarations.handlers();
  std::vector<FunctionShape> shapes;
  unit.unit().takes_variables = outline != nullptr;
  for (typed::Function& function : functions) {
    // The values of a session's variables are also needed if the input fails.
    if (outline == nullptr || &function != &functions[0]) markLastUses(function);
    shapes.push_back({function.arguments, function.result});
    unit.declareFunction();
  }
  for (size_t i = 0; i < functions.size(); ++i) {
    try {
      unit.unit().functions[i] = Codegen(unit, tree.source, shapes, functions[i]).run();
    } catch (const Error& error) {
      diagnostics.error(tree.source, functions[i].span, error.message());
      return {};
    }
  }
  for (const auto& function : declarations.functions()) {
    std::optional<uint32_t> body;
    if (function->body != nullptr) body = function->function;
    if (function->kind == BodyKind::Operator) {
      unit.unit().operators.push_back({function->schema, body, function->name_span});
    } else if (function->kind == BodyKind::Function && body) {
      unit.unit().exports.push_back({function->schema, *body, function->name_span});
    }
  }
  addReachedStructs(unit.unit());
  return std::move(unit).finish();
}

}  // namespace

CodeUnit compileUnit(const syntax::SyntaxTree& tree, Diagnostics& diagnostics, ModuleLoader* loader) {
  return compile(tree, diagnostics, loader, nullptr, nullptr);
}

CodeUnit compileInput(const syntax::SyntaxTree& tree, Diagnostics& diagnostics, ModuleLoader* loader,
                      const EarlierInputs& earlier, InputOutline& outline) {
  return compile(tree, diagnostics, loader, &earlier, &outline);
}

}  // namespace boxcar::interp
