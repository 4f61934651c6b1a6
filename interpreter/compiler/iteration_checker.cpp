#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/compiler/iteration_checker.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <boxcar/interpreter/syntax/wording.h>

namespace boxcar::interp {

using typed::ExprPtr;

ExprPtr IterationChecker::infer(const syntax::Comprehension& comprehension, Span span) {
  const typed::Target list{context_.makeVariable(), SlotKind::Value};
  typed::Block loops;
  TypePtr element = Type::any();
  const Environment before = context_.environment;
  inferClauses(comprehension, 0, list, element, loops);
  context_.environment = before;
  if (element->kind() == TypeKind::None || element->depth() + 2 > Type::kMaxDepth) element = Type::any();

  const TypePtr type = Type::listOf(element);
  typed::Block statements;
  typed::append(statements, span, typed::SetVariable{list, typed::make(type, span, typed::MakeList{})});
  for (typed::StmtPtr& loop : loops) statements.push_back(std::move(loop));
  return typed::withStatements(std::move(statements), typed::read(list, type, span));
}

void IterationChecker::inferClauses(const syntax::Comprehension& comprehension, size_t clause, typed::Target list,
                                    TypePtr& element_type, typed::Block& out) {
  if (clause == comprehension.clauses.size()) {
    ExprPtr element = expressions_.infer(*comprehension.element);
    element_type = element->type;
    const Span span = element->span;
    std::vector<ExprPtr> arguments;
    arguments.push_back(typed::read(list, Type::listOf(Type::any()), span));
    arguments.push_back(std::move(element));
    typed::append(out, span,
                  typed::Evaluate{typed::make(Type::none(), span,
                                              typed::CallBuiltin{*findBuiltin("list.append"), std::move(arguments)})});
    return;
  }

  const syntax::ComprehensionClause& parts = comprehension.clauses[clause];
  typed::Stmt::Node loop = loopOver(*parts.iterable);
  const size_t outer_names = context_.scoped.size();
  std::vector<typed::VariableId>& variables = context_.clause_variables[&parts];
  const bool is_first_pass = variables.empty();
  for (size_t i = 0; i < parts.targets.items.size(); ++i) {
    const auto* ref = boost::variant2::get_if<syntax::NameRef>(&parts.targets.items[i]->node);
    if (ref == nullptr) continue;
    if (is_first_pass) {
      variables.push_back(static_cast<typed::VariableId>(context_.names.size()));
      context_.names.push_back(ref->name.name.text);
    }
    context_.scoped.emplace_back(ref->name.name.text, variables[context_.scoped.size() - outer_names]);
  }
  typed::Block body;
  assignments_.assignAll(parts.targets, typed::loopElement(loop, parts.iterable->span), parts.targets.span, body);

  // What follows a condition runs if it holds.
  typed::Block inner;
  std::vector<ExprPtr> conditions;
  for (const syntax::ExprPtr& condition : parts.conditions) {
    Condition holds = conditions_.condition(*condition);
    context_.assume(holds.if_true);
    conditions.push_back(std::move(holds.value));
  }
  inferClauses(comprehension, clause + 1, list, element_type, inner);
  if (conditions.empty()) {
    for (typed::StmtPtr& statement : inner) body.push_back(std::move(statement));
  } else {
    const Span span = join(parts.conditions.front()->span, parts.conditions.back()->span);
    typed::If check;
    check.branches.push_back(
        {typed::make(Type::boolean(), span, typed::Logical{true, std::move(conditions)}), std::move(inner)});
    typed::append(body, span, std::move(check));
  }
  context_.scoped.resize(outer_names);
  typed::finishLoop(loop, std::move(body), {});
  typed::append(out, parts.targets.span, std::move(loop));
}

typed::Stmt::Node IterationChecker::loopOver(const syntax::Expr& iterable) {
  const auto* call = get_if<syntax::Call>(&iterable.node);
  if (call != nullptr && !call->callee.space && call->callee.name.text == "range" &&
      context_.declarations.findFunction("range", iterable.span.begin) == nullptr && !call->arguments.empty() &&
      call->arguments.size() <= 3) {
    std::vector<ExprPtr> limits;
    for (TypedArgument& argument : calls_.inferArguments(call->arguments)) {
      if (!argument.keyword.empty()) context_.error(argument.span, "range takes no keyword arguments");
      limits.push_back(converter_.convertOrReport(std::move(argument.value), Type::integer(), "an argument of range"));
    }
    const Span span = iterable.span;
    typed::ForRange loop;
    loop.variable = context_.makeVariable();
    if (limits.size() == 1) limits.insert(limits.begin(), typed::constant(0, Type::integer(), span));
    if (limits.size() == 2) limits.push_back(typed::constant(1, Type::integer(), span));
    loop.start = std::move(limits[0]);
    loop.stop = std::move(limits[1]);
    loop.step = std::move(limits[2]);
    return loop;
  }
  typed::ForEach loop;
  loop.variable = context_.makeVariable();
  loop.iterable = expressions_.infer(iterable);
  loop.element = iteratedType(loop.iterable->type);
  if (loop.element == nullptr) {
    Diagnostic& diagnostic =
        context_.error(iterable.span, fmt::format("`for` cannot iterate over {}", withArticle(loop.iterable->type)));
    if (loop.iterable->type->isOptional()) diagnostic.note("check `is None` first");
    loop.element = Type::any();
  }
  return loop;
}

}  // namespace boxcar::interp
