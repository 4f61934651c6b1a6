#include <boxcar/dispatcher/handlers/dot_text.h>

namespace boxcar::detail {

std::string dotText(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result += '"';
}

}  // namespace boxcar::detail
