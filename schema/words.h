#pragma once

#include <boxcar/schema/type.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace boxcar::detail {

// The character classes of schemas, independent of the locale.
enum CharClass : std::uint8_t { kWordStart = 1, kDigit = 2, kSpace = 4, kNewline = 8, kComment = 16 };

inline constexpr std::array<std::uint8_t, 256> kCharClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = kWordStart;
  for (int c = 'A'; c <= 'Z'; ++c) classes[c] = kWordStart;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kDigit;
  classes['_'] = kWordStart;
  for (const char c : {' ', '\t', '\r', '\f', '\v'}) classes[static_cast<unsigned char>(c)] = kSpace;
  classes['\n'] = kNewline;
  classes['#'] = kComment;
  return classes;
}();

constexpr bool isOfClass(char c, int classes) { return (kCharClasses[static_cast<unsigned char>(c)] & classes) != 0; }

// Returns the end of the word that starts at [first], or [first] if none does.
constexpr const char* wordEnd(const char* first, const char* last) {
  if (first == last || !isOfClass(*first, kWordStart)) return first;
  do {
    ++first;
  } while (first != last && isOfClass(*first, kWordStart | kDigit));
  return first;
}

// Returns a word of at most eight letters as one number, for use in a switch; 0 for a longer one.
constexpr std::uint64_t packed(std::string_view word) {
  if (word.size() > 8) return 0;
  std::uint64_t number = 0;
  for (const char c : word) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

// Words that cannot be names: keywords of the language that embeds schemas.
inline constexpr std::string_view kKeywords[] = {"and", "as",     "assert",   "break",  "class", "continue", "def",
                                                 "del", "elif",   "Ellipsis", "else",   "False", "for",      "global",
                                                 "if",  "import", "in",       "is",     "None",  "NoneType", "not",
                                                 "or",  "pass",   "raise",    "return", "True",  "while",    "with"};

// A hash of the first two letters and the length. Few words share it with a keyword; the others need no comparison.
constexpr std::size_t keywordSlot(std::string_view word) {
  return (static_cast<unsigned char>(word[0]) * 3u + static_cast<unsigned char>(word[1]) * 5u + word.size() * 37u) %
         256;
}
inline constexpr std::array<bool, 256> kMayBeKeyword = [] {
  std::array<bool, 256> slots{};
  for (const std::string_view keyword : kKeywords) slots[keywordSlot(keyword)] = true;
  return slots;
}();

constexpr bool isKeyword(std::string_view word) {
  if (word.size() < 2 || !kMayBeKeyword[keywordSlot(word)]) return false;
  for (const std::string_view keyword : kKeywords) {
    if (word == keyword) return true;
  }
  return false;
}

// Whether [text] can name an operator, an argument or an alias set.
constexpr bool isName(std::string_view text) {
  return !text.empty() && wordEnd(text.data(), text.data() + text.size()) == text.data() + text.size() &&
         !isKeyword(text);
}

// Whether [text] is the full name of a class: `__torch__.torch.classes.namespace.Name`.
constexpr bool isClassName(std::string_view text) {
  constexpr std::string_view kStart = "__torch__.torch.classes.";
  if (!text.starts_with(kStart)) return false;
  const std::string_view path = text.substr(kStart.size());
  const std::size_t dot = path.find('.');
  return dot != std::string_view::npos && isName(path.substr(0, dot)) && isName(path.substr(dot + 1));
}

// Returns the type without parameters of this name, or null: `int`, `number`, `None`.
TypePtr baseTypeNamed(std::string_view word);

// Returns the names that baseTypeNamed knows and those of the composed types, as candidates for suggestions.
std::span<const std::string_view> typeNames();

}  // namespace boxcar::detail
