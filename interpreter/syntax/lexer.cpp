#include <boxcar/interpreter/syntax/grammar.h>
#include <boxcar/interpreter/syntax/lexer.h>
#include <boxcar/interpreter/syntax/literals.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace boxcar::syntax {
namespace {

using Kind = TokenKind;

// The kinds spelled with signs, by first character, then longest first.
struct SignTable {
  static constexpr size_t kCount = static_cast<size_t>(kFirstKeyword) - static_cast<size_t>(kFirstSpelled);
  std::array<Kind, kCount> kinds{};
  std::array<uint8_t, 129> begins{};

  SignTable() {
    for (size_t i = 0; i < kCount; ++i) kinds[i] = static_cast<Kind>(static_cast<size_t>(kFirstSpelled) + i);
    std::sort(kinds.begin(), kinds.end(), [](Kind a, Kind b) {
      const std::string_view left = spelling(a), right = spelling(b);
      return left[0] != right[0] ? left[0] < right[0] : left.size() > right.size();
    });
    for (size_t c = 0; c < begins.size(); ++c) {
      begins[c] = static_cast<uint8_t>(std::count_if(
          kinds.begin(), kinds.end(), [c](Kind kind) { return static_cast<size_t>(spelling(kind)[0]) < c; }));
    }
  }
};

// Returns the longest sign that [text] begins with; EndOfFile if there is none.
Kind findSign(std::string_view text) {
  static const SignTable table;
  const unsigned char c = static_cast<unsigned char>(text[0]);
  if (c >= 128) return Kind::EndOfFile;
  for (size_t i = table.begins[c]; i < table.begins[c + 1]; ++i) {
    if (text.starts_with(spelling(table.kinds[i]))) return table.kinds[i];
  }
  return Kind::EndOfFile;
}

Kind closerOf(Kind open) {
  switch (open) {
    case Kind::LeftParen: return Kind::RightParen;
    case Kind::LeftBracket: return Kind::RightBracket;
    case Kind::DictOpen: return Kind::DictClose;
    case Kind::FieldBegin: return Kind::FieldEnd;
    case Kind::FStringBegin: return Kind::FStringEnd;
    default: return Kind::BlockClose;
  }
}

// Keywords that no expression contains: at the beginning of a line they show that a bracket before them was left open.
bool beginsStatementOnly(Kind kind) {
  switch (kind) {
    case Kind::KwUse:
    case Kind::KwImport:
    case Kind::KwImpl:
    case Kind::KwFallback:
    case Kind::KwFn:
    case Kind::KwConst:
    case Kind::KwStruct:
    case Kind::KwReturn:
    case Kind::KwRaise:
    case Kind::KwWhile:
    case Kind::KwBreak:
    case Kind::KwContinue:
    case Kind::KwWith:
    case Kind::KwAssert: return true;
    default: return false;
  }
}

class Lexer {
 public:
  Lexer(const SourcePtr& source, Diagnostics& diagnostics)
      : source_(source), text_(source->text()), diagnostics_(diagnostics) {}

  TokenStream run() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    while (at_ < text_.size()) step();
    if (!open_.empty()) {
      out_.ends_open = open_fields_ == 0;
      out_.settled = open_.back().settled;
      if (open_fields_ > 0) {
        closeFString();
      } else {
        reportOpen(here(0), fmt::format("the file ends before `{}` is closed", opener(open_.back())));
      }
      while (!open_.empty()) closeTop(here(0), true);
    }
    push(Kind::EndOfFile, here(0));
    return std::move(out_);
  }

 private:
  struct Bracket {
    Kind kind;
    uint32_t token;  // the opening token's index
    bool is_index;   // of the `[` in `x[i]`
    Span settled;    // as TokenStream::settled
  };

  Span here(size_t length) const {
    return {static_cast<uint32_t>(at_), static_cast<uint32_t>(std::min(at_ + length, text_.size()))};
  }
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  std::string_view rest() const { return text_.substr(at_); }

  Kind last() const { return out_.tokens.empty() ? Kind::Newline : out_.tokens.back().kind; }
  Kind top() const { return open_.empty() ? Kind::BlockOpen : open_.back().kind; }

