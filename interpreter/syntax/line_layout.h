#pragma once

#include <boxcar/interpreter/syntax/text_layout.h>
#include <boxcar/interpreter/syntax/token.h>

#include <cstddef>
#include <string_view>

namespace boxcar::syntax {

// The tokens of a correct script and its comments, which a formatter takes one by one.
class TokenReader final {
 public:
  TokenReader(const Source& source, const TokenStream& stream) : source_(source), stream_(stream) {}

  TokenKind kind(size_t i) const { return stream_.tokens[i].kind; }
  Span span(size_t i) const { return stream_.tokens[i].span; }
  std::string_view text(size_t i) const { return source_.text(span(i)); }
  std::string_view text(Span span) const { return source_.text(span); }
  size_t closer(size_t opener) const { return stream_.tokens[opener].index; }
  size_t end() const { return stream_.tokens.size() - 1; }

  // A name, or a keyword, which can be a name in some places.
  bool isWord(size_t i) const { return kind(i) == TokenKind::Name || isKeyword(kind(i)); }
  bool isContextual(size_t i, std::string_view word, TokenKind next) const {
    return kind(i) == TokenKind::Name && kind(i + 1) == next && text(i) == word;
  }
  // Whether the token opens a bracket of an expression or a signature, or an f-string.
  bool isOpener(size_t i) const;
  // Returns the token after [i], or after the bracket that it opens.
  size_t next(size_t i) const { return isOpener(i) ? closer(i) + 1 : i + 1; }

  // Whether the next comment that was not taken comes before token [i].
  bool hasComment(size_t i) const {
    return comment_ < stream_.comments.size() && stream_.comments[comment_].begin < span(i).begin;
  }
  Span comment() const { return stream_.comments[comment_]; }
  // Whether only blanks precede the next comment on its line.
  bool isOwnLine() const { return isOwnLine(comment()); }
  bool isOwnLine(Span comment) const;
  // Returns its text without trailing blanks.
  std::string_view commentText(Span comment) const;
  std::string_view takeComment() { return commentText(stream_.comments[comment_++]); }
  void skipComments(uint32_t end) {
    while (comment_ < stream_.comments.size() && comment().begin < end) ++comment_;
  }
  // The index of the next comment.
  size_t next_comment() const { return comment_; }
  const TokenStream& stream() const { return stream_; }

 private:
  const Source& source_;
  const TokenStream& stream_;
  size_t comment_ = 0;
};

// Adds tokens [begin, end), a part of a statement or what precedes a block, and the comments among them to [layout].
void layOutLine(TokenReader& reader, size_t begin, size_t end, TextLayout& layout);

}  // namespace boxcar::syntax
