#pragma once

#include <boxcar/interpreter/text_layout.h>
#include <boxcar/interpreter/token.h>

#include <cstddef>
#include <string_view>

namespace boxcar::syntax {

// The tokens of a script that is right, and its comments, of which a formatter takes one after the other.
class TokenReader final {
 public:
  TokenReader(const Source& source, const TokenStream& stream) : source_(source), stream_(stream) {}

  TokenKind kind(size_t i) const { return stream_.tokens[i].kind; }
  Span span(size_t i) const { return stream_.tokens[i].span; }
  std::string_view text(size_t i) const { return source_.text(span(i)); }
  std::string_view text(Span span) const { return source_.text(span); }
  size_t closer(size_t opener) const { return stream_.tokens[opener].index; }
  size_t end() const { return stream_.tokens.size() - 1; }

  // A name, or a keyword, which is one in some places.
  bool isWord(size_t i) const { return kind(i) == TokenKind::Name || isKeyword(kind(i)); }
  bool isContextual(size_t i, std::string_view word, TokenKind next) const {
    return kind(i) == TokenKind::Name && kind(i + 1) == next && text(i) == word;
  }
  // Opens a bracket of an expression or a signature, or an f-string.
  bool isOpener(size_t i) const;
  // The token behind [i], or behind the bracket that it opens.
  size_t next(size_t i) const { return isOpener(i) ? closer(i) + 1 : i + 1; }

  // Whether the next comment, not taken yet, stands before token [i].
  bool hasComment(size_t i) const {
    return comment_ < stream_.comments.size() && stream_.comments[comment_].begin < span(i).begin;
  }
  Span comment() const { return stream_.comments[comment_]; }
  // Whether the next comment has nothing but blanks before it on its line.
  bool isOwnLine() const { return isOwnLine(comment()); }
  bool isOwnLine(Span comment) const;
  // Its text, less the blanks at its end.
  std::string_view commentText(Span comment) const;
  std::string_view takeComment() { return commentText(stream_.comments[comment_++]); }
  void skipComments(uint32_t end) {
    while (comment_ < stream_.comments.size() && comment().begin < end) ++comment_;
  }
  // The comments from the next one on.
  size_t next_comment() const { return comment_; }
  const TokenStream& stream() const { return stream_; }

 private:
  const Source& source_;
  const TokenStream& stream_;
  size_t comment_ = 0;
};

// Adds what stands between the ends of a statement or before a block, tokens [begin, end), to [layout], with the
// comments inside of it.
void layOutLine(TokenReader& reader, size_t begin, size_t end, TextLayout& layout);

}  // namespace boxcar::syntax
