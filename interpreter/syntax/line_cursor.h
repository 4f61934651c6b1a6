#pragma once

// Reads the assembler's lines.

#include <boxcar/interpreter/syntax/diagnostic.h>
#include <boxcar/interpreter/syntax/source.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace boxcar::interp {

// Walks over one line of a text. All reading functions skip spaces first; bad input throws CompileError that shows the
// place.
class LineCursor final {
 public:
  LineCursor(SourcePtr source, Span line) : source_(std::move(source)), at_(line.begin), end_(line.end) {}

  uint32_t at() const noexcept { return at_; }
  void moveTo(uint32_t offset) noexcept { at_ = offset; }
  std::string_view rest() const noexcept { return source_->text({at_, end_}); }

  // Where the next word or sign begins.
  uint32_t skipSpaces() noexcept {
    while (at_ < end_ && isSpace(source_->text()[at_])) ++at_;
    return at_;
  }
  // Whether only a comment, or nothing, is left.
  bool atEnd() noexcept { return skipSpaces() == end_ || peek() == ';'; }
  // The next byte; 0 at the end of the line.
  char peek() noexcept { return skipSpaces() == end_ ? '\0' : source_->text()[at_]; }

  bool take(std::string_view sign) noexcept {
    skipSpaces();
    if (!rest().starts_with(sign)) return false;
    at_ += static_cast<uint32_t>(sign.size());
    return true;
  }
  void need(std::string_view sign) {
    if (!take(sign)) failExpected(fmt::format("`{}`", sign));
  }
  void needEnd() {
    if (!atEnd()) failExpected("the end of the line");
  }

  // Reads letters, digits, `_` and the characters in [more]; may return an empty word.
  std::string_view word(std::string_view more = {}) noexcept {
    const uint32_t begin = skipSpaces();
    while (at_ < end_ && isWordByte(source_->text()[at_], more)) ++at_;
    return source_->text({begin, at_});
  }

  // Reads a decimal number from [least] to [most]; messages call it [what].
  template <class T>
  T number(std::string_view what, T least = std::numeric_limits<T>::min(), T most = std::numeric_limits<T>::max()) {
    skipSpaces();
    T value{};
    const char* const first = rest().data();
    const char* const last = first + rest().size();
    const auto [end, error] = std::from_chars(first, last, value);
    if (error != std::errc() || value < least || value > most || (end != last && isWordByte(*end, ""))) {
      failExpected(fmt::format("{} from {} to {}", what, least, most));
    }
    at_ += static_cast<uint32_t>(end - first);
    return value;
  }

  // Throws because the next thing is not [expected], which is a noun with its article or a sign.
  [[noreturn]] void failExpected(std::string_view expected) {
    const uint32_t begin = skipSpaces();
    if (atEnd()) fail({begin, begin}, "expected {}, but the line ends here", expected);
    const std::string_view found = word("#.:-+\"");
    if (found.empty()) ++at_;
    fail({begin, at_}, "expected {}, found `{}`", expected, source_->text({begin, at_}));
  }

  template <class... Args>
  [[noreturn]] void fail(Span span, fmt::format_string<Args...> format, Args&&... args) const {
    throw CompileError({{Severity::Error, source_, span, fmt::format(format, std::forward<Args>(args)...), {}}});
  }

 private:
  static bool isSpace(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }
  static bool isWordByte(char c, std::string_view more) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           more.find(c) != std::string_view::npos;
  }

  SourcePtr source_;
  uint32_t at_;
  uint32_t end_;
};

}  // namespace boxcar::interp
