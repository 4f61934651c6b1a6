#pragma once

#include <boxcar/interpreter/syntax/token.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace boxcar::service {

// Whether a statement may begin behind a token of this kind.
bool separatesStatements(syntax::TokenKind kind) noexcept;

// The tokens around a place of a text that may be broken. Positions of tokens are indices into tokens().
class Cursor {
 public:
  Cursor(const SourcePtr& source, uint32_t offset);

  uint32_t offset() const noexcept { return offset_; }
  // The part of a name that stands before the offset; empty at the offset where there is none.
  Span word() const noexcept { return word_; }
  std::string_view wordText() const noexcept { return source_->text(word_); }
  // The offset lies in a comment, a number or an f-string's text, where nothing is named.
  bool isInText() const noexcept { return is_in_text_; }
  // The string that the offset lies in, without its quotes, up to the offset.
  std::optional<Span> string() const noexcept { return string_; }

  // Those that are written: what the lexer adds is left out.
  const std::vector<syntax::Token>& tokens() const noexcept { return tokens_; }
  // How many lie before the word, or before the string.
  size_t before() const noexcept { return before_; }
  // The kind of the token that lies [back] before token [index]; EndOfFile where there is none.
  syntax::TokenKind kindBefore(size_t index, size_t back = 1) const noexcept;
  std::string_view text(size_t index) const noexcept { return source_->text(tokens_[index].span); }

  // The first token of the statement that the cursor stands in; before() where it begins here.
  size_t statementBegin() const noexcept { return statement_; }
  // Whether the cursor lies in no block.
  bool isAtTopLevel() const noexcept { return is_at_top_level_; }
  // The brackets of the statement that are open at the cursor, the innermost last.
  const std::vector<size_t>& openBrackets() const noexcept { return brackets_; }

  // A call whose parentheses are open at the cursor, the innermost of them that is no index or literal in between.
  struct OpenCall {
    size_t paren;
    size_t callee;             // the token of the name before it
    std::string_view space;    // of `space::name`
    std::string_view name;     // what is called; of `name.overload(` too
    std::string_view method;   // of `value.method(`, with a dot before it; [name] is empty or an operator then
    size_t argument = 0;       // how many commas stand before the cursor
    std::string_view keyword;  // where the cursor stands behind `keyword=`
    std::vector<std::string_view> keywords;  // all that are written so far
  };
  std::optional<OpenCall> openCall() const;
  // The expression that ends with token [last]: `f(x)[0].y`; empty where none ends there.
  Span expressionEndingAt(size_t last) const noexcept;

 private:
  void findPlace();
  void findStatement();

  SourcePtr source_;
  uint32_t offset_;
  Span word_;
  bool is_in_text_ = false;
  std::optional<Span> string_;
  std::vector<syntax::Token> tokens_;
  size_t before_ = 0;
  size_t statement_ = 0;
  bool is_at_top_level_ = true;
  std::vector<size_t> brackets_;
};

}  // namespace boxcar::service
