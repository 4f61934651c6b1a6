#include <boxcar/interpreter/bytecode/bytecode.h>
#include <boxcar/interpreter/service/definition.h>
#include <boxcar/interpreter/service/meaning.h>
#include <boxcar/interpreter/service/text.h>
#include <boxcar/interpreter/session/library_scripts.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>

namespace boxcar::service {

using boost::variant2::get_if;
using interp::ScriptFunction;

namespace {

// Returns the file that an `import` around [offset] names.
std::optional<std::vector<Location>> importedFile(const Analysis& analysis, uint32_t offset) {
  for (const syntax::StmtPtr& statement : analysis.tree().statements) {
    const auto* import = get_if<syntax::Import>(&statement->node);
    if (import == nullptr || offset < import->path_span.begin || offset > import->path_span.end) continue;
    if (interp::isPluginPath(import->path)) return std::vector<Location>();
    const std::string path = ImportedFiles::pathOf(*analysis.source(), import->path);
    if (interp::libraryText(path)) return std::vector<Location>();  // it is no file
    try {
      return std::vector<Location>{{Source::create(path, analysis.files().textOf(path, path)), {0, 0}}};
    } catch (const Error&) {
      return std::vector<Location>();
    }
  }
  return std::nullopt;
}

// Returns where an argument is in the signature of [function].
Span argumentSpan(const Analysis& analysis, const ScriptFunction& function, std::string_view name) {
  const Span signature{function.name_span.end, function.body->span.begin};
  // The name comes after a type, which may be spelled like it; each argument ends with its name.
  Span last;
  for (Span rest = signature; rest.begin < rest.end;) {
    const Span found = findWord(*analysis.source(), rest, name);
    if (found.empty()) break;
    last = found;
    const std::string_view text = analysis.source()->text();
    const char next = found.end < text.size() ? text[found.end] : '\0';
    if (next == ',' || next == ')' || next == '=') break;
    rest.begin = found.end;
  }
  return last;
}

std::vector<Location> functionPlaces(const Analysis& analysis, const ScriptFunction& function) {
  if (!function.import) return {{analysis.source(), function.name_span}};
  std::vector<Location> places;
  for (const auto& [path, unit] : analysis.files().units()) {
    if (interp::libraryText(path)) continue;
    for (const interp::CodeExport& exported : unit.exports) {
      if (exported.schema == function.schema) places.push_back({unit.source, exported.span});
    }
  }
  return places;
}

std::vector<Location> modePlaces(const Analysis& analysis, const interp::ScriptMode& mode) {
  if (mode.scope.kind == interp::CodeScopeKind::Mode) return {{analysis.source(), mode.span}};
  std::vector<Location> places;
  for (const auto& [path, unit] : analysis.files().units()) {
    if (interp::libraryText(path)) continue;
    for (const interp::CodeHandler& handler : unit.handlers) {
      if (handler.kind == interp::HandlerKind::Mode && handler.name == mode.name) {
        places.push_back({unit.source, handler.span});
      }
    }
  }
  return places;
}

std::vector<Location> operatorPlaces(Analysis& analysis, const NameUse& use) {
  const interp::OverloadSet* set = operatorsOf(analysis, use);
  if (set == nullptr) return {};
  const FunctionSchema* meant = nullptr;
  for (const interp::Findings::Call& call : analysis.findings().calls) {
    if (call.name_span.begin <= use.span.begin && use.span.end <= call.name_span.end) meant = call.schema;
  }
  const auto isMeant = [&](const FunctionSchema& schema) {
    if (meant != nullptr) return &schema == meant;
    if (!use.overload.empty() && schema.overload_name() != use.overload) return false;
    return std::ranges::find(set->schemas, &schema) != set->schemas.end();
  };
  std::vector<Location> places;
  for (const auto& function : analysis.declarations().functions()) {
    if (function->kind == interp::BodyKind::Operator && isMeant(function->schema)) {
      places.push_back({analysis.source(), function->name_span});
    }
  }
  for (const auto& [path, unit] : analysis.files().units()) {
    if (interp::libraryText(path)) continue;
    for (const interp::CodeOperator& op : unit.operators) {
      if (isMeant(op.schema)) places.push_back({unit.source, op.span});
    }
  }
  return places;
}

std::vector<Location> structPlaces(const Analysis& analysis, const interp::ScriptStruct& made) {
  if (!made.is_imported) return {{analysis.source(), made.span}};
  std::vector<Location> places;
  for (const auto& [path, unit] : analysis.files().units()) {
    if (interp::libraryText(path)) continue;
    for (const interp::CodeStruct& each : unit.structs) {
      if (each.type == made.type && each.origin == interp::CodeStruct::Origin::Declared) {
        places.push_back({unit.source, each.span});
      }
    }
  }
  return places;
}

// Returns where the member of the struct in front of the point is declared; a field of an imported struct is where the
// struct is. Nothing if the value is no struct's.
std::optional<std::vector<Location>> memberPlaces(Analysis& analysis, const Cursor& cursor, const NameUse& use) {
  if (!use.is_member || use.token < 2) return std::nullopt;
  const Span object = cursor.expressionEndingAt(use.token - 2);
  const interp::Findings::Value* const value = object.empty() ? nullptr : analysis.valueAt(object);
  if (value == nullptr) return std::nullopt;
  const interp::ScriptStruct* const declared = analysis.declarations().structOf(value->type);
  if (declared == nullptr) return std::nullopt;
  if (const ScriptFunction* const method = declared->method(use.text)) return functionPlaces(analysis, *method);
  if (!interp::layoutOf(declared->type)->indexOf(use.text)) return std::nullopt;
  if (declared->is_imported) return structPlaces(analysis, *declared);
  for (const syntax::StmtPtr& statement : analysis.tree().statements) {
    const auto* made = get_if<syntax::Struct>(&statement->node);
    if (made == nullptr || made->name.span != declared->span) continue;
    for (const syntax::StmtPtr& member : made->body.statements) {
      const auto* field = get_if<syntax::Field>(&member->node);
      if (field != nullptr && field->name.text == use.text) {
        return std::vector<Location>{{analysis.source(), field->name.span}};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Location> definitions(std::string_view text, uint32_t offset, const std::string& name,
                                  const Workspace& workspace) {
  Analysis analysis(std::string(text), name, workspace);
  if (auto file = importedFile(analysis, offset)) return *std::move(file);
  const Cursor cursor(analysis.source(), offset);
  const std::optional<NameUse> use = nameAt(cursor, analysis.source(), offset);
  if (!use || use->is_namespace || use->is_keyword) return {};

  interp::Declarations& declarations = analysis.declarations();
  if (auto places = memberPlaces(analysis, cursor, *use)) return *std::move(places);
  if (isVariable(analysis, *use)) {
    if (const auto* constant = declarations.findConstant(use->text)) return {{analysis.source(), constant->span}};
    const ScriptFunction* function = analysis.functionAt(use->span.begin);
    if (function != nullptr && function->schema.argumentIndexWithName(use->text)) {
      const Span span = argumentSpan(analysis, *function, use->text);
      if (!span.empty()) return {{analysis.source(), span}};
    }
    const auto assignments = analysis.assignmentsOf(use->text, use->span.begin);
    if (!assignments.empty()) return {{analysis.source(), assignments.front().span}};
    return {};
  }
  if (use->space.empty()) {
    if (const auto* function = declarations.findFunction(use->text, use->span.begin)) {
      return functionPlaces(analysis, *function);
    }
    if (const auto* made = declarations.findStruct(use->text, use->span.begin)) return structPlaces(analysis, *made);
    if (const auto* mode = declarations.findMode(use->text, use->span.begin)) return modePlaces(analysis, *mode);
    for (const auto& function : declarations.functions()) {
      if (!function->import && function->name_span == use->span) return {{analysis.source(), use->span}};
    }
  }
  return operatorPlaces(analysis, *use);
}

}  // namespace boxcar::service
