// str, ord, chr, f-strings; the methods of strings.

#include <boxcar/interpreter/runtime/builtin_table.h>
#include <boxcar/interpreter/runtime/container_operations.h>
#include <boxcar/interpreter/runtime/format_value.h>
#include <boxcar/interpreter/runtime/sequence_index.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <boxcar/ivalue/append_utf8.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/parse_schema.h>

#include <clocale>
#include <cwctype>
#include <string>
#include <string_view>
#include <utility>

namespace boxcar::interp {
namespace {

std::string_view textOf(const IValue& value) { return value.toStringView(); }

IValue ord(std::span<IValue> arguments) {
  const std::string_view text = textOf(arguments[0]);
  const utf8::CodePoint point = utf8::decode(text);
  BOXCAR_CHECK(point.length != 0 && point.length == text.size(), "ord() takes a single character, not {}",
               repr(arguments[0]));
  return static_cast<int64_t>(point.value);
}

IValue chr(std::span<IValue> arguments) {
  const int64_t number = arguments[0].toInt();
  BOXCAR_CHECK(number >= 0 && number <= 0x10FFFF && utf8::isScalarValue(static_cast<char32_t>(number)),
               "chr() takes the number of a character, not {}", number);
  std::string text;
  appendUtf8(text, static_cast<char32_t>(number));
  return text;
}

// The arguments are pairs of a value and its format.
IValue format(std::span<IValue> arguments) {
  std::string text;
  for (size_t i = 0; i + 1 < arguments.size(); i += 2) text += formatValue(arguments[i], textOf(arguments[i + 1]));
  return text;
}

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

IValue split(std::span<IValue> arguments) {
  std::string_view text = textOf(arguments[0]);
  int64_t most = arguments[2].toInt();
  const GenericList parts;
  if (arguments[1].isNone()) {
    splitAtSpaces(text, most, parts);
    return parts;
  }
  const std::string_view separator = textOf(arguments[1]);
  BOXCAR_CHECK(!separator.empty(), "the separator of split() must not be empty");
  for (size_t at = text.find(separator); at != std::string_view::npos && most-- != 0; at = text.find(separator)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(text);
  return parts;
}

IValue join(std::span<IValue> arguments) {
  std::string text;
  const std::vector<IValue> parts = elementsOf(arguments[1]);
  for (size_t i = 0; i < parts.size(); ++i) {
    BOXCAR_CHECK(parts[i].isString(), "join() takes strs, but element {} is {}", i, kindName(parts[i]));
    if (i != 0) text += textOf(arguments[0]);
    text += textOf(parts[i]);
  }
  return text;
}

bool isOneOf(std::string_view character, const Characters& set) {
  for (size_t i = 0; i < set.size(); ++i) {
    if (set[i] == character) return true;
  }
  return false;
}

IValue strip(std::span<IValue> arguments) {
  const std::string_view text = textOf(arguments[0]);
  if (arguments[1].isNone()) return utf8::withoutSpaces(text);
  const Characters characters(text);
  const Characters set(textOf(arguments[1]));
  size_t begin = 0;
  size_t end = characters.size();
  while (begin < end && isOneOf(characters[begin], set)) ++begin;
  while (begin < end && isOneOf(characters[end - 1], set)) --end;
  if (begin == end) return "";
  return std::string_view(characters[begin].data(), characters[end - 1].end());
}

IValue replace(std::span<IValue> arguments) {
  const std::string_view text = textOf(arguments[0]);
  const std::string_view old = textOf(arguments[1]);
  const std::string_view by = textOf(arguments[2]);
  std::string result;
  if (old.empty()) {
    const Characters characters(text);
    for (size_t i = 0; i < characters.size(); ++i) result.append(by).append(characters[i]);
    return result.append(by);
  }
  size_t done = 0;
  for (size_t at = text.find(old); at != std::string_view::npos; at = text.find(old, done)) {
    result.append(text.substr(done, at - done)).append(by);
    done = at + old.size();
  }
  return result.append(text.substr(done));
}

// Converts letters of all alphabets that the C library knows.
template <wint_t (*convert)(wint_t, locale_t)>
IValue convertCase(std::span<IValue> arguments) {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  std::string result;
  for (std::string_view text = textOf(arguments[0]); !text.empty();) {
    const utf8::CodePoint point = utf8::decode(text);
    if (point.length == 0) {
      result += text[0];
      text.remove_prefix(1);
      continue;
    }
    if (convert == towupper_l && point.value == U'\u00DF') {
      result += "SS";  // the one common letter that becomes two
    } else {
      appendUtf8(result, static_cast<char32_t>(convert(point.value, locale)));
    }
    text.remove_prefix(point.length);
  }
  return result;
}

// Counts in characters; -1 if it does not occur.
IValue find(std::span<IValue> arguments) {
  const std::string_view text = textOf(arguments[0]);
  const size_t at = text.find(textOf(arguments[1]));
  if (at == std::string_view::npos) return int64_t{-1};
  return static_cast<int64_t>(utf8::countCodePoints(text.substr(0, at)));
}

// Stands for a dtype or similar value where a container is shown.
class ShownName final : public CustomClassHolder {
 public:
  explicit ShownName(std::string name) : name_(std::move(name)) {}
  std::string className() const override { return "ShownName"; }
  std::string text() const override { return name_; }

 private:
  const std::string name_;
};

// Returns a value of type [type] in which names replace the ints of dtypes and similar types; only meant to be shown.
IValue withNames(IValue value, TypePtr type) {
  const auto named = [&value](std::string_view builtin) {
    std::string name = builtins()[*findBuiltin(builtin)].function({&value, 1}).toStringRef();
    return IValue(IntrusivePtr<CustomClassHolder>(makeIntrusive<ShownName>(std::move(name))));
  };
  if (value.isNone()) return value;
  switch (type->kind()) {
    case TypeKind::ScalarType: return named("dtype_name");
    case TypeKind::Layout: return named("layout_name");
    case TypeKind::MemoryFormat: return named("memory_format_name");
    case TypeKind::Optional: return withNames(std::move(value), type->element());
    case TypeKind::List:
    case TypeKind::Tuple: {
      std::vector<IValue> elements = elementsOf(value);
      const bool is_tuple = type->kind() == TypeKind::Tuple;
      for (size_t i = 0; i < elements.size(); ++i) {
        elements[i] = withNames(std::move(elements[i]), type->contained()[is_tuple ? i : 0]);
      }
      return is_tuple ? IValue(Tuple(std::move(elements))) : makeGenericList(std::move(elements));
    }
    case TypeKind::Dict: {
      const GenericDict dict = value.toGenericDict();
      const GenericDict shown;
      for (size_t i = 0; i < dict.size(); ++i) {
        shown.insert_or_assign(dict.object()->keyAt(i), withNames(dict.object()->valueAt(i), type->contained()[1]));
      }
      return shown;
    }
    default: return value;
  }
}

}  // namespace

void addTextBuiltins(BuiltinTable& table) {
  addBuiltin(table, "str(Any value) -> str",
             [](std::span<IValue> arguments) -> IValue { return toString(arguments[0]); });
  addBuiltin(table, "ord(str character) -> int", ord);
  addBuiltin(table, "chr(int number) -> str", chr);

  addVariadic(table, "format(Any[] values_and_specs) -> str", 0, UINT16_MAX, format);
  table.back().is_hidden = true;
  addBuiltin(table, "dtype_name(ScalarType dtype) -> str", [](std::span<IValue> arguments) -> IValue {
    return "torch." + std::string(dtypeName(arguments[0].toScalarType()));
  });
  table.back().is_hidden = true;
  addBuiltin(table, "layout_name(Layout layout) -> str", [](std::span<IValue> arguments) -> IValue {
    return "torch." + std::string(layoutName(static_cast<Layout>(arguments[0].toInt())));
  });
  table.back().is_hidden = true;
  addBuiltin(table, "memory_format_name(MemoryFormat format) -> str", [](std::span<IValue> arguments) -> IValue {
    return "torch." + std::string(memoryFormatName(static_cast<MemoryFormat>(arguments[0].toInt())));
  });
  table.back().is_hidden = true;

  addBuiltin(table, "named(Any value, str type) -> Any", [](std::span<IValue> arguments) -> IValue {
    return withNames(arguments[0], parseType(textOf(arguments[1])));
  });
  table.back().is_hidden = true;

  addBuiltin(table, "str.split(str self, str? sep=None, int maxsplit=-1) -> str[]", split);
  addBuiltin(table, "str.join(str self, Any parts) -> str", join);
  addBuiltin(table, "str.strip(str self, str? chars=None) -> str", strip);
  addBuiltin(table, "str.startswith(str self, str prefix) -> bool", [](std::span<IValue> arguments) -> IValue {
    return textOf(arguments[0]).starts_with(textOf(arguments[1]));
  });
  addBuiltin(table, "str.endswith(str self, str suffix) -> bool", [](std::span<IValue> arguments) -> IValue {
    return textOf(arguments[0]).ends_with(textOf(arguments[1]));
  });
  addBuiltin(table, "str.replace(str self, str old, str new) -> str", replace);
  addBuiltin(table, "str.lower(str self) -> str", convertCase<towlower_l>);
  addBuiltin(table, "str.upper(str self) -> str", convertCase<towupper_l>);
  addBuiltin(table, "str.find(str self, str part) -> int", find);
}

}  // namespace boxcar::interp
