#include <boxcar/interpreter/syntax/token.h>
#include <fmt/format.h>

#include <array>

namespace boxcar::syntax {
namespace {

constexpr size_t kSpelledCount = static_cast<size_t>(kLastKeyword) - static_cast<size_t>(kFirstSpelled) + 1;
constexpr std::array<std::string_view, kSpelledCount> kSpellings = {
    "(",      ")",     "[",  "]",    ",",      ";",     ":",        "::",    ".",     "...",      "->",
    "?",      "!",     "=",  "|",    "^",      "&",     "<<",       ">>",    "+",     "-",        "*",
    "/",      "//",    "%",  "@",    "**",     "~",     "|=",       "^=",    "&=",    "<<=",      ">>=",
    "+=",     "-=",    "*=", "/=",   "//=",    "%=",    "@=",       "**=",   "==",    "!=",       "<",
    "<=",     ">",     ">=", "use",  "import", "impl",  "fallback", "mode",  "fn",    "const",    "struct",
    "return", "raise", "if", "elif", "else",   "while", "for",      "in",    "break", "continue", "with",
    "assert", "and",   "or", "not",  "is",     "None",  "True",     "False", "inf",   "nan"};
static_assert(kSpellings.back() == "nan", "a spelling for every kind from kFirstSpelled on");

// Long literals are cut, because a message is one line.
std::string quoted(std::string_view text) {
  constexpr size_t kMax = 40;
  return text.size() <= kMax ? fmt::format("`{}`", text) : fmt::format("`{}...`", text.substr(0, kMax));
}

}  // namespace

std::string_view spelling(TokenKind kind) noexcept {
  if (kind < kFirstSpelled) return {};
  return kSpellings[static_cast<size_t>(kind) - static_cast<size_t>(kFirstSpelled)];
}

TokenKind keywordOrName(std::string_view text) noexcept {
  for (size_t kind = static_cast<size_t>(kFirstKeyword); kind <= static_cast<size_t>(kLastKeyword); ++kind) {
    if (spelling(static_cast<TokenKind>(kind)) == text) return static_cast<TokenKind>(kind);
  }
  return TokenKind::Name;
}

bool endsValue(TokenKind kind) noexcept {
  switch (kind) {
    case TokenKind::Name:
    case TokenKind::Int:
    case TokenKind::Float:
    case TokenKind::Imaginary:
    case TokenKind::String:
    case TokenKind::FStringEnd:
    case TokenKind::RightParen:
    case TokenKind::RightBracket:
    case TokenKind::DictClose:
    case TokenKind::KwNone:
    case TokenKind::KwTrue:
    case TokenKind::KwFalse:
    case TokenKind::KwInf:
    case TokenKind::KwNan: return true;
    default: return false;
  }
}

std::string describe(const Token& token, const Source& source) {
  switch (token.kind) {
    case TokenKind::EndOfFile: return "end of file";
    case TokenKind::Newline: return "end of line";
    case TokenKind::Name: return "name " + quoted(source.text(token.span));
    case TokenKind::Int:
    case TokenKind::Float:
    case TokenKind::Imaginary: return "number " + quoted(source.text(token.span));
    case TokenKind::String: return "a string";
    case TokenKind::FStringBegin:
    case TokenKind::FStringText:
    case TokenKind::FStringEnd: return "an f-string";
    case TokenKind::FieldSpec: return "a format";
    default: return isKeyword(token.kind) ? "keyword " + quoted(spelling(token.kind)) : quoted(source.text(token.span));
  }
}

}  // namespace boxcar::syntax
