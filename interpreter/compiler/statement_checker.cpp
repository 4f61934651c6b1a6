#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/compiler/statement_checker.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <fmt/format.h>

namespace boxcar::interp {

using boost::variant2::get_if;
using typed::ExprPtr;

void StatementChecker::infer(const std::vector<syntax::StmtPtr>& statements, typed::Block& out) {
  for (const syntax::StmtPtr& statement : statements) {
    if (context_.environment.isReachable()) {
      infer(*statement, out);
    } else {
      // Unreachable, but errors in it are reported.
      typed::Block dropped;
      infer(*statement, dropped);
    }
  }
}

void StatementChecker::infer(const syntax::Stmt& statement, typed::Block& out) {
  const Span span = statement.span;
  if (context_.outline != nullptr) context_.places.insert_or_assign(&statement, context_.environment);
  boost::variant2::visit(
      [&]<class T>(const T& node) {
        if constexpr (std::is_same_v<T, syntax::ExpressionStatement>) {
          typed::append(out, span, typed::Evaluate{expressions_.infer(*node.value)});
        } else if constexpr (std::is_same_v<T, syntax::Break>) {
          if (loops_.innermost() == nullptr) {
            context_.error(span, "`break` is only allowed in a loop");
            return;
          }
          loops_.leave(*loops_.innermost(), span, out);
          typed::append(out, span, typed::Break{});
          context_.environment.setUnreachable();
        } else if constexpr (std::is_same_v<T, syntax::Continue>) {
          if (loops_.innermost() == nullptr) {
            context_.error(span, "`continue` is only allowed in a loop");
            return;
          }
          loops_.repeat(*loops_.innermost(), span, out);
          typed::append(out, span, typed::Continue{});
          context_.environment.setUnreachable();
        } else if constexpr (std::is_same_v<T, syntax::Use> || std::is_same_v<T, syntax::Function> ||
                             std::is_same_v<T, syntax::Operator> || std::is_same_v<T, syntax::Mode> ||
                             std::is_same_v<T, syntax::Struct> || std::is_same_v<T, syntax::Field>) {
          // Visible throughout the file.
        } else if constexpr (std::is_same_v<T, syntax::AugmentedAssign>) {
          updates_.infer(node, span, out);
        } else {
          infer(node, span, out);
        }
      },
      statement.node);
}

void StatementChecker::infer(const syntax::Assign& assign, Span span, typed::Block& out) {
  assignments_.assignAll(assign.targets, expressions_.infer(*assign.value), span, out);
}

void StatementChecker::infer(const syntax::TypedAssign& assign, Span span, typed::Block& out) {
  const TypePtr type = context_.readType(assign.type);
  ExprPtr value = expressions_.infer(*assign.value);
  const auto variable = context_.findVariable(assign.name.text);
  if (variable) {
    auto& [declared, place] = context_.declared_types[*variable];
    if (declared == nullptr) declared = type;
    if (declared != type) {
      context_.error(assign.type, fmt::format("`{}` is declared as {} already", assign.name.text, *declared))
          .note("the first declaration", context_.source, place);
      return;
    }
  }
  assignments_.assignVariable(assign.name, std::move(value), span, out);
}

void StatementChecker::infer(const syntax::If& statement, Span span, typed::Block& out) {
  typed::If typed_if;
  std::vector<Environment> ends;
  for (const syntax::If::Branch& branch : statement.branches) {
    Condition condition = conditions_.condition(*branch.condition);
    const Environment before = context_.environment;
    context_.assume(condition.if_true);
    typed::If::Branch& typed_branch = typed_if.branches.emplace_back();
    typed_branch.condition = std::move(condition.value);
    infer(branch.body.statements, typed_branch.body);
    ends.push_back(std::move(context_.environment));
    context_.environment = before;
    context_.assume(condition.if_false);
  }
  if (statement.otherwise) infer(statement.otherwise->statements, typed_if.otherwise);
  const Environment end_of_otherwise = context_.environment;
  for (const Environment& end : ends) context_.environment.join(end);

  const auto recast = [&](const Environment& end, typed::Block& block) {
    typed::Recasts recasts = end.recastsTo(context_.environment);
    if (!recasts.empty()) typed::append(block, span, typed::RecastAll{std::move(recasts)});
  };
  for (size_t i = 0; i < ends.size(); ++i) recast(ends[i], typed_if.branches[i].body);
  recast(end_of_otherwise, typed_if.otherwise);
  typed::append(out, span, std::move(typed_if));
}

void StatementChecker::infer(const syntax::While& statement, Span span, typed::Block& out) {
  LoopTracker::Loop open = loops_.open(&statement, span, out);
  typed::While loop;
  Condition condition = conditions_.condition(*statement.condition);
  const auto* known = get_if<typed::Constant>(&condition.value->node);
  const bool is_for_ever = known != nullptr && known->value.isBool() && known->value.toBool();
  loop.condition = std::move(condition.value);
  const Environment before = context_.environment;
  if (!is_for_ever) {
    context_.assume(condition.if_false);
    loops_.leave(open, span, loop.at_end);
  }
  context_.environment = before;
  context_.assume(condition.if_true);
  loops_.beginBody(open);
  infer(statement.body.statements, loop.body);
  loops_.endBody();
  loops_.repeat(open, span, loop.body);
  loops_.close(open);
  typed::append(out, span, std::move(loop));
}

void StatementChecker::infer(const syntax::For& statement, Span span, typed::Block& out) {
  typed::Stmt::Node loop = iterations_.loopOver(*statement.iterable);
  LoopTracker::Loop open = loops_.open(&statement, span, out);
  // The element is assigned to the targets in every iteration.
  typed::Block body;
  typed::Block at_end;
  loops_.leave(open, span, at_end);
  assignments_.assignAll(statement.targets, typed::loopElement(loop, statement.iterable->span), statement.targets.span,
                         body);
  loops_.beginBody(open);
  infer(statement.body.statements, body);
  loops_.endBody();
  loops_.repeat(open, span, body);
  loops_.close(open);
  typed::finishLoop(loop, std::move(body), std::move(at_end));
  typed::append(out, span, std::move(loop));
}

void StatementChecker::infer(const syntax::Return& statement, Span span, typed::Block& out) {
  if (context_.function == nullptr) {
    context_.error(span, "`return` is only allowed in a function");
    if (statement.value != nullptr) expressions_.infer(*statement.value);
    return;
  }
  const std::string_view name = context_.shownName();
  ExprPtr value = statement.value == nullptr ? typed::none(span) : expressions_.infer(*statement.value);
  if (!typed::isPoison(*value)) {
    if (context_.result->kind() == TypeKind::None && value->type->kind() != TypeKind::None) {
      context_.error(value->span, fmt::format("`{}` returns nothing, so no value is allowed here", name));
    } else if (statement.value == nullptr && !conversionCost(value->type, {context_.result}, {})) {
      context_.error(span, fmt::format("`{}` returns {}, so a value is needed here", name, *context_.result));
    } else {
      value = converter_.convertOrReport(std::move(value), context_.result, fmt::format("what `{}` returns", name));
    }
  }
  typed::append(out, span, typed::Return{std::move(value)});
  context_.environment.setUnreachable();
}

void StatementChecker::infer(const syntax::Assert& statement, Span span, typed::Block& out) {
  Condition condition = conditions_.condition(*statement.condition);
  const Environment before = context_.environment;
  typed::If check;
  check.branches.push_back({std::move(condition.value), {}});
  context_.assume(condition.if_false);
  ExprPtr message;
  if (statement.message == nullptr) {
    const Span condition_span = statement.condition->span;
    message = typed::constant(fmt::format("assertion failed: {}", context_.text(condition_span)), Type::string(),
                              condition_span);
  } else {
    ExprPtr given = typed::shown(expressions_.infer(*statement.message));
    const Span message_span = given->span;
    std::vector<ExprPtr> parts;
    parts.push_back(typed::constant("assertion failed: ", Type::string(), message_span));
    parts.push_back(typed::constant("", Type::string(), message_span));
    parts.push_back(std::move(given));
    parts.push_back(typed::constant("", Type::string(), message_span));
    message = typed::make(Type::string(), message_span, typed::CallBuiltin{*findBuiltin("format"), std::move(parts)});
  }
  typed::append(check.otherwise, span, typed::Fail{std::move(message)});
  context_.environment = before;
  context_.assume(condition.if_true);
  typed::append(out, span, std::move(check));
}

void StatementChecker::infer(const syntax::Raise& statement, Span span, typed::Block& out) {
  ExprPtr message = expressions_.infer(*statement.message);
  if (!typed::isPoison(*message)) {
    message = converter_.convertOrReport(std::move(message), Type::string(), "the message of `raise`");
  }
  typed::append(out, span, typed::Fail{std::move(message)});
  context_.environment.setUnreachable();
}

void StatementChecker::infer(const syntax::Const& statement, Span span, typed::Block& out) {
  ExprPtr value = expressions_.infer(*statement.value);
  ScriptConstant* known = context_.declarations.findConstant(statement.name.text);
  if (known == nullptr || known->span != statement.name.span) return;
  known->type = value->type;
  typed::append(out, span, typed::SetGlobal{known->global, std::move(value)});
}

void StatementChecker::infer(const syntax::With& statement, Span span, typed::Block& out) {
  typed::With with;
  for (const syntax::ExprPtr& expr : statement.scopes) {
    if (auto found = scopes_.scope(*expr)) with.scopes.push_back(*std::move(found));
  }
  infer(statement.body.statements, with.body);
  typed::append(out, span, std::move(with));
}

void StatementChecker::infer(const syntax::Impl& statement, Span span, typed::Block& out) {
  if (const auto handler = context_.declarations.handlerOf(&statement))
    typed::append(out, span, typed::Register{*handler});
}

void StatementChecker::infer(const syntax::Fallback& statement, Span span, typed::Block& out) {
  if (const auto handler = context_.declarations.handlerOf(&statement))
    typed::append(out, span, typed::Register{*handler});
}

void StatementChecker::infer(const syntax::Import& statement, Span span, typed::Block& out) {
  const auto module = context_.declarations.moduleOf(&statement);
  if (!module) return;
  if (!module_imports_.contains(*module)) module_imports_[*module] = context_.declarations.importOfStatements(*module);
  typed::append(out, span, typed::RunModule{*module, module_imports_[*module]});
}

}  // namespace boxcar::interp
