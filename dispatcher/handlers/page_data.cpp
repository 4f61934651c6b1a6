#include <boxcar/dispatcher/handlers/page_data.h>

namespace boxcar {

std::string pageWithData(std::string_view page, std::string_view json) {
  constexpr std::string_view kPlace = "{{data}}";
  const size_t place = page.find(kPlace);
  std::string result(page.substr(0, place));
  // "</script" and "<!--" would change how the page is parsed. In JSON, < occurs only in strings, where it can be
  // escaped.
  for (const char c : json) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result += page.substr(place + kPlace.size());
}

}  // namespace boxcar
