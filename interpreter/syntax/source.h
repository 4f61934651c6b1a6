#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar {

// Bytes [begin, end) of a source's text.
struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;

  bool empty() const noexcept { return begin == end; }
  friend bool operator==(const Span&, const Span&) = default;
};

// The smallest span that covers [a] and [b].
inline Span join(Span a, Span b) noexcept {
  return {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

// Both count from 1; the column counts UTF-8 code points.
struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 1;

  friend bool operator==(const LineColumn&, const LineColumn&) = default;
};

class Source;
using SourcePtr = std::shared_ptr<const Source>;

// The text of one script with its name and line table. It never changes. Everything that points into it (a syntax
// tree's names, a diagnostic) shares ownership.
class BOXCAR_API Source {
 public:
  // [name] is the name of the text in messages: a path as the user wrote it, or "<stdin>". Throws Error for texts of 4
  // GiB or more.
  static SourcePtr create(std::string name, std::string text);

  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  const std::string& name() const noexcept { return name_; }
  std::string_view text() const noexcept { return text_; }
  std::string_view text(Span span) const noexcept;

  // Offsets past the end count as the end.
  LineColumn position(uint32_t offset) const noexcept;

  uint32_t line_count() const noexcept { return static_cast<uint32_t>(line_begins_.size()); }

  // The text of line [line], counted from 1, and its place, both without the line break. Empty past the last line.
  std::string_view line(uint32_t line) const noexcept;
  Span lineSpan(uint32_t line) const noexcept;

 private:
  Source(std::string name, std::string text);

  std::string name_;
  std::string text_;
  std::vector<uint32_t> line_begins_;
};

// A place in one of the sources of a program.
struct Location {
  SourcePtr source;
  Span span;
};

// `file:line:column` of the begin of the span.
BOXCAR_API std::string toString(const Location& location);

}  // namespace boxcar
