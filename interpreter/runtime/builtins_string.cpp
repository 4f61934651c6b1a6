// The methods of strings. They count in characters, and know the letters of all alphabets that the C library knows.

#include <boxcar/interpreter/runtime/builtin_table.h>
#include <boxcar/interpreter/runtime/container_operations.h>
#include <boxcar/interpreter/runtime/sequence_index.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <boxcar/ivalue/append_utf8.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <clocale>
#include <cwctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::interp {
namespace {

std::string_view stringIn(const IValue& value) { return value.toStringView(); }

locale_t unicodeLocale() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

// ---- Parts ----

void splitAtSpaces(std::string_view text, int64_t most, const GenericList& parts) {
  for (;;) {
    text.remove_prefix(utf8::countSpaces(text));
    if (text.empty()) return;
    if (most-- == 0) {
      parts.push_back(text);
      return;
    }
    const size_t end = utf8::findSpace(text);
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::string_view separatorOf(const IValue& value, std::string_view method) {
  const std::string_view separator = stringIn(value);
  BOXCAR_CHECK(!separator.empty(), "the separator of {}() must not be empty", method);
  return separator;
}

IValue split(std::span<IValue> arguments) {
  std::string_view text = stringIn(arguments[0]);
  int64_t most = arguments[2].toInt();
  const GenericList parts;
  if (arguments[1].isNone()) {
    splitAtSpaces(text, most, parts);
    return parts;
  }
  const std::string_view separator = separatorOf(arguments[1], "split");
  for (size_t at = text.find(separator); at != std::string_view::npos && most-- != 0; at = text.find(separator)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(text);
  return parts;
}

// The last [most] words, and what is before them, with the white space at its beginning, as in Python.
std::vector<std::string_view> lastWords(std::string_view text, int64_t most) {
  std::vector<std::string_view> words;
  for (std::string_view rest = text;;) {
    rest.remove_prefix(utf8::countSpaces(rest));
    if (rest.empty()) break;
    words.push_back(rest.substr(0, utf8::findSpace(rest)));
    rest.remove_prefix(words.back().size());
  }
  if (most < 0 || static_cast<uint64_t>(most) >= words.size()) return words;
  const size_t joined = words.size() - static_cast<size_t>(most);
  words[joined - 1] = std::string_view(text.data(), words[joined - 1].end());
  words.erase(words.begin(), words.begin() + static_cast<ptrdiff_t>(joined) - 1);
  return words;
}

IValue splitFromEnd(std::span<IValue> arguments) {
  std::string_view text = stringIn(arguments[0]);
  int64_t most = arguments[2].toInt();
  std::vector<std::string_view> parts;
  if (arguments[1].isNone()) {
    parts = lastWords(text, most);
  } else {
    const std::string_view separator = separatorOf(arguments[1], "rsplit");
    for (size_t at = text.rfind(separator); at != std::string_view::npos && most-- != 0; at = text.rfind(separator)) {
      parts.push_back(text.substr(at + separator.size()));
      text = text.substr(0, at);
    }
    parts.push_back(text);
    std::ranges::reverse(parts);
  }
  const GenericList result;
  for (const std::string_view part : parts) result.push_back(part);
  return result;
}

bool endsLine(char32_t point) {
  return (point >= '\n' && point <= '\r') || (point >= 0x1C && point <= 0x1E) || point == 0x85 || point == 0x2028 ||
         point == 0x2029;
}

IValue splitLines(std::span<IValue> arguments) {
  std::string_view text = stringIn(arguments[0]);
  const bool keeps_ends = arguments[1].toBool();
  const GenericList lines;
  while (!text.empty()) {
    size_t end = 0;
    size_t next = text.size();
    for (; end < text.size();) {
      const utf8::CodePoint point = utf8::decode(text.substr(end));
      if (point.length != 0 && endsLine(point.value)) {
        next = end + point.length;
        if (text.substr(end).starts_with("\r\n")) ++next;
        break;
      }
      end += std::max<size_t>(point.length, 1);
    }
    lines.push_back(text.substr(0, keeps_ends ? next : end));
    text.remove_prefix(next);
  }
  return lines;
}

IValue partsAround(std::string_view text, size_t at, size_t length) {
  return Tuple(std::vector<IValue>{text.substr(0, at), text.substr(at, length), text.substr(at + length)});
}

IValue partition(std::span<IValue> arguments) {
  const std::string_view text = stringIn(arguments[0]);
  const std::string_view separator = separatorOf(arguments[1], "partition");
  const size_t at = text.find(separator);
  if (at == std::string_view::npos) return partsAround(text, text.size(), 0);
  return partsAround(text, at, separator.size());
}

IValue partitionFromEnd(std::span<IValue> arguments) {
  const std::string_view text = stringIn(arguments[0]);
  const std::string_view separator = separatorOf(arguments[1], "rpartition");
  const size_t at = text.rfind(separator);
  if (at == std::string_view::npos) return partsAround(text, 0, 0);
  return partsAround(text, at, separator.size());
}

TypePtr threeStrings(std::span<const TypePtr> /*arguments*/) {
  const TypePtr parts[] = {Type::string(), Type::string(), Type::string()};
  return Type::tupleOf(parts);
}

IValue join(std::span<IValue> arguments) {
  std::string text;
  const std::vector<IValue> parts = elementsOf(arguments[1]);
  for (size_t i = 0; i < parts.size(); ++i) {
    BOXCAR_CHECK(parts[i].isString(), "join() takes strs, but element {} is {}", i, kindName(parts[i]));
    if (i != 0) text += stringIn(arguments[0]);
    text += stringIn(parts[i]);
  }
  return text;
}

bool isOneOf(std::string_view character, const Characters& set) {
  for (size_t i = 0; i < set.size(); ++i) {
    if (set[i] == character) return true;
  }
  return false;
}

template <bool at_begin, bool at_end>
IValue strip(std::span<IValue> arguments) {
  const std::string_view text = stringIn(arguments[0]);
  if (arguments[1].isNone()) {
    if (at_begin && at_end) return utf8::withoutSpaces(text);
    const size_t spaces = utf8::countSpaces(text);
    if (at_begin || spaces == text.size()) return text.substr(spaces);
    const std::string_view inside = utf8::withoutSpaces(text);
    return text.substr(0, static_cast<size_t>(inside.data() - text.data()) + inside.size());
  }
  const Characters characters(text);
  const Characters set(stringIn(arguments[1]));
  size_t begin = 0;
  size_t end = characters.size();
  while (at_begin && begin < end && isOneOf(characters[begin], set)) ++begin;
  while (at_end && begin < end && isOneOf(characters[end - 1], set)) --end;
  if (begin == end) return "";
  return std::string_view(characters[begin].data(), characters[end - 1].end());
}

// ---- Places ----

// A part of a text, and the number of the character at its beginning.
struct Within {
  std::string_view text;
  int64_t begin = 0;
};

// Returns the characters from [start] to [end], as a slice has them; nothing if [start] is behind the last.
std::optional<Within> within(std::string_view text, const IValue& start, const IValue& end) {
  if (end.isNone() && start.toInt() == 0) return Within{text, 0};
  const Characters characters(text);
  const size_t size = characters.size();
  if (start.toInt() > static_cast<int64_t>(size)) return std::nullopt;
  const SliceRange range = resolveSlice(start, end, IValue(), size);
  const auto offset = [&](size_t i) {
    return i >= size ? text.size() : static_cast<size_t>(characters[i].data() - text.data());
  };
  const size_t first = offset(range.at(0));
  const size_t last = offset(range.at(range.count));
  // An end before the start leaves nothing, not even room for an empty str.
  if (range.count == 0 && !end.isNone()) {
    const int64_t stop = end.toInt() < 0 ? end.toInt() + static_cast<int64_t>(size) : end.toInt();
    if (stop < range.start) return std::nullopt;
  }
  return Within{text.substr(first, last - first), range.start};
}

// Returns the number of the first, or the last, character of [part]; -1 if it does not occur.
template <bool is_last>
int64_t place(std::span<IValue> arguments) {
  const std::optional<Within> where = within(stringIn(arguments[0]), arguments[2], arguments[3]);
  if (!where.has_value()) return -1;
  const std::string_view part = stringIn(arguments[1]);
  const size_t at = is_last ? where->text.rfind(part) : where->text.find(part);
  if (at == std::string_view::npos) return -1;
  return where->begin + static_cast<int64_t>(utf8::countCodePoints(where->text.substr(0, at)));
}

template <bool is_last>
IValue find(std::span<IValue> arguments) {
  return place<is_last>(arguments);
}

template <bool is_last>
IValue index(std::span<IValue> arguments) {
  const int64_t found = place<is_last>(arguments);
  BOXCAR_CHECK(found >= 0, "{} is not in the str {}", repr(arguments[1]), repr(arguments[0]));
  return found;
}

IValue countOf(std::span<IValue> arguments) {
  const std::optional<Within> where = within(stringIn(arguments[0]), arguments[2], arguments[3]);
  if (!where.has_value()) return int64_t{0};
  const std::string_view part = stringIn(arguments[1]);
  if (part.empty()) return static_cast<int64_t>(utf8::countCodePoints(where->text)) + 1;
  int64_t count = 0;
  for (size_t at = where->text.find(part); at != std::string_view::npos; ++count) {
    at = where->text.find(part, at + part.size());
  }
  return count;
}

IValue startsWith(std::span<IValue> arguments) {
  const std::optional<Within> where = within(stringIn(arguments[0]), arguments[2], arguments[3]);
  return where.has_value() && where->text.starts_with(stringIn(arguments[1]));
}

IValue endsWith(std::span<IValue> arguments) {
  const std::optional<Within> where = within(stringIn(arguments[0]), arguments[2], arguments[3]);
  return where.has_value() && where->text.ends_with(stringIn(arguments[1]));
}

// ---- Texts ----

IValue replace(std::span<IValue> arguments) {
  const std::string_view text = stringIn(arguments[0]);
  const std::string_view old = stringIn(arguments[1]);
  const std::string_view by = stringIn(arguments[2]);
  int64_t most = arguments[3].toInt();
  std::string result;
  if (old.empty()) {
    const Characters characters(text);
    for (size_t i = 0; i <= characters.size(); ++i) {
      if (most-- != 0) {
        result.append(by);
      } else {
        most = 0;
      }
      if (i < characters.size()) result.append(characters[i]);
    }
    return result;
  }
  size_t done = 0;
  for (size_t at = text.find(old); at != std::string_view::npos && most-- != 0; at = text.find(old, done)) {
    result.append(text.substr(done, at - done)).append(by);
    done = at + old.size();
  }
  return result.append(text.substr(done));
}

bool isUpper(char32_t point) { return iswupper_l(point, unicodeLocale()) != 0; }
bool isLower(char32_t point) { return iswlower_l(point, unicodeLocale()) != 0; }
bool isLetter(char32_t point) { return iswalpha_l(point, unicodeLocale()) != 0; }
bool isDigit(char32_t point) { return point >= '0' && point <= '9'; }
bool isLetterOrDigit(char32_t point) { return isLetter(point) || isDigit(point); }
bool isPrintable(char32_t point) {
  return point == ' ' || (iswprint_l(point, unicodeLocale()) && !utf8::isSpace(point));
}

void appendUpper(std::string& text, char32_t point) {
  if (point == U'\u00DF') {
    text += "SS";  // the one common letter that becomes two
  } else {
    appendUtf8(text, static_cast<char32_t>(towupper_l(point, unicodeLocale())));
  }
}
void appendLower(std::string& text, char32_t point) {
  appendUtf8(text, static_cast<char32_t>(towlower_l(point, unicodeLocale())));
}

// Calls [each] with the characters of [text], and copies bytes that are no UTF-8.
template <class Each>
std::string mapped(std::string_view text, Each each) {
  std::string result;
  while (!text.empty()) {
    const utf8::CodePoint point = utf8::decode(text);
    if (point.length == 0) {
      result += text[0];
      text.remove_prefix(1);
      continue;
    }
    each(result, point.value);
    text.remove_prefix(point.length);
  }
  return result;
}

IValue lower(std::span<IValue> arguments) { return mapped(stringIn(arguments[0]), appendLower); }
IValue upper(std::span<IValue> arguments) { return mapped(stringIn(arguments[0]), appendUpper); }

IValue swapCase(std::span<IValue> arguments) {
  return mapped(stringIn(arguments[0]), [](std::string& result, char32_t point) {
    isUpper(point) ? appendLower(result, point) : appendUpper(result, point);
  });
}

IValue capitalize(std::span<IValue> arguments) {
  return mapped(stringIn(arguments[0]), [](std::string& result, char32_t point) {
    result.empty() ? appendUpper(result, point) : appendLower(result, point);
  });
}

IValue title(std::span<IValue> arguments) {
  bool is_inside = false;
  return mapped(stringIn(arguments[0]), [&](std::string& result, char32_t point) {
    is_inside ? appendLower(result, point) : appendUpper(result, point);
    is_inside = isLetter(point);
  });
}

// Whether there are characters, and each is one of those.
template <bool (*is)(char32_t)>
IValue areAll(std::span<IValue> arguments) {
  std::string_view text = stringIn(arguments[0]);
  if (text.empty()) return false;
  while (!text.empty()) {
    const utf8::CodePoint point = utf8::decode(text);
    if (point.length == 0 || !is(point.value)) return false;
    text.remove_prefix(point.length);
  }
  return true;
}

// Whether there are letters, and none of the other case.
template <bool (*is)(char32_t), bool (*is_other)(char32_t)>
IValue isCase(std::span<IValue> arguments) {
  bool has_letters = false;
  bool has_others = false;
  mapped(stringIn(arguments[0]), [&](std::string& /*result*/, char32_t point) {
    has_letters |= is(point);
    has_others |= is_other(point);
  });
  return has_letters && !has_others;
}

IValue isTitle(std::span<IValue> arguments) {
  bool is_inside = false;
  bool has_letters = false;
  bool is_title = true;
  mapped(stringIn(arguments[0]), [&](std::string& /*result*/, char32_t point) {
    is_title &= is_inside ? !isUpper(point) : !isLower(point);
    is_inside = isLetter(point);
    has_letters |= is_inside;
  });
  return is_title && has_letters;
}

IValue isIdentifier(std::span<IValue> arguments) {
  bool is_name = !arguments[0].toStringRef().empty();
  bool is_first = true;
  mapped(stringIn(arguments[0]), [&](std::string& /*result*/, char32_t point) {
    is_name &= point == '_' || isLetter(point) || (!is_first && isDigit(point));
    is_first = false;
  });
  return is_name;
}

// ---- Widths ----

// Returns how many characters are missing to a width.
size_t missingTo(std::string_view text, int64_t width, std::string_view method) {
  const auto length = static_cast<int64_t>(utf8::countCodePoints(text));
  constexpr int64_t kMostWidth = int64_t{1} << 30;
  BOXCAR_CHECK(width <= kMostWidth, "{}() makes no str of more than {} characters, as a width of {} would be", method,
               kMostWidth, width);
  return static_cast<size_t>(std::max<int64_t>(width - length, 0));
}

std::string repeated(std::string_view fill, size_t count) {
  std::string text;
  text.reserve(fill.size() * count);
  for (size_t i = 0; i < count; ++i) text += fill;
  return text;
}

enum class Side : uint8_t { Left, Right, Both };

// Puts a text at the left or the right of its width, or between.
template <Side side>
IValue justify(std::span<IValue> arguments) {
  constexpr std::string_view kNames[] = {"ljust", "rjust", "center"};
  constexpr std::string_view kName = kNames[static_cast<size_t>(side)];
  const std::string_view text = stringIn(arguments[0]);
  const std::string_view fill = stringIn(arguments[2]);
  BOXCAR_CHECK(utf8::countCodePoints(fill) == 1, "{}() fills with a single character, not {}", kName,
               repr(arguments[2]));
  const int64_t width = arguments[1].toInt();
  const size_t missing = missingTo(text, width, kName);
  size_t before = side == Side::Right ? missing : 0;
  // Of an odd number, Python puts the larger half in front if the width is odd.
  if (side == Side::Both) before = missing / 2 + (missing & static_cast<size_t>(width) & 1);
  return repeated(fill, before).append(text).append(repeated(fill, missing - before));
}

// Fills with zeros behind the sign.
IValue zeroFill(std::span<IValue> arguments) {
  const std::string_view text = stringIn(arguments[0]);
  const size_t missing = missingTo(text, arguments[1].toInt(), "zfill");
  const size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  return std::string(text.substr(0, sign)).append(missing, '0').append(text.substr(sign));
}

IValue expandTabs(std::span<IValue> arguments) {
  const int64_t size = arguments[1].toInt();
  int64_t column = 0;
  return mapped(stringIn(arguments[0]), [&](std::string& result, char32_t point) {
    if (point != '\t') {
      appendUtf8(result, point);
      column = point == '\n' || point == '\r' ? 0 : column + 1;
    } else if (size > 0) {
      const int64_t spaces = size - column % size;
      missingTo("", static_cast<int64_t>(result.size()) + spaces, "expandtabs");
      result.append(static_cast<size_t>(spaces), ' ');
      column += spaces;
    }
  });
}

}  // namespace

void addStringBuiltins(BuiltinTable& table) {
  addBuiltin(table, "str.split(str self, str? sep=None, int maxsplit=-1) -> str[]", split);
  addBuiltin(table, "str.rsplit(str self, str? sep=None, int maxsplit=-1) -> str[]", splitFromEnd);
  addBuiltin(table, "str.splitlines(str self, bool keepends=False) -> str[]", splitLines);
  addBuiltin(table, "str.partition(str self, str sep) -> Any", partition, threeStrings);
  addBuiltin(table, "str.rpartition(str self, str sep) -> Any", partitionFromEnd, threeStrings);
  addBuiltin(table, "str.join(str self, Any parts) -> str", join);
  addBuiltin(table, "str.strip(str self, str? chars=None) -> str", strip<true, true>);
  addBuiltin(table, "str.lstrip(str self, str? chars=None) -> str", strip<true, false>);
  addBuiltin(table, "str.rstrip(str self, str? chars=None) -> str", strip<false, true>);

  addBuiltin(table, "str.startswith(str self, str prefix, int start=0, int? end=None) -> bool", startsWith);
  addBuiltin(table, "str.endswith(str self, str suffix, int start=0, int? end=None) -> bool", endsWith);
  addBuiltin(table, "str.find(str self, str part, int start=0, int? end=None) -> int", find<false>);
  addBuiltin(table, "str.rfind(str self, str part, int start=0, int? end=None) -> int", find<true>);
  addBuiltin(table, "str.index(str self, str part, int start=0, int? end=None) -> int", index<false>);
  addBuiltin(table, "str.rindex(str self, str part, int start=0, int? end=None) -> int", index<true>);
  addBuiltin(table, "str.count(str self, str part, int start=0, int? end=None) -> int", countOf);

  addBuiltin(table, "str.replace(str self, str old, str new, int count=-1) -> str", replace);
  addBuiltin(table, "str.lower(str self) -> str", lower);
  addBuiltin(table, "str.upper(str self) -> str", upper);
  addBuiltin(table, "str.swapcase(str self) -> str", swapCase);
  addBuiltin(table, "str.capitalize(str self) -> str", capitalize);
  addBuiltin(table, "str.title(str self) -> str", title);

  addBuiltin(table, "str.isalpha(str self) -> bool", areAll<isLetter>);
  addBuiltin(table, "str.isdigit(str self) -> bool", areAll<isDigit>);
  addBuiltin(table, "str.isalnum(str self) -> bool", areAll<isLetterOrDigit>);
  addBuiltin(table, "str.isspace(str self) -> bool", areAll<utf8::isSpace>);
  addBuiltin(table, "str.islower(str self) -> bool", isCase<isLower, isUpper>);
  addBuiltin(table, "str.isupper(str self) -> bool", isCase<isUpper, isLower>);
  addBuiltin(table, "str.istitle(str self) -> bool", isTitle);
  addBuiltin(table, "str.isidentifier(str self) -> bool", isIdentifier);
  addBuiltin(table, "str.isprintable(str self) -> bool", [](std::span<IValue> arguments) -> IValue {
    return stringIn(arguments[0]).empty() || areAll<isPrintable>(arguments).toBool();
  });

  addBuiltin(table, "str.ljust(str self, int width, str fill=\" \") -> str", justify<Side::Left>);
  addBuiltin(table, "str.rjust(str self, int width, str fill=\" \") -> str", justify<Side::Right>);
  addBuiltin(table, "str.center(str self, int width, str fill=\" \") -> str", justify<Side::Both>);
  addBuiltin(table, "str.zfill(str self, int width) -> str", zeroFill);
  addBuiltin(table, "str.expandtabs(str self, int tabsize=8) -> str", expandTabs);
}

}  // namespace boxcar::interp
