#pragma once

// Walks over typed programs. Each function goes one level deep; callers recurse.

#include <boxcar/interpreter/compiler/typed_program.h>

#include <boost/variant2/variant.hpp>
#include <type_traits>
#include <vector>

namespace boxcar::interp::typed {

// Calls [on_expr] with each operand of [expr], in the order of evaluation, and [on_statement] with the statements that
// run before its value.
template <class OnExpr, class OnStatement>
void eachOperand(const Expr& expr, const OnExpr& on_expr, const OnStatement& on_statement) {
  const auto each = [&on_expr](const ExprPtr& operand) {
    if (operand != nullptr) on_expr(*operand);
  };
  const auto all = [&each](const std::vector<ExprPtr>& operands) {
    for (const ExprPtr& operand : operands) each(operand);
  };
  boost::variant2::visit(
      [&](const auto& node) {
        using Node = std::decay_t<decltype(node)>;
        if constexpr (requires { node.arguments; }) {
          all(node.arguments);
        } else if constexpr (requires { node.items; }) {
          all(node.items);
        } else if constexpr (requires { node.operands; }) {
          all(node.operands);
        } else if constexpr (std::is_same_v<Node, Operate>) {
          each(node.left);
          each(node.right);
        } else if constexpr (std::is_same_v<Node, Conditional>) {
          each(node.condition);
          each(node.value);
          each(node.otherwise);
        } else if constexpr (std::is_same_v<Node, MakeStruct>) {
          all(node.fields);
        } else if constexpr (std::is_same_v<Node, GetField>) {
          each(node.object);
        } else if constexpr (std::is_same_v<Node, MakeSlice>) {
          each(node.object);
          each(node.start);
          each(node.stop);
          each(node.step);
        } else if constexpr (std::is_same_v<Node, Sequence>) {
          for (const StmtPtr& statement : node.statements) on_statement(*statement);
          each(node.value);
        }
      },
      expr.node);
}

// Calls [on_expr] with each expression of [statement], and [on_block] with each block in it.
template <class OnExpr, class OnBlock>
void eachPart(const Stmt& statement, const OnExpr& on_expr, const OnBlock& on_block) {
  const auto each = [&on_expr](const ExprPtr& part) {
    if (part != nullptr) on_expr(*part);
  };
  boost::variant2::visit(
      [&](const auto& node) {
        using Node = std::decay_t<decltype(node)>;
        if constexpr (std::is_same_v<Node, If>) {
          for (const If::Branch& branch : node.branches) {
            each(branch.condition);
            on_block(branch.body);
          }
          on_block(node.otherwise);
        } else if constexpr (std::is_same_v<Node, With>) {
          for (const Scope& scope : node.scopes) each(scope.handler);
          on_block(node.body);
        } else {
          if constexpr (requires { node.object; }) each(node.object);
          if constexpr (requires { node.index; } && !std::is_same_v<Node, SetField>) {
            if constexpr (std::is_same_v<std::decay_t<decltype(node.index)>, ExprPtr>) each(node.index);
          }
          if constexpr (requires { node.value; }) each(node.value);
          if constexpr (requires { node.message; }) each(node.message);
          if constexpr (requires { node.start; }) {
            each(node.start);
            each(node.stop);
            each(node.step);
          }
          if constexpr (requires { node.iterable; }) each(node.iterable);
          if constexpr (requires { node.condition; }) each(node.condition);
          if constexpr (requires { node.body; }) {
            on_block(node.body);
            on_block(node.at_end);
          }
        }
      },
      statement.node);
}

// Calls [on_variable] with each variable that [statement] itself sets, blocks in it left out.
template <class OnVariable>
void eachAssigned(const Stmt& statement, const OnVariable& on_variable) {
  using boost::variant2::get_if;
  if (const auto* set = get_if<SetVariable>(&statement.node)) on_variable(set->target.variable);
  if (const auto* unpack = get_if<Unpack>(&statement.node)) {
    for (const Target& target : unpack->targets) on_variable(target.variable);
  }
  if (const auto* loop = get_if<ForRange>(&statement.node)) on_variable(loop->variable);
  if (const auto* loop = get_if<ForEach>(&statement.node)) on_variable(loop->variable);
  if (const auto* recasts = get_if<RecastAll>(&statement.node)) {
    for (const Recast& recast : recasts->recasts) on_variable(recast.variable);
  }
}

}  // namespace boxcar::interp::typed
