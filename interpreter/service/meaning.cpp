#include <boxcar/interpreter/service/meaning.h>
#include <boxcar/interpreter/service/text.h>

#include <algorithm>

namespace boxcar::service {

using Kind = syntax::TokenKind;

std::optional<NameUse> nameAt(const Cursor& cursor, const SourcePtr& source, uint32_t offset) {
  const Span word = wordAt(source->text(), offset);
  if (word.empty()) return std::nullopt;
  const auto& tokens = cursor.tokens();
  const auto token = std::ranges::find(tokens, word, &syntax::Token::span);
  if (token == tokens.end() || (token->kind != Kind::Name && !isKeyword(token->kind))) return std::nullopt;
  NameUse use;
  use.token = static_cast<size_t>(token - tokens.begin());
  use.span = word;
  use.text = source->text(word);
  const auto kindAt = [&](size_t index) { return index < tokens.size() ? tokens[index].kind : Kind::EndOfFile; };
  const Kind next = kindAt(use.token + 1);
  use.is_called = next == Kind::LeftParen;
  use.is_namespace = next == Kind::Scope;
  const Kind last = cursor.kindBefore(use.token);
  const bool is_qualified = last == Kind::Scope && cursor.kindBefore(use.token, 2) == Kind::Name;
  if (is_qualified) {
    use.space = cursor.text(use.token - 2);
    if (next == Kind::Dot && kindAt(use.token + 2) == Kind::Name) use.overload = cursor.text(use.token + 2);
  }
  use.is_member = last == Kind::Dot;
  use.is_keyword = next == Kind::Assign && (last == Kind::LeftParen || last == Kind::Comma);
  if (use.is_member && cursor.kindBefore(use.token, 2) == Kind::Name &&
      cursor.kindBefore(use.token, 3) == Kind::Scope) {
    // The overload in `space::name.overload` means the same as the whole name.
    use.overload = use.text;
    use.text = cursor.text(use.token - 2);
    use.space = cursor.kindBefore(use.token, 4) == Kind::Name ? cursor.text(use.token - 4) : std::string_view();
    use.is_member = false;
    use.span = {tokens[use.token - 2].span.begin, word.end};
    use.is_called = true;
  }
  return use;
}

const interp::OverloadSet* operatorsOf(Analysis& analysis, const NameUse& use) {
  if (use.space.empty()) return analysis.declarations().findOperators(use.text, use.span.begin);
  return analysis.declarations().findQualified(fmt::format("{}::{}", use.space, use.text), use.span.begin);
}

bool isVariable(Analysis& analysis, const NameUse& use) {
  if (!use.space.empty() || use.is_called || use.is_member || use.is_namespace || use.is_keyword) return false;
  if (analysis.declarations().findConstant(use.text) != nullptr) return true;
  if (!analysis.assignmentsOf(use.text, use.span.begin).empty()) return true;
  const interp::ScriptFunction* function = analysis.functionAt(use.span.begin);
  return function != nullptr && function->schema.argumentIndexWithName(use.text).has_value();
}

}  // namespace boxcar::service