  // The text that opened a bracket; a quote for an f-string.
  std::string_view opener(const Bracket& bracket) const { return source_->text(out_.tokens[bracket.token].span); }

  Diagnostic& error(Span span, std::string message) { return diagnostics_.error(source_, span, std::move(message)); }

  // Reports something about the innermost open bracket.
  void reportOpen(Span span, std::string message) {
    const Bracket& bracket = open_.back();
    error(span, std::move(message))
        .note(fmt::format("`{}` opens here", opener(bracket)), source_, out_.tokens[bracket.token].span);
  }

  Token& push(Kind kind, Span span) {
    Token& token = out_.tokens.emplace_back();
    token.kind = kind;
    token.span = span;
    return token;
  }

  // Takes the next [length] bytes as a token.
  Token& take(Kind kind, size_t length) {
    const Span span = here(length);
    at_ = span.end;
    if (!open_.empty()) settle(kind, span);
    return push(kind, span);
  }

  // A statement or an element may begin at [span], or after its comma. `elif` and `else` continue a statement: they
  // have removed the end of its line.
  void settle(Kind kind, Span span) {
    Span& settled = open_.back().settled;
    if (top() != Kind::BlockOpen) {
      if (kind != Kind::Comma) return;
      if (settled.begin == 0) settled.begin = span.end;
      settled.end = span.end;
    } else if (last() == Kind::Newline || last() == Kind::Semicolon) {
      settled.end = span.begin;
    }
  }

  void pushString(Kind kind, Span span, std::string text, bool reported) {
    Token& token = push(kind, span);
    token.index = static_cast<uint32_t>(out_.strings.size());
    token.reported = reported;
    out_.strings.push_back(std::move(text));
  }

