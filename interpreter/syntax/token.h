#pragma once

#include <boxcar/interpreter/syntax/ast.h>
#include <boxcar/interpreter/syntax/source.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::syntax {

enum class TokenKind : uint8_t {
  EndOfFile,
  Bad,  // a character that begins no token; reported
  Newline,
  Name,
  Int,
  Float,
  Imaginary,
  String,
  // f"text{field:spec}text": Begin Text FieldBegin … FieldSpec FieldEnd Text End
  FStringBegin,
  FStringText,
  FStringEnd,
  FieldBegin,
  FieldSpec,
  FieldEnd,
  // The lexer distinguishes a dict's braces from a block's.
  DictOpen,
  DictClose,
  BlockOpen,
  BlockClose,

  // From here on each token has one spelling, see spelling().
  LeftParen,
  RightParen,
  LeftBracket,
  RightBracket,
  Comma,
  Semicolon,
  Colon,
  Scope,
  Dot,
  Ellipsis,
  Arrow,
  Question,
  Exclamation,
  Assign,
  Bar,
  Caret,
  Ampersand,
  ShiftLeft,
  ShiftRight,
  Plus,
  Minus,
  Star,
  Slash,
  DoubleSlash,
  Percent,
  At,
  DoubleStar,
  Tilde,
  BarAssign,
  CaretAssign,
  AmpersandAssign,
  ShiftLeftAssign,
  ShiftRightAssign,
  PlusAssign,
  MinusAssign,
  StarAssign,
  SlashAssign,
  DoubleSlashAssign,
  PercentAssign,
  AtAssign,
  DoubleStarAssign,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  // Keywords.
  KwUse,
  KwImport,
  KwImpl,
  KwFallback,
  KwMode,
  KwFn,
  KwConst,
  KwStruct,
  KwReturn,
  KwRaise,
  KwIf,
  KwElif,
  KwElse,
  KwWhile,
  KwFor,
  KwIn,
  KwBreak,
  KwContinue,
  KwWith,
  KwAssert,
  KwAnd,
  KwOr,
  KwNot,
  KwIs,
  KwNone,
  KwTrue,
  KwFalse,
  KwInf,
  KwNan,
};

inline constexpr TokenKind kFirstSpelled = TokenKind::LeftParen;
inline constexpr TokenKind kFirstKeyword = TokenKind::KwUse;
inline constexpr TokenKind kLastKeyword = TokenKind::KwNan;

constexpr bool isKeyword(TokenKind kind) noexcept { return kind >= kFirstKeyword; }
// Returns the keyword spelled [text], else Name.
TokenKind keywordOrName(std::string_view text) noexcept;

// Whether a value may end with such a token, so that a sign after it is binary and a `[` after it is an index.
bool endsValue(TokenKind kind) noexcept;

// Returns the spelling of this kind of token; empty for kinds without a single spelling.
std::string_view spelling(TokenKind kind) noexcept;

struct Token {
  TokenKind kind = TokenKind::EndOfFile;
  bool reported = false;  // replaces wrong text that has been reported
  Span span;
  union {
    int64_t integer = 0;
    double real;
    uint32_t index;  // of a string or a format; of the token that closes this one
  };
};

// The tokens of a source; the last is EndOfFile. Brackets always match, even if those of the source do not.
struct TokenStream {
  std::vector<Token> tokens;
  std::vector<std::string> strings;
  std::vector<FormatSpec> formats;
  std::vector<Span> comments;  // from the `#` to the end of the line, in the order of the text
  bool ends_open = false;      // whether the text ends inside an open bracket
  // The contents of the innermost such bracket without its last statement, or between its first and its last element:
  // the following text is parsed the same without them.
  Span settled;
};

// Returns the name of a token in messages: "name `x`", "`(`", "end of line".
std::string describe(const Token& token, const Source& source);

}  // namespace boxcar::syntax
