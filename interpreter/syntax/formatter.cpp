#include <boxcar/interpreter/syntax/formatter.h>
#include <boxcar/interpreter/syntax/grammar.h>
#include <boxcar/interpreter/syntax/lexer.h>
#include <boxcar/interpreter/syntax/line_layout.h>

#include <algorithm>
#include <vector>

namespace boxcar {
namespace {

using namespace syntax;
using Kind = TokenKind;

constexpr std::string_view kOff = "# fmt: off";
constexpr std::string_view kOn = "# fmt: on";

bool isSeparator(Kind kind) { return kind == Kind::Newline || kind == Kind::Semicolon; }

class Formatter final {
 public:
  Formatter(const Source& source, const TokenStream& stream) : source_(source), reader_(source, stream) {}

  std::string run() {
    statements(0);
    return std::move(out_);
  }

 private:
  Kind kind(size_t i) const { return reader_.kind(i); }
  bool isComment(Span span, std::string_view text) const { return reader_.commentText(span) == text; }

  size_t skipSeparators(size_t i) const {
    while (isSeparator(kind(i))) ++i;
    return i;
  }

  // Writes the statements from token [i] on; returns the token that ends their block.
  size_t statements(size_t i) {
    is_first_ = true;
    for (;;) {
      i = ownLineComments(skipSeparators(i));
      if (kind(i) == Kind::BlockClose || kind(i) == Kind::EndOfFile) return i;
      i = statement(i);
    }
  }

  // Begins a line; a blank line before it is kept, except at the beginning of a block.
  void beginLine(uint32_t offset) {
    const std::string_view before = source_.text().substr(0, offset);
    const size_t last = before.find_last_not_of(" \t\r\f\n");
    const std::string_view blanks = last == std::string_view::npos ? before : before.substr(last + 1);
    if (!is_first_ && std::count(blanks.begin(), blanks.end(), '\n') > 1) out_ += '\n';
    is_first_ = false;
    indent();
  }
  void indent() { out_.append(depth_ * kIndentWidth, ' '); }

  // Writes the comments before token [i] on lines of their own, and the text that they protect from formatting; returns
  // the next token.
  size_t ownLineComments(size_t i) {
    while (reader_.hasComment(i)) {
      const Span comment = reader_.comment();
      beginLine(comment.begin);
      out_ += reader_.takeComment();
      out_ += '\n';
      if (isComment(comment, kOff)) i = keepAsItIs(comment, i);
    }
    return i;
  }

  // Copies the text between a comment that switches formatting off and the one that switches it on again, or else the
  // end of the block; token [i] is the next in that block. Returns the next token after it.
  size_t keepAsItIs(Span off, size_t i) {
    const std::string_view text = source_.text();
    const std::vector<Span>& comments = reader_.stream().comments;
    size_t comment = reader_.next_comment();
    size_t end = text.size();
    for (;; i = nextInBlock(i)) {
      // Comments inside brackets and blocks come before the next token, but not after the last one.
      bool found = false;
      for (; comment < comments.size() && comments[comment].begin < reader_.span(i).begin; ++comment) {
        found = isComment(comments[comment], kOn) && reader_.isOwnLine(comments[comment]) && !goesOn(i);
        if (found) break;
      }
      if (found) {
        end = text.rfind('\n', comments[comment].begin) + 1;
        break;
      }
      if (kind(i) == Kind::EndOfFile) break;
      if (kind(i) == Kind::BlockClose) {
        end = text.find_last_not_of(" \t\r\f\n", reader_.span(i).begin - 1) + 1;
        break;
      }
      const size_t behind = nextInBlock(i) - 1;
      while (comment < comments.size() && comments[comment].begin < reader_.span(behind).begin) ++comment;
    }
    const size_t begin = std::min(text.size(), static_cast<size_t>(off.end) + 1);
    if (end > begin) {
      out_ += text.substr(begin, end - begin);
      if (out_.back() != '\n') out_ += '\n';
    }
    reader_.skipComments(static_cast<uint32_t>(end));
    is_first_ = true;
    return i;
  }
  size_t nextInBlock(size_t i) const { return kind(i) == Kind::BlockOpen ? reader_.closer(i) + 1 : reader_.next(i); }

  // Whether token [i] continues the statement whose block was closed before it.
  bool goesOn(size_t i) const {
    return kind(i) == Kind::KwElif || kind(i) == Kind::KwElse || reader_.isContextual(i, "exit", Kind::BlockOpen);
  }

