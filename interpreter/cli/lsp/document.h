#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cli {

// A position as the protocol counts: line and character start at 0, the character is in UTF-16 code units.
struct LspPosition {
  uint32_t line = 0;
  uint32_t character = 0;
};

// A text that converts between byte offsets and the protocol's positions.
class LspText {
 public:
  explicit LspText(std::string text);

  const std::string& text() const noexcept { return text_; }
  // Returns an offset in bytes. A character past the end of its line gives the line's end, a line past the last one the
  // text's end.
  uint32_t offsetAt(LspPosition position) const noexcept;
  LspPosition positionAt(uint32_t offset) const noexcept;
  // Replaces the bytes [begin, end) with [text].
  void replace(uint32_t begin, uint32_t end, std::string_view text);

 private:
  void findLines();

  std::string text_;
  std::vector<uint32_t> line_begins_;
};

// Returns the path of a `file:` URI; for any other URI, such as that of an unsaved text, the URI itself.
std::string pathOfUri(std::string_view uri);
// Returns `file:///home/me/a%20b.ops`. A relative path starts from the current folder.
std::string uriOfPath(const std::string& path);

}  // namespace boxcar::cli
