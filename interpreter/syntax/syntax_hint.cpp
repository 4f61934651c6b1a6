#include <boxcar/interpreter/syntax/syntax_hint.h>

namespace boxcar::syntax {

using Kind = TokenKind;

std::string_view syntaxHint(const Source& source, const Token* begin, const Token* where, std::string_view expected) {
  const Kind found = where->kind;
  const Kind before = where == begin ? Kind::EndOfFile : where[-1].kind;
  const std::string_view first_word = begin->kind == Kind::Name ? source.text(begin->span) : std::string_view();
  const bool in_condition = expected == "`{`";
  const bool wants_value =
      expected == "an expression" || expected == "an argument" || expected == "an index" || expected == "a statement";
  constexpr std::string_view kLogical = "the logical operators are `and`, `or` and `not`";

  constexpr std::string_view kNoModules =
      "operators need no import: `relu(x)`, `aten::relu(x)`; `import \"file.ops\"` imports a script";

  if (begin->kind == Kind::KwImport && found == Kind::Name) return kNoModules;
  if (first_word == "from" && found == Kind::Name) return kNoModules;
  if (found == Kind::Colon && in_condition) return "write a block in braces: `{ ... }`";
  if (found == Kind::Newline && in_condition && where[1].kind == Kind::BlockOpen) {
    return "put `{` at the end of the line that opens the block";
  }
  if (found == Kind::Assign && in_condition) return "equality is written `==`";
  if (found == Kind::Assign && expected == "end of line")
    return "a statement makes one assignment: write `b = e` and `a = b`";
  if (found == Kind::KwIf && before == Kind::KwElse) return "write `else if` as `elif`";
  if (found == Kind::BlockOpen && wants_value && where != begin) {
    return "`{` opens a dict only after `=`, `(`, `,`, `[`, `:` and `return`; put the dict in parentheses";
  }
  if (found == Kind::BlockOpen && expected == "a statement") return "put a dict that begins a statement in parentheses";
  if ((found == Kind::KwElse || found == Kind::KwElif) && expected == "a statement") {
    return "it must follow the `}` of its `if`, at a prompt on the same line";
  }
  if (found == Kind::Ellipsis && (before == Kind::LeftParen || before == Kind::LeftBracket || before == Kind::Comma)) {
    return "outside of an index it marks the omitted part of a printed tensor, which cannot be read back; `tolist()` "
           "shows all";
  }
  if (found == before && (found == Kind::Ampersand || found == Kind::Bar)) return kLogical;
  if (found == Kind::Exclamation) {
    return expected == "`:` or `}`" ? "f-strings have no conversions such as `!r`" : kLogical;
  }
  if (found == Kind::KwFor && expected == "`,` or `)`") return "write a comprehension in brackets: `[e for x in xs]`";
  if ((found == Kind::KwMode && where[1].kind == Kind::LeftParen) ||
      (found == Kind::LeftParen && before == Kind::KwMode)) {
    return "`mode` is a keyword; the operator is called with its namespace: `aten::mode(...)`";
  }
  if (first_word == "def" || first_word == "function" || first_word == "lambda" ||
      (before == Kind::Name && source.text(where[-1].span) == "lambda")) {
    return "a function is declared with `fn name(int x) -> int { ... }`";
  }
  // [begin] is the struct's name.
  if (found == Kind::LeftParen && in_condition && source.text({0, begin->span.begin}).ends_with("struct ")) {
    return "a struct has no base class: write the fields and methods that it shares into it";
  }
  if (first_word == "class") return "a class is written `struct name { ... }`, with fields and methods";
  if (first_word == "try" || first_word == "global" || first_word == "yield" || first_word == "del") {
    return "the language has no such statement; interpreter/README.md lists all statements";
  }
  if (first_word == "let" || first_word == "var") return "set a variable without a keyword: `a = e`";
  return {};
}

}  // namespace boxcar::syntax
