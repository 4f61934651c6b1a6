// str, ord, chr, hex, oct, bin, f-strings.

#include <boxcar/interpreter/runtime/builtin_table.h>
#include <boxcar/interpreter/runtime/container_operations.h>
#include <boxcar/interpreter/runtime/format_value.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <boxcar/ivalue/append_utf8.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/parse_schema.h>

#include <algorithm>
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

// Returns the digits of a number after their prefix, as hex() does.
std::string digitsOf(int64_t number, uint64_t base, std::string_view prefix) {
  uint64_t rest = number < 0 ? -static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  std::string digits;
  do {
    digits += "0123456789abcdef"[rest % base];
    rest /= base;
  } while (rest != 0);
  digits.append(prefix.rbegin(), prefix.rend());
  if (number < 0) digits += '-';
  std::ranges::reverse(digits);
  return digits;
}

// The arguments are pairs of a value and its format.
IValue format(std::span<IValue> arguments) {
  std::string text;
  for (size_t i = 0; i + 1 < arguments.size(); i += 2) text += formatValue(arguments[i], textOf(arguments[i + 1]));
  return text;
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
  addBuiltin(table, "hex(int number) -> str",
             [](std::span<IValue> arguments) -> IValue { return digitsOf(arguments[0].toInt(), 16, "0x"); });
  addBuiltin(table, "oct(int number) -> str",
             [](std::span<IValue> arguments) -> IValue { return digitsOf(arguments[0].toInt(), 8, "0o"); });
  addBuiltin(table, "bin(int number) -> str",
             [](std::span<IValue> arguments) -> IValue { return digitsOf(arguments[0].toInt(), 2, "0b"); });

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
}

}  // namespace boxcar::interp