  void step() {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
      ++at_;
    } else if (c == '\n') {
      newline();
    } else if (c == '#') {
      comment();
    } else if (isNameStart(c)) {
      word();
    } else if (isDigit(c) || (c == '.' && isDigit(peek(1)))) {
      number();
    } else if (c == '"' || c == '\'') {
      string();
    } else {
      sign();
    }
  }

  void comment() {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    out_.comments.push_back(here(end - at_));
    while (at_ < end) {
      if (const size_t length = utf8::decode(rest()).length) {
        at_ += length;
      } else {
        badByte();
      }
    }
  }

  void badByte() {
    error(here(1), fmt::format("the byte 0x{:02x} is not UTF-8; a script is UTF-8 text",
                               static_cast<unsigned>(static_cast<unsigned char>(peek()))));
    ++at_;
    while (at_ < text_.size() && static_cast<unsigned char>(peek()) >= 128 && utf8::decode(rest()).length == 0) ++at_;
  }

  void newline() {
    if (open_fields_ > 0) closeFString();
    const bool ends_statement = top() == Kind::BlockOpen;
    if (ends_statement && last() != Kind::Newline && last() != Kind::Semicolon && last() != Kind::BlockOpen) {
      push(Kind::Newline, here(1));
    }
    ++at_;
    line_begins_ = out_.tokens.size();
  }

  void word() {
    size_t length = 1;
    while (isNamePart(peek(length))) ++length;
    const std::string_view text = rest().substr(0, length);
    const char quote = peek(length);
    if (quote == '"' || quote == '\'') {
      if (text == "f") return beginFString();
      constexpr std::string_view kPrefixes = " F r R b B u U rb Rb rB RB br bR Br BR fr fR Fr FR rf rF Rf RF ";
      if (length <= 2 && kPrefixes.find(fmt::format(" {} ", text)) != std::string_view::npos) {
        error(here(length),
              fmt::format("strings have no prefix `{}`; there are \"text\" and f\"text {{value}}\"", text));
        at_ += length;
        return;
      }
    }

    const Kind kind = keywordOrName(text);
    if (kind == Kind::KwElif || kind == Kind::KwElse) {
      if (last() == Kind::Newline && !out_.tokens.empty()) out_.tokens.pop_back();
    } else if (beginsStatementOnly(kind) && top() != Kind::BlockOpen && open_fields_ == 0 && beginsLine()) {
      const size_t next = text_.find_first_not_of(" \t", at_ + length);
      if (next == std::string_view::npos || text_[next] != '=') closeForStatement(here(length));
    }
    take(kind, length);
  }

  bool beginsLine() const { return line_begins_ == out_.tokens.size(); }

  // A statement begins at [span] while an expression's brackets are open.
  void closeForStatement(Span span) {
    reportOpen(span, fmt::format("a statement begins before `{}` is closed", opener(open_.back())));
    const Span place = {span.begin, span.begin};
    while (top() != Kind::BlockOpen) closeTop(place, true);
    push(Kind::Newline, place).reported = true;
  }

  void number() {
    NumberLiteral literal = readNumber(rest());
    constexpr uint64_t kLeastMagnitude = uint64_t{1} << 63;
    if (literal.kind == Kind::Int && literal.integer == kLeastMagnitude && !isNegated()) {
      literal.error = readNumber("9223372036854775809").error;
    }
    if (!literal.error.empty()) error(here(literal.length), literal.error);
    Token& token = take(literal.kind, literal.length);
    token.reported = !literal.error.empty();
    if (literal.kind == Kind::Int) {
      token.integer = static_cast<int64_t>(literal.integer);
    } else {
      token.real = literal.real;
    }
  }

  // Whether the last token is a minus whose operand follows.
  bool isNegated() const {
    const auto& tokens = out_.tokens;
    return last() == Kind::Minus && (tokens.size() < 2 || !endsValue(tokens[tokens.size() - 2].kind));
  }

  // ---- Strings ----

  // Reads text up to [quote], to the end of the line or, if [is_format], to a brace. Returns false for wrong text.
  bool readText(char quote, bool is_format, std::string& out) {
    bool good = true;
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == quote || c == '\n') break;
      if (is_format && (c == '{' || c == '}')) {
        if (peek(1) != c) break;
        out += c;
        at_ += 2;
      } else if (c == '\\') {
        const Escape escape = readEscape(rest(), out);
        if (!escape.error.empty()) {
          error(here(escape.length), escape.error);
          good = false;
        }
        at_ += escape.length;
      } else if (const size_t length = utf8::decode(rest()).length) {
        out += rest().substr(0, length);
        at_ += length;
      } else {
        badByte();
        good = false;
      }
    }
    return good;
  }

  void string() {
    const size_t begin = at_;
    const char quote = peek();
    if (peek(1) == quote && peek(2) == quote) return tripleQuoted(quote);
    ++at_;
    std::string text;
    bool good = readText(quote, false, text);
    const bool closed = peek() == quote;
    if (closed) {
      ++at_;
    } else {
      good = false;
      if (open_fields_ == 0) {
        error({static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)},
              fmt::format("the string is not closed with `{}` on its line", quote));
      }  // else the f-string around it is not closed either, and that is reported
    }
    pushString(Kind::String, {static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)}, std::move(text), !good);
    // The string most likely contains what should have closed these.
    if (!closed && open_fields_ == 0) {
      while (top() != Kind::BlockOpen) closeTop(here(0), true);
    }
  }

  void tripleQuoted(char quote) {
    const std::string quotes(3, quote);
    const size_t close = text_.find(quotes, at_ + 3);
    error(here(3), fmt::format("a string is written between single `{}`; a line break in it is `\\n`", quote));
    const size_t end = close == std::string_view::npos ? text_.size() : close + 3;
    const Span span = here(end - at_);
    at_ = end;
    pushString(Kind::String, span, {}, true);
  }

  void beginFString() {
    if (peek(1) == peek(2) && peek(1) == peek(3)) {
      ++at_;
      return tripleQuoted(peek());
    }
    pushBracket(Kind::FStringBegin, 2, false);
    fStringText();
  }

  // Reads the text of the innermost f-string, up to its end or to a field.
  void fStringText() {
    const char quote = opener(open_.back())[1];
    for (;;) {
      const size_t begin = at_;
      std::string text;
      const bool good = readText(quote, true, text);
      if (at_ > begin) {
        const Span span = {static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)};
        pushString(Kind::FStringText, span, std::move(text), !good);
      }
      if (peek() == '{') {
        ++open_fields_;
        pushBracket(Kind::FieldBegin, 1, false);
        return;
      }
      if (peek() == '}') {
        error(here(1), "`}` closes no field of the f-string; write a literal one as `}}`");
        ++at_;
        continue;
      }
      if (peek() == quote && at_ < text_.size()) {
        closeTop(here(1), false);
        ++at_;
      } else {
        closeFString();
      }
      return;
    }
  }

  // Called where the line ends inside f-strings: reports the outermost and closes all.
  void closeFString() {
    size_t depth = open_.size();
    for (size_t fields = open_fields_; fields > 0;) fields -= open_[--depth].kind == Kind::FieldBegin;
    const Span begin = out_.tokens[open_[--depth].token].span;
    error({begin.begin, static_cast<uint32_t>(at_)},
          fmt::format("the f-string is not closed with `{}` on its line", source_->text(begin)[1]));
    while (open_.size() > depth) closeTop(here(0), true);
    while (top() != Kind::BlockOpen) closeTop(here(0), true);
  }

  // Reads what follows the `:` of a field.
  void formatSpec() {
    const Bracket& string = open_[open_.size() - 2];
    const std::array<char, 3> ends = {'}', '\n', opener(string)[1]};
    const size_t end = std::min(text_.find_first_of(std::string_view(ends.data(), ends.size()), at_), text_.size());
    const Span span = here(end - at_);
    at_ = end;
    Token& token = push(Kind::FieldSpec, span);
    token.index = static_cast<uint32_t>(out_.formats.size());
    std::optional<FormatSpec> spec = readFormatSpec(source_->text(span));
    if (!spec) {
      error(span, fmt::format("`{}` is not a format; a format is [[fill]<>^][+][0][width][,][.n][dfegxs%]",
                              source_->text(span)));
      token.reported = true;
    }
    out_.formats.push_back(spec ? std::move(*spec) : FormatSpec{});
    if (at_ < text_.size() && text_[at_] == '}') return;
    const bool at_quote = at_ < text_.size() && text_[at_] == ends[2];
    closeFString();
    if (at_quote) ++at_;  // it begins no string
  }

  // ---- Signs and brackets ----

  void sign() {
    const char c = peek();
    if (c == '{') return openBrace();
    if (c == '}') return close(Kind::BlockClose);
    const Kind kind = findSign(rest());
    switch (kind) {
      case Kind::EndOfFile: return badCharacter();
      case Kind::LeftParen: return open(kind, false);
      case Kind::LeftBracket: return open(kind, endsValue(last()));
      case Kind::RightParen:
      case Kind::RightBracket: return close(kind);
      case Kind::Scope:
        if (!joinsNames()) return colon();
        break;
      case Kind::Colon: return colon();
      case Kind::Semicolon:
        if (top() == Kind::BlockOpen && (last() == Kind::Newline || last() == Kind::Semicolon)) {
          ++at_;  // an empty statement
          return;
        }
        break;
      default: break;
    }
    take(kind, spelling(kind).size());
  }

  void colon() {
    if (top() != Kind::FieldBegin) {
      take(Kind::Colon, 1);
    } else {
      ++at_;
      formatSpec();
    }
  }

  // Whether this `::` separates a namespace and a name; otherwise it is two colons of a slice, or a colon of a format.
  // Directly in an index, `a::b` is a slice, as in Python, unless a call follows: `x[a::f(i)]`.
  bool joinsNames() const {
    if (last() != Kind::Name && !isKeyword(last())) return false;
    size_t next = text_.find_first_not_of(" \t", at_ + 2);
    if (next == std::string_view::npos || !isNameStart(text_[next])) return false;
    if (open_.empty() || !open_.back().is_index) return true;
    const auto skipName = [&] {
      while (next < text_.size() && isNamePart(text_[next])) ++next;
    };
    skipName();
    if (next + 1 < text_.size() && text_[next] == '.' && isNameStart(text_[next + 1])) {
      ++next;
      skipName();
    }
    return next < text_.size() && text_[next] == '(';
  }

  // `{` opens a dict after `=`, `(`, `,`, `[`, `:` or `return`, and at the beginning of a field; else a block.
  void openBrace() {
    switch (last()) {
      case Kind::Assign:
      case Kind::LeftParen:
      case Kind::Comma:
      case Kind::LeftBracket:
      case Kind::Colon:
      case Kind::KwReturn:
      case Kind::FieldBegin: return open(Kind::DictOpen, false);
      default: return open(Kind::BlockOpen, false);
    }
  }

  void open(Kind kind, bool is_index) { pushBracket(kind, 1, is_index); }

  void pushBracket(Kind kind, size_t length, bool is_index) {
    take(kind, length);
    const auto begin = kind == Kind::BlockOpen ? static_cast<uint32_t>(at_) : 0;
    open_.push_back({kind, static_cast<uint32_t>(out_.tokens.size() - 1), is_index, {begin, begin}});
  }

  // Closes the innermost bracket at [span], and links the two tokens.
  void closeTop(Span span, bool reported) {
    const Bracket bracket = open_.back();
    open_.pop_back();
    if (bracket.kind == Kind::FieldBegin) --open_fields_;
    out_.tokens[bracket.token].index = static_cast<uint32_t>(out_.tokens.size());
    push(closerOf(bracket.kind), span).reported = reported;
  }

  // A closing bracket; a brace is passed as BlockClose.
  void close(Kind kind) {
    const auto fits = [kind](const Bracket& bracket) {
      const bool is_brace =
          bracket.kind == Kind::DictOpen || bracket.kind == Kind::BlockOpen || bracket.kind == Kind::FieldBegin;
      return kind == Kind::BlockClose ? is_brace : closerOf(bracket.kind) == kind;
    };
    const Span span = here(1);
    // `)` and `]` do not close brackets outside of their block. No bracket closes what was opened outside of its field.
    const auto isBarrier = [kind](const Bracket& bracket) {
      return bracket.kind == Kind::FieldBegin || (bracket.kind == Kind::BlockOpen && kind != Kind::BlockClose);
    };
    const auto last_seen = open_.rbegin() + static_cast<std::ptrdiff_t>(std::min<size_t>(open_.size(), kMaxNesting));
    auto match = open_.rbegin();
    while (match != last_seen && !fits(*match) && !isBarrier(*match)) ++match;
    const bool found = match != last_seen && fits(*match);
    if (!found && (open_.empty() || isBarrier(open_.back()))) {
      error(span, fmt::format("`{}` closes nothing", text_[at_]));
      take(Kind::Bad, 1).reported = true;
      return;
    }
    if (match != open_.rbegin()) {
      reportOpen(span, fmt::format("`{}` does not close `{}`", text_[at_], opener(open_.back())));
      if (!found) {
        // Most likely the wrong kind of bracket.
        closeTop(span, true);
        ++at_;
        return;
      }
      const size_t depth = static_cast<size_t>(open_.rend() - match);
      while (open_.size() > depth) closeTop({span.begin, span.begin}, true);
    }
    const bool ends_field = open_.back().kind == Kind::FieldBegin;
    closeTop(span, false);
    ++at_;
    if (ends_field) fStringText();
  }

  void badCharacter() {
    const utf8::CodePoint point = utf8::decode(rest());
    if (point.length == 0) {
      take(Kind::Bad, 0).reported = true;
      return badByte();
    }
    const bool printable = point.value >= 0x20 && point.value != 0x7F && (point.value < 0x80 || point.value > 0x9F);
    const std::string name = fmt::format("U+{:04X}", static_cast<uint32_t>(point.value));
    Diagnostic& diagnostic = error(
        here(point.length), printable && point.value < 0x80
                                ? fmt::format("`{}` means nothing here", text_[at_])
                                : fmt::format("the character {}{} means nothing here",
                                              printable ? fmt::format("`{}` ", rest().substr(0, point.length)) : "",
                                              printable ? fmt::format("({})", name) : name));
    if (peek() == '\\') diagnostic.note("a line continues in the next one inside `()`, `[]` or the `{}` of a dict");
    take(Kind::Bad, point.length).reported = true;
    // A run of the same character gives one message.
    while (utf8::decode(rest()).value == point.value && at_ < text_.size()) at_ += point.length;
  }

  const SourcePtr& source_;
  const std::string_view text_;
  Diagnostics& diagnostics_;
  TokenStream out_;
  std::vector<Bracket> open_;
  size_t at_ = 0;
  size_t open_fields_ = 0;
  size_t line_begins_ = 0;  // index of the token that begins the line
};

}  // namespace

TokenStream lex(const SourcePtr& source, Diagnostics& diagnostics) { return Lexer(source, diagnostics).run(); }

}  // namespace boxcar::syntax
