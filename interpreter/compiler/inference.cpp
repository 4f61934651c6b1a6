#include <boxcar/interpreter/compiler/inference.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <boxcar/interpreter/syntax/wording.h>

#include <algorithm>

namespace boxcar::interp {

namespace {

// After this many passes over a function, what still changes becomes Any.
constexpr int kPassesBeforeAny = 8;
// After this many passes, everything that a loop assigns becomes Any if something in it still changes. If each
// statement passes a type on to the one before it, every pass moves it by only one variable: there would be as many
// passes as variables.
constexpr int kPassesBeforeAllAny = 16;

}  // namespace

Inference::Inference(Declarations& declarations, const ScriptFunction* function, Diagnostics& diagnostics,
                     Findings* findings, InputOutline* outline)
    : declarations_(declarations),
      function_(function),
      diagnostics_(diagnostics),
      findings_(findings),
      source_(declarations.source()),
      outline_(outline) {
  if (findings != nullptr) findings_before_ = findings->mark();
  if (outline != nullptr) {
    for (const EarlierInputs::Variable& variable : declarations_.earlier()->variables) {
      if (!declarations_.mentions(variable.name) || declarations_.findConstant(variable.name) != nullptr) continue;
      arguments_.push_back({variable.name, variable.type, variable.fields});
    }
  } else if (function == nullptr) {
    // Only the script's statements see the command line.
    if (source_->text().find("argv") != std::string_view::npos && declarations_.findConstant("argv") == nullptr) {
      arguments_.push_back({"argv", Type::listOf(Type::string()), nullptr});
    }
    if (findings != nullptr) {
      for (const auto& [name, type] : findings->known) {
        if (declarations_.findConstant(name) == nullptr) arguments_.push_back({name, type, nullptr});
      }
    }
  } else {
    result_ = scriptType(resultType(function->schema, {}));
    for (const Argument& argument : function->schema.arguments()) {
      arguments_.push_back({argument.name(), scriptType(argument.type()), nullptr});
    }
  }
  for (const auto& [name, type, fields] : arguments_) {
    ids_.emplace(name, static_cast<typed::VariableId>(names_.size()));
    names_.push_back(name);
  }
}

typed::Function Inference::run(const std::vector<syntax::StmtPtr>& statements, Span span) {
  declareNames(statements);
  typed::Function result;
  do {
    beginPass();
    result.body.clear();
    infer(statements, result.body);
    if (outline_ != nullptr) finishInput(statements, span, result.body);
  } while (changed_);

  if (function_ != nullptr && environment_.isReachable() && result_->kind() != TypeKind::None) {
    if (result_->isOptional() || result_->kind() == TypeKind::Any) {
      typed::append(result.body, span, typed::Return{typed::none(span)});
    } else {
      Diagnostic& diagnostic =
          error(function_->name_span,
                fmt::format("`{}` returns {}, but its end can be reached without a return", shownName(), *result_));
      if (function_->kind == BodyKind::Handler) {
        diagnostic.note(
            "a handler returns the list of the call's results, such as the result of `redispatch(op, args)`");
      }
    }
  }
  diagnostics_.append(found_);

  result.name = function_ == nullptr ? kScriptName : function_->title;
  result.span = span;
  result.names.assign(names_.begin(), names_.end());
  if (outline_ != nullptr) {
    result.arguments.assign(names_.size(), SlotKind::Value);
  } else {
    for (const ArgumentVariable& argument : arguments_) result.arguments.push_back(slotKindOf(argument.type));
  }
  if (function_ != nullptr) result.result = slotKindOf(result_);
  return result;
}

void Inference::beginPass() {
  ++pass_;
  changed_ = false;
  found_ = Diagnostics();
  if (findings_ != nullptr) findings_->dropFrom(findings_before_);
  environment_ = Environment();
  made_count_ = 0;
  loops_.clear();
  assigned_.clear();
  scoped_.clear();
  if (function_ == nullptr) declarations_.forgetConstantTypes();
  for (typed::VariableId i = 0; i < arguments_.size(); ++i) {
    const auto& [name, type, fields] = arguments_[i];
    environment_[i] = {type, fields, kindOf(type), false};
  }
}

void Inference::finishInput(const std::vector<syntax::StmtPtr>& statements, Span span, typed::Block& out) {
  outline_->variables.assign(names_.begin(), names_.end());
  for (const auto& [clause, variables] : clause_variables_) {
    for (const typed::VariableId variable : variables) outline_->variables[variable].clear();
  }
  outline_->at_end = environment_;
  outline_->places.clear();
  for (const auto& [statement, environment] : places_) outline_->places.push_back({statement->span, environment});
  outline_->has_value = false;
  if (!environment_.isReachable()) return;
  std::vector<typed::ExprPtr> items;
  for (typed::VariableId i = 0; i < names_.size(); ++i)
    items.push_back(typed::read({i, SlotKind::Value}, Type::any(), span));
  const bool ends_in_expression =
      !statements.empty() &&
      boost::variant2::get_if<syntax::ExpressionStatement>(&statements.back()->node) != nullptr && !out.empty();
  auto* last = ends_in_expression ? boost::variant2::get_if<typed::Evaluate>(&out.back()->node) : nullptr;
  if (last != nullptr && last->value->type->kind() != TypeKind::None) {
    typed::ExprPtr value = std::move(last->value);
    const TypePtr type = value->type;
    value = typed::shown(std::move(value));
    outline_->has_value = true;
    outline_->value_is_name = value->type->kind() == TypeKind::String && type->kind() != TypeKind::String;
    const Span value_span = value->span;
    const typed::Target kept{makeVariable(), SlotKind::Value};
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
  const auto id = static_cast<typed::VariableId>(names_.size());
  if (ids_.contains(name.text) || declarations_.findConstant(name.text) != nullptr) return;
  ids_.emplace(name.text, id);
  names_.push_back(name.text);
  if (function_ == nullptr) declarations_.addScriptVariable(name);
}

void Inference::declareType(const syntax::TypedAssign& assign) {
  const auto found = ids_.find(assign.name.text);
  if (found == ids_.end()) return;
  Diagnostics unused;  // errors are reported when the statement is reached
  const TypePtr type = declarations_.readType(assign.type, unused);
  declared_types_.emplace(found->second, std::pair(type, assign.name.span));
}

std::optional<typed::VariableId> Inference::findVariable(std::string_view name) const {
  for (auto scoped = scoped_.rbegin(); scoped != scoped_.rend(); ++scoped) {
    if (scoped->first == name) return scoped->second;
  }
  const auto found = ids_.find(name);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

void Inference::assume(const Facts& facts) {
  for (const auto& [variable, type] : facts) environment_[variable].type = type;
}

Diagnostic& Inference::error(Span span, std::string message) { return found_.error(source_, span, std::move(message)); }

// ---- Loops ----

void Inference::openLoop(const void* key, Span span, typed::Block& out) {
  const auto [entry, is_new] = heads_.try_emplace(key, environment_);
  if (!is_new) entry->second.join(environment_);
  typed::Recasts recasts = environment_.recastsTo(entry->second);
  if (!recasts.empty()) typed::append(out, span, typed::RecastAll{std::move(recasts)});
  const bool is_reachable = environment_.isReachable();
  environment_ = entry->second;
  if (!is_reachable) environment_.setUnreachable();
}

void Inference::repeatLoop(const OpenLoop& loop, Span span, typed::Block& out) {
  if (!environment_.isReachable()) return;
  Environment& head = heads_.at(loop.key);
  Environment joined = head;
  joined.join(environment_);
  if (!(joined == head)) {
    if (pass_ > kPassesBeforeAny) takeForAny(joined, head, loop);
    changed_ = changed_ || !(joined == head);
    head = std::move(joined);
  }
  typed::Recasts recasts = environment_.recastsTo(head);
  if (!recasts.empty()) typed::append(out, span, typed::RecastAll{std::move(recasts)});
}

void Inference::takeForAny(Environment& joined, const Environment& head, const OpenLoop& loop) const {
  const auto take = [&joined](typed::VariableId i) {
    joined[i] = {Type::any(), nullptr, SlotKind::Value, joined.at(i).maybe_unset};
  };
  for (typed::VariableId i = 0; i < joined.size(); ++i) {
    const TypePtr before = head.at(i).type;
    if (before != nullptr && joined.at(i).type != before) take(i);
  }
  if (pass_ <= kPassesBeforeAllAny) return;
  for (size_t i = loop.first_assigned; i < assigned_.size(); ++i) {
    const typed::VariableId variable = assigned_[i];
    const Binding& known = joined.at(variable);
    // A declared type is the same in all iterations, and the fields of Any have no names.
    if (known.type != nullptr && known.fields == nullptr && !declared_types_.contains(variable)) take(variable);
  }
}

void Inference::exitLoop(OpenLoop& loop, Span span, typed::Block& out) {
  if (!environment_.isReachable()) return;
  typed::append(out, span, typed::RecastAll{});
  loop.exits.emplace_back(environment_, out.back().get());
}

void Inference::closeLoop(OpenLoop& loop) {
  environment_.setUnreachable();
  for (const auto& [environment, statement] : loop.exits) environment_.join(environment);
  for (const auto& [environment, statement] : loop.exits) {
    boost::variant2::get<typed::RecastAll>(statement->node).recasts = environment.recastsTo(environment_);
  }
}

// ---- Names ----

std::string_view Inference::shownName() const {
  // A fallback has no name of its own.
  const bool is_exit = function_->kind == BodyKind::Exit;
  return is_exit || function_->title.starts_with("fallback") ? function_->title : text(function_->name_span);
}

namespace {

// What [name] from other languages is called here; empty for other names.
std::string_view hintAtForeignName(std::string_view name) {
  if (name == "torch" || name == "F" || name == "np")
    return "operators have no module before them: `relu(x)`, or with their namespace `aten::relu(x)`";
  if (name == "null" || name == "nil" || name == "undefined") return "the absent value is called `None`";
  if (name == "pass") return "a block that does nothing is empty: `{ }`";
  return {};
}

}  // namespace

// `torch.relu`: only names of dtypes and similar values have `torch.` before them.
void Inference::reportUnknownInTorch(const syntax::Name& name, Span span) {
  if (isOnlyCounted()) {
    error(span, {});
    return;
  }
  Diagnostic& diagnostic =
      error(span, withSuggestion(fmt::format("`torch.{}` is not a dtype, layout or memory format", name.text),
                                 name.text, dtypeNames()));
  if (declarations_.findOperators(name.text, name.span.begin) != nullptr || isCallable(name.text))
    diagnostic.note(std::string(hintAtForeignName("torch")));
}

void Inference::reportUnknownName(const syntax::Name& name) {
  if (isOnlyCounted()) {
    error(name.span, {});
    return;
  }
  const std::string shown(name.text);
  if (declarations_.findFunction(name.text, name.span.begin) != nullptr || isCallable(name.text) ||
      declarations_.findOperators(name.text, name.span.begin) != nullptr) {
    Diagnostic& diagnostic =
        error(name.span, fmt::format("`{}` is a function, not a value: call it, `{}(…)`", shown, shown));
    if (shown == "float") diagnostic.note("the dtypes are called `float32` and `float64`");
    if (shown == "int") diagnostic.note("the dtypes are called `int32` and `int64`");
    return;
  }
  if (declarations_.findMode(name.text, name.span.begin) != nullptr) {
    error(name.span, fmt::format("`{}` is a mode, not a value: `with {} {{ … }}`", shown, shown));
    return;
  }
  std::vector<std::string_view> candidates;
  for (typed::VariableId i = 0; i < names_.size(); ++i) {
    if (environment_.at(i).type != nullptr) candidates.push_back(names_[i]);
  }
  for (const auto& scoped : scoped_) candidates.push_back(scoped.first);
  for (const ScriptConstant& known : declarations_.constants()) candidates.push_back(known.name);
  candidates.insert(candidates.end(), dtypeNames().begin(), dtypeNames().end());
  candidates.insert(candidates.end(), {"True", "False", "None"});
  const Span* of_script = function_ == nullptr ? nullptr : declarations_.findScriptVariable(name.text);
  std::string message = fmt::format("there is no variable or constant called `{}`", shown);
  const std::string_view hint = hintAtForeignName(name.text);
  if (of_script == nullptr && hint.empty()) message = withSuggestion(std::move(message), name.text, candidates);
  Diagnostic& diagnostic = error(name.span, std::move(message));
  const auto isNamed = [&name](const EarlierInputs::Variable& variable) { return variable.name == name.text; };
  if (of_script != nullptr) {
    diagnostic.note(fmt::format("`{}` is a variable of the script; make it a `const`, or pass it", shown), source_,
                    *of_script);
  } else if (declarations_.earlier() != nullptr && std::ranges::any_of(declarations_.earlier()->variables, isNamed)) {
    diagnostic.note(fmt::format("`{}` is a variable of the session; make it a `const`, or pass it", shown));
  } else if (!hint.empty()) {
    diagnostic.note(std::string(hint));
  }
}

}  // namespace boxcar::interp
