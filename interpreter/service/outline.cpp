#include <boxcar/interpreter/service/outline.h>
#include <boxcar/interpreter/syntax/grammar.h>
#include <fmt/format.h>

#include <set>

namespace boxcar::service {

std::vector<Symbol> outline(std::string_view text, const std::string& name) {
  Diagnostics unused;
  const syntax::SyntaxTree tree = syntax::parse(Source::create(name, std::string(text)), unused);
  const Source& source = *tree.source;
  std::vector<Symbol> symbols;
  std::set<std::string_view> variables;
  const auto add = [&](SymbolKind kind, std::string shown, const syntax::Stmt& statement, Span name_span,
                       std::string detail = {}) {
    symbols.push_back({kind, std::move(shown), std::move(detail), statement.span, name_span});
  };
  const auto addVariable = [&](const syntax::Name& variable, const syntax::Stmt& statement) {
    if (!variables.insert(variable.text).second) return;
    add(SymbolKind::Variable, std::string(variable.text), statement, variable.span);
  };
  for (const syntax::StmtPtr& statement : tree.statements) {
    boost::variant2::visit(
        [&]<class T>(const T& node) {
          if constexpr (std::is_same_v<T, syntax::Function>) {
            add(SymbolKind::Function, std::string(node.name.text), *statement, node.name.span,
                std::string(source.text({node.name.span.end, node.signature.end})));
          } else if constexpr (std::is_same_v<T, syntax::Operator>) {
            add(SymbolKind::Operator, std::string(source.text(node.name.span)), *statement, node.name.span,
                std::string(source.text({node.name.span.end, node.signature.end})));
          } else if constexpr (std::is_same_v<T, syntax::Impl>) {
            add(SymbolKind::Kernel, fmt::format("impl {} @ {}", source.text(node.name.span), node.key.text), *statement,
                node.name.span);
          } else if constexpr (std::is_same_v<T, syntax::Fallback>) {
            add(SymbolKind::Fallback, fmt::format("fallback @ {}", node.key.text), *statement, node.key.span);
          } else if constexpr (std::is_same_v<T, syntax::Mode>) {
            add(SymbolKind::Mode, std::string(node.name.text), *statement, node.name.span);
          } else if constexpr (std::is_same_v<T, syntax::Struct>) {
            add(SymbolKind::Struct, std::string(node.name.text), *statement, node.name.span);
            for (const syntax::StmtPtr& member : node.body.statements) {
              if (const auto* field = boost::variant2::get_if<syntax::Field>(&member->node)) {
                add(SymbolKind::Field, fmt::format("{}.{}", node.name.text, field->name.text), *member,
                    field->name.span, std::string(source.text(field->type)));
              } else if (const auto* method = boost::variant2::get_if<syntax::Function>(&member->node)) {
                add(SymbolKind::Method, fmt::format("{}.{}", node.name.text, method->name.text), *member,
                    method->name.span, std::string(source.text({method->name.span.end, method->signature.end})));
              }
            }
          } else if constexpr (std::is_same_v<T, syntax::Const>) {
            add(SymbolKind::Constant, std::string(node.name.text), *statement, node.name.span);
          } else if constexpr (std::is_same_v<T, syntax::TypedAssign>) {
            addVariable(node.name, *statement);
          } else if constexpr (std::is_same_v<T, syntax::Assign>) {
            for (const syntax::ExprPtr& target : node.targets.items) {
              const auto* ref = boost::variant2::get_if<syntax::NameRef>(&target->node);
              if (ref != nullptr && !ref->name.space) addVariable(ref->name.name, *statement);
            }
          }
        },
        statement->node);
  }
  return symbols;
}

}  // namespace boxcar::service
