#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/compiler/inference.h>
#include <boxcar/interpreter/compiler/typed_builder.h>

// `[e for x in xs if c]`: loops that append to a list. Its variables are local and set again in every iteration, so one
// pass finds their types.

namespace boxcar::interp {

using typed::ExprPtr;

ExprPtr Inference::infer(const syntax::Comprehension& comprehension, Span span) {
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

void Inference::inferClauses(const syntax::Comprehension& comprehension, size_t clause, typed::Target list,
                             TypePtr& element_type, typed::Block& out) {
  if (clause == comprehension.clauses.size()) {
    ExprPtr element = infer(*comprehension.element);
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
  assignAll(parts.targets, typed::loopElement(loop, parts.iterable->span), parts.targets.span, body);

  // What follows a condition runs if it holds.
  typed::Block inner;
  std::vector<ExprPtr> conditions;
  for (const syntax::ExprPtr& condition : parts.conditions) {
    Condition holds = this->condition(*condition);
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

}  // namespace boxcar::interp
