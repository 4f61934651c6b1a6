#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cli {

// A place as the protocol counts: both from 0, the character in UTF-16 code units.
struct LspPosition {
  uint32_t line = 0;
  uint32_t character = 0;
};

// A text whose places are asked for in both ways of counting.
class LspText {
 public:
  explicit LspText(std::string text);

  const std::string& text() const noexcept { return text_; }
  // Bytes; a character past the end of its line is the line's end, a line past the last one the text's end.
  uint32_t offsetAt(LspPosition position) const noexcept;
  LspPosition positionAt(uint32_t offset) const noexcept;
  // Puts [text] in the place of the bytes [begin, end).
  void replace(uint32_t begin, uint32_t end, std::string_view text);

 private:
  void findLines();

  std::string text_;
  std::vector<uint32_t> line_begins_;
};

// The path of a `file:` URI; of another one, such as an unsaved text's, the URI itself.
std::string pathOfUri(std::string_view uri);
// `file:///home/me/a%20b.ops`. A relative path starts from the current folder.
std::string uriOfPath(const std::string& path);

}  // namespace boxcar::cli