  // Writes the statement that begins with token [i], and returns the next token.
  size_t statement(size_t i) {
    const bool is_mode = kind(i) == Kind::KwMode;
    beginLine(reader_.span(i).begin);
    for (;;) {
      size_t end = i;
      while (!isSeparator(kind(end)) && kind(end) != Kind::BlockOpen && kind(end) != Kind::BlockClose &&
             kind(end) != Kind::EndOfFile) {
        end = reader_.next(end);
      }
      TextLayout layout;
      layOutLine(reader_, i, end, layout);
      if (kind(end) != Kind::BlockOpen) {
        layout.print(out_, depth_);
        endLine(end);
        return end;
      }
      layout.text(" {");
      layout.print(out_, depth_);
      const size_t close = block(end);
      out_ += '}';
      i = close + 1;
      if (is_mode && kind(i) == Kind::Newline && goesOn(i + 1)) ++i;
      if (!(is_mode ? reader_.isContextual(i, "exit", Kind::BlockOpen) : goesOn(i))) {
        endLine(i);
        return i;
      }
      if (reader_.hasComment(i)) {
        endLine(i);
        is_first_ = true;
        while (reader_.hasComment(i)) {
          indent();
          out_ += reader_.takeComment();
          out_ += '\n';
        }
        indent();
      } else {
        out_ += ' ';
      }
    }
  }

  // Writes the contents of the block that token [open] opens, up to its `}`; returns the token that closes it.
  size_t block(size_t open) {
    const size_t close = reader_.closer(open);
    if (close == skipSeparators(open + 1) && !reader_.hasComment(close)) return close;
    endLine(open + 1);
    ++depth_;
    statements(open + 1);
    --depth_;
    indent();
    is_first_ = false;
    return close;
  }

  // Ends the line; a comment after it, before token [i] or the separators there, stays on it.
  void endLine(size_t i) {
    if (reader_.hasComment(skipSeparators(i)) && !reader_.isOwnLine()) {
      out_ += "  ";
      out_ += reader_.takeComment();
    }
    out_ += '\n';
  }

  const Source& source_;
  TokenReader reader_;
  std::string out_;
  size_t depth_ = 0;
  bool is_first_ = true;
};

// What layout must not change: the comments, and the tokens without redundant commas and separators.
std::vector<std::string_view> essenceOf(const Source& source, const TokenStream& stream) {
  std::vector<std::string_view> essence;
  const TokenReader reader(source, stream);
  const auto isLast = [&](size_t i) {
    const Kind next = reader.kind(i);
    return next == Kind::RightParen || next == Kind::RightBracket || next == Kind::KwIn || next == Kind::DictClose ||
           next == Kind::Assign || next == Kind::BlockOpen || next == Kind::BlockClose || next == Kind::EndOfFile ||
           isSeparator(next);
  };
  const auto goesOn = [&](size_t i) {
    const Kind next = reader.kind(i);
    return isSeparator(next) || next == Kind::BlockClose || next == Kind::EndOfFile || next == Kind::KwElse ||
           next == Kind::KwElif || reader.isContextual(i, "exit", Kind::BlockOpen);
  };
  for (size_t i = 0; i < reader.end(); ++i) {
    if (isSeparator(reader.kind(i))) {
      const bool is_first = i == 0 || reader.kind(i - 1) == Kind::BlockOpen || essence.empty();
      if (!is_first && !goesOn(i + 1)) essence.push_back("\n");
    } else if (reader.kind(i) != Kind::Comma || !isLast(i + 1)) {
      essence.push_back(reader.text(i));
    }
  }
  for (const Span comment : stream.comments) essence.push_back(reader.commentText(comment));
  return essence;
}

}  // namespace

std::string formatSource(const SourcePtr& source, Diagnostics& diagnostics) {
  Diagnostics found;
  parse(source, found);
  diagnostics.append(found);
  if (found.hasErrors()) return std::string(source->text());
  Diagnostics none;
  const TokenStream stream = lex(source, none);
  const SourcePtr formatted = Source::create(source->name(), Formatter(*source, stream).run());
  BOXCAR_INTERNAL_ASSERT(essenceOf(*source, stream) == essenceOf(*formatted, lex(formatted, none)) &&
                         !none.hasErrors());
  return std::string(formatted->text());
}

}  // namespace boxcar
