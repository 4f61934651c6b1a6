#include <boxcar/interpreter/compiler/inference.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <fmt/format.h>

namespace boxcar::interp {

Inference::Inference(Declarations& declarations, const ScriptFunction* function, Diagnostics& diagnostics,
                     Findings* findings, InputOutline* outline)
    : context_(declarations, function, diagnostics, findings, outline) {
  if (outline != nullptr) {
    for (const EarlierInputs::Variable& variable : declarations.earlier()->variables) {
      if (!declarations.mentions(variable.name) || declarations.findConstant(variable.name) != nullptr) continue;
      arguments_.push_back({variable.name, variable.type, variable.fields});
    }
  } else if (function == nullptr) {
    // Only the script's statements see the command line.
    if (context_.source->text().find("argv") != std::string_view::npos &&
        declarations.findConstant("argv") == nullptr) {
      arguments_.push_back({"argv", Type::listOf(Type::string()), nullptr});
    }
    if (findings != nullptr) {
      for (const auto& [name, type] : findings->known) {
        if (declarations.findConstant(name) == nullptr) arguments_.push_back({name, type, nullptr});
      }
    }
  } else {
    context_.result = scriptType(resultType(function->schema, {}));
    for (const Argument& argument : function->schema.arguments()) {
      arguments_.push_back({argument.name(), scriptType(argument.type()), nullptr});
    }
  }
  for (const auto& [name, type, fields] : arguments_) {
    context_.ids.emplace(name, static_cast<typed::VariableId>(context_.names.size()));
    context_.names.push_back(name);
  }
}

typed::Function Inference::run(const std::vector<syntax::StmtPtr>& statements, Span span) {
  declareNames(statements);
  typed::Function result;
  do {
    beginPass();
    result.body.clear();
    statements_.infer(statements, result.body);
    if (context_.outline != nullptr) finishInput(statements, span, result.body);
  } while (loops_.hasChanged());

  if (context_.function != nullptr && context_.environment.isReachable() && context_.result->kind() != TypeKind::None) {
    if (context_.result->isOptional() || context_.result->kind() == TypeKind::Any) {
      typed::append(result.body, span, typed::Return{typed::none(span)});
    } else {
      Diagnostic& diagnostic = context_.error(
          context_.function->name_span, fmt::format("`{}` returns {}, but its end can be reached without a return",
                                                    context_.shownName(), *context_.result));
      if (context_.function->kind == BodyKind::Handler) {
        diagnostic.note(
            "a handler returns the list of the call's results, such as the result of `redispatch(op, args)`");
      }
    }
  }
  context_.diagnostics.append(context_.found);

  result.name = context_.function == nullptr ? kScriptName : context_.function->title;
  result.span = span;
  result.names.assign(context_.names.begin(), context_.names.end());
  if (context_.outline != nullptr) {
    result.arguments.assign(context_.names.size(), SlotKind::Value);
  } else {
    for (const ArgumentVariable& argument : arguments_) result.arguments.push_back(slotKindOf(argument.type));
  }
  if (context_.function != nullptr) result.result = slotKindOf(context_.result);
  return result;
}

void Inference::beginPass() {
  context_.beginPass();
  loops_.beginPass();
  if (context_.function == nullptr) context_.declarations.forgetConstantTypes();
  for (typed::VariableId i = 0; i < arguments_.size(); ++i) {
    const auto& [name, type, fields] = arguments_[i];
    context_.environment[i] = {type, fields, context_.kindOf(type), false};
  }
}

void Inference::finishInput(const std::vector<syntax::StmtPtr>& statements, Span span, typed::Block& out) {
  context_.outline->variables.assign(context_.names.begin(), context_.names.end());
  for (const auto& [clause, variables] : context_.clause_variables) {
    for (const typed::VariableId variable : variables) context_.outline->variables[variable].clear();
  }
  context_.outline->at_end = context_.environment;
  context_.outline->places.clear();
  for (const auto& [statement, environment] : context_.places)
    context_.outline->places.push_back({statement->span, environment});
  context_.outline->has_value = false;
  if (!context_.environment.isReachable()) return;
  std::vector<typed::ExprPtr> items;
  for (typed::VariableId i = 0; i < context_.names.size(); ++i)
    items.push_back(typed::read({i, SlotKind::Value}, Type::any(), span));
  const bool ends_in_expression =
      !statements.empty() &&
      boost::variant2::get_if<syntax::ExpressionStatement>(&statements.back()->node) != nullptr && !out.empty();
  auto* last = ends_in_expression ? boost::variant2::get_if<typed::Evaluate>(&out.back()->node) : nullptr;
  if (last != nullptr && last->value->type->kind() != TypeKind::None) {
    typed::ExprPtr value = std::move(last->value);
    const TypePtr type = value->type;
    value = typed::shown(std::move(value));
    context_.outline->has_value = true;
    context_.outline->value_is_name = value->type->kind() == TypeKind::String && type->kind() != TypeKind::String;
    const Span value_span = value->span;
    const typed::Target kept{context_.makeVariable(), SlotKind::Value};
    out.back() = std::make_unique<typed::Stmt>(typed::Stmt{value_span, typed::SetVariable{kept, std::move(value)}});
    items.push_back(typed::read(kept, Type::any(), value_span));
  }
  typed::append(out, span, typed::Return{typed::make(Type::any(), span, typed::MakeTuple{std::move(items)})});
}

void Inference::declareNames(const std::vector<syntax::StmtPtr>& statements) {
  for (const syntax::StmtPtr& statement : statements) {
    boost::variant2::visit(
        [this]<class T>(const T& node) {
          if constexpr (std::is_same_v<T, syntax::Assign>) {
            declareTargets(node.targets);
          } else if constexpr (std::is_same_v<T, syntax::TypedAssign>) {
            declareName(node.name);
            declareType(node);
          } else if constexpr (std::is_same_v<T, syntax::AugmentedAssign>) {
            const auto* ref = boost::variant2::get_if<syntax::NameRef>(&node.target->node);
            if (ref != nullptr && !ref->name.space) declareName(ref->name.name);
          } else if constexpr (std::is_same_v<T, syntax::If>) {
            for (const auto& branch : node.branches) declareNames(branch.body.statements);
            if (node.otherwise) declareNames(node.otherwise->statements);
          } else if constexpr (std::is_same_v<T, syntax::For>) {
            declareTargets(node.targets);
            declareNames(node.body.statements);
          } else if constexpr (std::is_same_v<T, syntax::While> || std::is_same_v<T, syntax::With>) {
            declareNames(node.body.statements);
          }
        },
        statement->node);
  }
}

void Inference::declareTargets(const syntax::Targets& targets) {
  for (const syntax::ExprPtr& target : targets.items) {
    const auto* ref = boost::variant2::get_if<syntax::NameRef>(&target->node);
    if (ref != nullptr && !ref->name.space) declareName(ref->name.name);
  }
}

void Inference::declareName(const syntax::Name& name) {
  const auto id = static_cast<typed::VariableId>(context_.names.size());
  if (context_.ids.contains(name.text) || context_.declarations.findConstant(name.text) != nullptr) return;
  context_.ids.emplace(name.text, id);
  context_.names.push_back(name.text);
  if (context_.function == nullptr) context_.declarations.addScriptVariable(name);
}

void Inference::declareType(const syntax::TypedAssign& assign) {
  const auto found = context_.ids.find(assign.name.text);
  if (found == context_.ids.end()) return;
  Diagnostics unused;  // errors are reported when the statement is reached
  const TypePtr type = context_.declarations.readType(assign.type, unused);
  context_.declared_types.emplace(found->second, std::pair(type, assign.name.span));
}

}  // namespace boxcar::interp
