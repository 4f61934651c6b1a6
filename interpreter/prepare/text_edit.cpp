#include <boxcar/interpreter/prepare/text_edit.h>

#include <algorithm>

namespace boxcar::interp {

std::string edited(std::string_view text, std::vector<Edit> edits) {
  std::ranges::sort(edits, {}, [](const Edit& edit) { return edit.span.begin; });
  std::string result;
  size_t done = 0;
  for (const Edit& edit : edits) {
    result.append(text.substr(done, edit.span.begin - done)).append(edit.text);
    done = edit.span.end;
  }
  return result.append(text.substr(done));
}

Edit withoutStatement(const Source& source, Span statement) {
  const std::string_view text = source.text();
  Span line = statement;
  while (line.begin > 0 && (text[line.begin - 1] == ' ' || text[line.begin - 1] == '\t')) --line.begin;
  while (line.end < text.size() && (text[line.end] == ' ' || text[line.end] == '\t')) ++line.end;
  if (line.end < text.size() && text[line.end] == ';') return {{statement.begin, line.end + 1}, ""};
  const bool is_alone =
      (line.begin == 0 || text[line.begin - 1] == '\n') && line.end < text.size() && text[line.end] == '\n';
  if (!is_alone) return {statement, ""};
  return {{line.begin, line.end + 1}, ""};
}

}  // namespace boxcar::interp
