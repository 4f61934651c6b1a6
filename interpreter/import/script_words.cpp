#include <boxcar/interpreter/import/script_words.h>
#include <boxcar/interpreter/syntax/token.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

namespace boxcar::interp {

bool isReservedWord(std::string_view word) {
  return word == "op" || word == "name" || word == "weights" || word == "torch" || word == "argv" ||
         syntax::keywordOrName(word) != syntax::TokenKind::Name;
}

bool isHiddenByLibrary(std::string_view word) { return word == "binary_cross_entropy"; }

std::string scriptString(std::string_view text) {
  std::string repr = pythonStringRepr(text);
  const bool is_plain = repr.size() == text.size() + 2 && text.find('"') == std::string_view::npos;
  return is_plain ? fmt::format("\"{}\"", text) : repr;
}

std::string textOfFString(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    if (c == '{' || c == '}') escaped += c;
    escaped += c;
  }
  return escaped;
}

}  // namespace boxcar::interp
