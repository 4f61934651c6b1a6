#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/compiler/declarations.h>
#include <boxcar/interpreter/compiler/declared_types.h>
#include <boxcar/interpreter/compiler/environment.h>
#include <boxcar/interpreter/syntax/token.h>
#include <boxcar/interpreter/syntax/wording.h>
#include <boxcar/schema/parse_schema.h>
#include <boxcar/schema/words.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace boxcar::interp {

using boost::variant2::get_if;

namespace {

// Hints for types as Python and TorchScript write them.
constexpr std::pair<std::string_view, std::string_view> kTypesOfPython[] = {
    {"List", "write a list after its elements' type: `int[]`, `Tensor[]`"},
    {"list", "write a list after its elements' type: `int[]`, `Tensor[]`"},
    {"Optional", "write a type that may be None with a question mark: `Tensor?`"},
    {"Tuple", "write a tuple in parentheses: `(Tensor, int)`"},
    {"tuple", "write a tuple in parentheses: `(Tensor, int)`"},
    {"dict", "write a dict as `Dict(str, Tensor)`"},
    {"string", "write a text as `str`"},
};

void noteTypeOfPython(std::string_view word, Diagnostic& diagnostic) {
  const auto known = std::ranges::find(kTypesOfPython, word, &std::pair<std::string_view, std::string_view>::first);
  if (known != std::end(kTypesOfPython)) diagnostic.note(std::string(known->second));
}

// Returns [text] without trailing blanks.
std::string_view withoutTrailingBlanks(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// The types of the arguments and results.
std::vector<TypePtr> typesOf(const FunctionSchema& schema) {
  std::vector<TypePtr> types;
  for (const Argument& argument : schema.arguments()) types.push_back(argument.type());
  for (const Argument& result : schema.returns()) types.push_back(result.type());
  return types;
}

// Collects the type variables in [types], each once.
void collectVariables(std::span<const TypePtr> types, std::vector<TypePtr>& variables) {
  for (const TypePtr type : types) {
    if (type->kind() != TypeKind::Variable) {
      collectVariables(type->contained(), variables);
    } else if (std::ranges::find(variables, type) == variables.end()) {
      variables.push_back(type);
    }
  }
}

}  // namespace

Declarations::Declarations(const syntax::SyntaxTree& tree, ModuleLoader* loader, Diagnostics& diagnostics,
                           const EarlierInputs* earlier)
    : source_(tree.source), earlier_(earlier) {
  if (earlier != nullptr) addModulesOf(*earlier);
  loadImports(tree, loader, diagnostics);
  declareStructs(tree, diagnostics);
  for (const syntax::StmtPtr& statement : tree.statements) {
    if (const auto* function = get_if<syntax::Function>(&statement->node)) add(*statement, *function, diagnostics);
    if (const auto* op = get_if<syntax::Operator>(&statement->node)) add(*statement, *op, diagnostics);
    if (const auto* constant = get_if<syntax::Const>(&statement->node)) add(*constant, diagnostics);
    if (const auto* mode = get_if<syntax::Mode>(&statement->node)) add(*statement, *mode, diagnostics);
    if (const auto* import = get_if<syntax::Import>(&statement->node)) add(*statement, *import, diagnostics);
    if (const auto* declared = get_if<syntax::Struct>(&statement->node)) add(*declared, diagnostics);
    if (const auto* use = get_if<syntax::Use>(&statement->node)) {
      uses_.push_back({use->space.text, use->space.span});
    }
  }
  if (earlier != nullptr) addNamesOf(*earlier);
  compareWithImports(diagnostics);
  // An `impl` may be for an operator that is declared further down.
  addHandlers(tree.statements, diagnostics);
  checkUses(diagnostics);
}

// A namespace in a `use` must have operators; those of modules are known by now.
void Declarations::checkUses(Diagnostics& diagnostics) const {
  if (uses_.empty()) return;
  std::vector<std::string> spaces = {"aten", "prim"};
  for (const std::string& name : operatorNames(true, UINT32_MAX)) {
    const std::string space = name.substr(0, name.find("::"));
    if (spaces.back() != space) spaces.push_back(space);
  }
  std::ranges::sort(spaces);
  spaces.erase(std::unique(spaces.begin(), spaces.end()), spaces.end());
  const std::vector<std::string_view> known(spaces.begin(), spaces.end());
  for (const Use& use : uses_) {
    if (std::ranges::find(known, use.space) != known.end()) continue;
    diagnostics.error(source_, use.span,
                      withSuggestion(fmt::format("no operator has the namespace `{}`", use.space), use.space, known));
  }
}

bool Declarations::claimName(std::string_view name, const SourcePtr& source, Span span, const SourcePtr& place_source,
                             Span place, Diagnostics& diagnostics) {
  const auto [first, is_new] = names_.try_emplace(name, Location{source, span});
  if (is_new) return true;
  Diagnostic& diagnostic = diagnostics.error(place_source, place, fmt::format("`{}` is defined twice", name));
  diagnostic.note("the first definition", first->second.source, first->second.span);
  if (source != place_source) diagnostic.note("the second definition", source, span);
  return false;
}

ScriptFunction& Declarations::addBody(BodyKind kind, FunctionSchema schema, std::string title, Span name_span,
                                      Span span, const syntax::Block* body) {
  const uint32_t index = body != nullptr ? ++body_count_ : 0;
  functions_.push_back(std::make_unique<ScriptFunction>(
      ScriptFunction{kind, std::move(schema), std::move(title), name_span, span, body, index, 0, std::nullopt}));
  return *functions_.back();
}

std::optional<FunctionSchema> Declarations::readSignature(Span signature, std::string_view text,
                                                          Diagnostics& diagnostics) const {
  text = withoutTrailingBlanks(text);
  const NamesAt names(*this, signature.begin);
  try {
    SchemaPrefix prefix = parseSchemaPrefix(text, &names);
    if (prefix.length != text.size()) {
      const auto begin = signature.begin + static_cast<uint32_t>(prefix.length);
      diagnostics.error(source_, {begin, signature.begin + static_cast<uint32_t>(text.size())},
                        "this does not belong to a schema");
      return std::nullopt;
    }
    if (reportTypeVariables(typesOf(prefix.schema), signature, diagnostics)) return std::nullopt;
    return std::move(prefix.schema);
  } catch (const SchemaError& error) {
    report(error, {signature.begin, signature.begin + static_cast<uint32_t>(text.size())}, diagnostics);
  } catch (const Error& error) {
    diagnostics.error(source_, signature, error.message());
  }
  return std::nullopt;
}

bool Declarations::reportTypeVariables(std::span<const TypePtr> types, Span span, Diagnostics& diagnostics) const {
  std::vector<TypePtr> variables;
  collectVariables(types, variables);
  if (variables.empty()) return false;
  std::vector<std::string_view> candidates = NamesAt(*this, span.begin).candidates();
  candidates.insert(candidates.end(), detail::typeNames().begin(), detail::typeNames().end());
  // In a schema, a word that names no type is a type variable; scripts have none.
  for (const TypePtr variable : variables) {
    const std::string_view word = variable->text();
    const std::string_view text = source_->text(span);
    const auto isPart = [&text](size_t i) {
      return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
    };
    size_t at = text.find(word);
    while (at != std::string_view::npos && (isPart(at + word.size()) || (at > 0 && isPart(at - 1)))) {
      at = text.find(word, at + 1);
    }
    const auto begin = span.begin + static_cast<uint32_t>(at == std::string_view::npos ? 0 : at);
    const Span place{begin, begin + static_cast<uint32_t>(word.size())};
    Diagnostic& diagnostic = diagnostics.error(
        source_, place, withSuggestion(fmt::format("there is no type called `{}`", word), word, candidates));
    noteTypeOfPython(word, diagnostic);
  }
  return !variables.empty();
}

// A body reads its arguments by name, so the names cannot be keywords.
bool Declarations::checkArgumentNames(const FunctionSchema& schema, Span span, Diagnostics& diagnostics) const {
  for (const Argument& argument : schema.arguments()) {
    if (syntax::keywordOrName(argument.name()) == syntax::TokenKind::Name) continue;
    diagnostics.error(
        source_, span,
        fmt::format("`{}` is a keyword, so the body could not use an argument of that name; give it another name",
                    argument.name()));
    return false;
  }
  return true;
}

// Reports an error of the schema's parser in [span], worded for scripts, whose text goes on after the schema's end.
void Declarations::report(const SchemaError& error, Span span, Diagnostics& diagnostics) const {
  constexpr std::string_view kUnknownType = "unknown type ";
  constexpr std::string_view kEnd = "found the end of the text";
  auto begin = span.begin + static_cast<uint32_t>(error.offset());
  auto end = begin + static_cast<uint32_t>(error.length());
  std::string reason = error.reason();
  if (reason.starts_with(kUnknownType)) {
    const std::string_view rest = std::string_view(reason).substr(kUnknownType.size() + error.length());
    reason = fmt::format("there is no type called `{}`{}", source_->text({begin, end}), rest);
  }
  if (reason.starts_with("expected the end")) {
    end = span.end;
    reason =
        fmt::format("this does not belong to the type `{}`", withoutTrailingBlanks(source_->text({span.begin, begin})));
  }
  if (!reason.ends_with(kEnd)) {
    const bool wants_name = reason.starts_with("expected an argument name");
    Diagnostic& diagnostic = diagnostics.error(source_, {begin, end}, std::move(reason));
    noteTypeOfPython(source_->text({begin, end}), diagnostic);
    if (source_->text({begin, end}).starts_with(':')) {
      diagnostic.note("a type comes before the name that it is for: `int x`");
    }
    if (wants_name) diagnostic.note("an argument's type comes before its name: `Tensor x`, `int[] sizes`");
    return;
  }
  const std::string_view text = source_->text();
  while (begin < text.size() && (text[begin] == ' ' || text[begin] == '\t' || text[begin] == '\r')) ++begin;
  const bool at_line_end = begin >= text.size() || text[begin] == '\n' || text[begin] == '#';
  end = begin + (at_line_end ? 0 : 1);
  reason.resize(reason.size() - kEnd.size());
  std::ranges::replace(reason, '\'', '`');
  reason += at_line_end ? "found end of line" : fmt::format("found `{}`", text[begin]);
  const bool lacks_returns = reason.starts_with("expected `->`");
  Diagnostic& diagnostic = diagnostics.error(source_, {begin, end}, std::move(reason));
  if (lacks_returns) {
    diagnostic.note("what it returns is always written: `fn f(int x) -> int { ... }`, or `-> ()` for nothing");
  }
}

TypePtr Declarations::readType(Span span, Diagnostics& diagnostics) const {
  const NamesAt names(*this, span.begin);
  try {
    const TypePtr type = scriptType(parseType(source_->text(span), &names));
    return reportTypeVariables({&type, 1}, span, diagnostics) ? Type::any() : type;
  } catch (const SchemaError& error) {
    report(error, span, diagnostics);
  } catch (const Error& error) {
    diagnostics.error(source_, span, error.message());
  }
  return Type::any();
}

void Declarations::add(const syntax::Stmt& statement, const syntax::Function& function, Diagnostics& diagnostics) {
  auto schema = readSignature(function.signature, diagnostics);
  const Span name = function.name.span;
  if (!schema || !checkArgumentNames(*schema, name, diagnostics)) return;
  if (!claimName(function.name.text, source_, name, source_, name, diagnostics)) return;
  ScriptFunction& added = addBody(BodyKind::Function, *std::move(schema), fmt::format("fn {}", function.name.text),
                                  name, statement.span, &function.body);
  functions_by_name_.emplace(function.name.text, &added);
}

void Declarations::add(const syntax::Stmt& statement, const syntax::Operator& op, Diagnostics& diagnostics) {
  auto schema = readSignature(op.signature, diagnostics);
  if (schema && reportStructs(typesOf(*schema), op.signature, diagnostics)) return;
  if (!schema || (op.body && !checkArgumentNames(*schema, op.name.span, diagnostics))) return;
  if (!op.name.space) {
    diagnostics.error(source_, op.name.span,
                      fmt::format("an operator's name has a namespace: `op ns::{}`", schema->name()));
    return;
  }
  const auto defined = Dispatcher::singleton().findSchema(schema->operator_name());
  if (earlier_ != nullptr && earlier_->defined(schema->operator_name())) {
    if (std::string fault = earlier_->fault_of(*schema); !fault.empty()) {
      diagnostics.error(source_, op.name.span, std::move(fault));
      return;
    }
  } else if (defined && defined->hasSchema()) {
    diagnostics.error(source_, op.name.span, fmt::format("`{}` is defined twice", schema->operator_name()))
        .note(fmt::format("the first definition, at {}: {}", defined->entry().schemaSite(), defined->schema()));
    return;
  }
  auto& overloads = operators_by_name_[schema->name()];
  for (const ScriptFunction* other : overloads) {
    if (other->schema.overload_name() != schema->overload_name()) continue;
    diagnostics.error(source_, op.name.span, fmt::format("`{}` is defined twice", schema->operator_name()))
        .note("the first definition", source_, other->name_span);
    return;
  }
  std::string title = fmt::format("op {}", schema->operator_name());
  overloads.push_back(&addBody(BodyKind::Operator, *std::move(schema), std::move(title), op.name.span, statement.span,
                               op.body ? &*op.body : nullptr));
}

void Declarations::add(const syntax::Const& constant, Diagnostics& diagnostics) {
  const Span name = constant.name.span;
  if (!claimName(constant.name.text, source_, name, source_, name, diagnostics)) return;
  constants_by_name_.emplace(constant.name.text, constants_.size());
  constants_.push_back({constant.name.text, constant.name.span, static_cast<uint32_t>(constants_.size())});
}

const ScriptFunction* Declarations::findFunction(std::string_view name, uint32_t position) const {
  const auto found = functions_by_name_.find(name);
  if (found == functions_by_name_.end() || found->second->visible_from > position) return nullptr;
  return found->second;
}

ScriptConstant* Declarations::findConstant(std::string_view name) {
  const auto found = constants_by_name_.find(name);
  return found == constants_by_name_.end() ? nullptr : &constants_[found->second];
}

const Span* Declarations::findScriptVariable(std::string_view name) const {
  const auto found = script_variables_.find(name);
  return found == script_variables_.end() ? nullptr : &found->second;
}

void Declarations::forgetConstantTypes() {
  for (ScriptConstant& constant : constants_) {
    if (!constant.is_earlier) constant.type = nullptr;
  }
}

const OverloadSet* Declarations::findQualified(const std::string& name, uint32_t position) {
  const auto imported = imported_operators_.find(name);
  const auto isVisible = [position](const ImportedOperator& op) { return op.visible_from <= position; };
  // Before the import a name may have fewer overloads.
  const bool is_above = imported != imported_operators_.end() && !std::ranges::all_of(imported->second, isVisible);
  const std::string key = is_above ? fmt::format("{} at {}", name, position) : name;
  const auto found = overloads_.find(key);
  if (found != overloads_.end()) return found->second.get();

  auto set = std::make_unique<OverloadSet>();
  set->name = name;
  const auto add = [&set](const FunctionSchema& schema) {
    // Operators of a program that is already loaded are found both there and here.
    if (std::ranges::find(set->operators, schema.operator_name()) != set->operators.end()) return;
    set->operators.push_back(schema.operator_name());
    set->schemas.push_back(&schema);
  };
  const auto own = operators_by_name_.find(name);
  const auto isDefinedHere = [&](const OperatorHandle& op) {
    return own != operators_by_name_.end() && std::ranges::any_of(own->second, [&op](const ScriptFunction* each) {
             return each->schema.operator_name() == op.operator_name();
           });
  };
  for (const OperatorHandle& op : Dispatcher::singleton().findOverloads(name)) {
    // An operator that the session redefines has its new schema.
    if (!isDefinedHere(op)) add(op.schema());
  }
  if (imported != imported_operators_.end()) {
    for (const ImportedOperator& op : imported->second) {
      if (isVisible(op)) add(op.op->schema);
    }
  }
  if (own != operators_by_name_.end()) {
    for (const ScriptFunction* op : own->second) add(op->schema);
  }
  if (set->operators.empty()) set = nullptr;
  return overloads_.emplace(key, std::move(set)).first->second.get();
}

bool Declarations::mayBeScript(const OperatorName& name) const {
  if (operators_by_name_.contains(name.name) || imported_operators_.contains(name.name)) return true;
  const auto op = Dispatcher::singleton().findSchema(name);
  if (!op) return false;
  const KernelFunction body = op->entry().kernelForDispatchKey(DispatchKey::CompositeImplicitAutograd);
  return body.isValid() && !body.isValidUnboxed();
}

std::vector<std::string_view> Declarations::namespacesAt(uint32_t position) const {
  std::vector<std::string_view> spaces;
  for (auto use = uses_.rbegin(); use != uses_.rend(); ++use) {
    if (use->is_earlier || use->span.begin < position) spaces.push_back(use->space);
  }
  spaces.push_back("aten");
  spaces.push_back("prim");
  return spaces;
}

const OverloadSet* Declarations::findOperators(std::string_view name, uint32_t position) {
  for (const std::string_view space : namespacesAt(position)) {
    if (const OverloadSet* set = findQualified(fmt::format("{}::{}", space, name), position)) return set;
  }
  return nullptr;
}

const OverloadSet* Declarations::findOperators(const syntax::QualifiedName& name, uint32_t position) {
  if (!name.space) return findOperators(name.name.text, position);
  return findQualified(fmt::format("{}::{}", name.space.text, name.name.text), position);
}

typed::FieldNames Declarations::fieldNames(const FunctionSchema& schema) {
  if (schema.returns().size() < 2 || schema.returns()[0].name().empty()) return nullptr;
  typed::FieldNames& names = field_names_[&schema];
  if (names == nullptr) {
    std::vector<std::string> list;
    for (const Argument& result : schema.returns()) list.push_back(result.name());
    names = std::make_shared<const std::vector<std::string>>(std::move(list));
  }
  return names;
}

std::vector<std::string> Declarations::operatorNames(bool qualified, uint32_t position) const {
  std::vector<OperatorName> operators = Dispatcher::singleton().getAllOpNames();
  for (const auto& function : functions_) {
    if (function->kind == BodyKind::Operator) operators.push_back(function->schema.operator_name());
  }
  for (const auto& imported : imported_operators_) {
    for (const ImportedOperator& op : imported.second) {
      if (op.visible_from <= position) operators.push_back(op.op->schema.operator_name());
    }
  }
  const std::vector<std::string_view> spaces = namespacesAt(position);
  std::vector<std::string> names;
  for (const OperatorName& op : operators) {
    if (qualified) {
      names.push_back(op.name);
      continue;
    }
    const std::string_view space = op.getNamespace().value_or("");
    if (std::ranges::find(spaces, space) == spaces.end()) continue;
    names.push_back(op.name.substr(space.size() + 2));
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace boxcar::interp
