#pragma once

#include <boxcar/interpreter/syntax/token.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace boxcar::service {

// Returns whether a statement may begin after a token of this kind.
bool separatesStatements(syntax::TokenKind kind) noexcept;

// The tokens around an offset of a text that may be broken. Token positions are indices into tokens().
class Cursor {
 public:
  Cursor(const SourcePtr& source, uint32_t offset);

  uint32_t offset() const noexcept { return offset_; }
  // The part of a name before the offset; an empty span at the offset if there is none.
  Span word() const noexcept { return word_; }
  std::string_view wordText() const noexcept { return source_->text(word_); }
  // Whether the offset is in a comment, a number or an f-string's text, where there are no names.
  bool isInText() const noexcept { return is_in_text_; }
  // The string that contains the offset, without its quotes, up to the offset.
  std::optional<Span> string() const noexcept { return string_; }

  // The tokens that are written in the text, without those that the lexer adds.
  const std::vector<syntax::Token>& tokens() const noexcept { return tokens_; }
  // The number of tokens before the word or the string.
  size_t before() const noexcept { return before_; }
  // Returns the kind of the token [back] places before token [index]; EndOfFile if there is none.
  syntax::TokenKind kindBefore(size_t index, size_t back = 1) const noexcept;
  std::string_view text(size_t index) const noexcept { return source_->text(tokens_[index].span); }

  // The first token of the statement that contains the cursor; before() if the statement begins here.
  size_t statementBegin() const noexcept { return statement_; }
  // Whether the cursor is outside all blocks.
  bool isAtTopLevel() const noexcept { return is_at_top_level_; }
  // The brackets of the statement that are open at the cursor, the innermost last.
  const std::vector<size_t>& openBrackets() const noexcept { return brackets_; }

  // The innermost call whose parentheses are open at the cursor; index brackets and literals in between are ignored.
  struct OpenCall {
    size_t paren;
    size_t callee;                           // the token of the name before it
    std::string_view space;                  // of `space::name`
    std::string_view name;                   // what is called; in `name.overload(` too
    std::string_view method;                 // in `value.method(`; [name] is then empty or the name before the dot
    size_t argument = 0;                     // the number of commas before the cursor
    std::string_view keyword;                // set if the cursor is after `keyword=`
    std::vector<std::string_view> keywords;  // all that are written so far
  };
  std::optional<OpenCall> openCall() const;
  // Returns the expression that ends with token [last], such as `f(x)[0].y`; empty if none ends there.
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
