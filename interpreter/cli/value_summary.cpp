#include <boxcar/interpreter/cli/value_summary.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <boxcar/ivalue/dict_object.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/ivalue/scalar_type.h>
#include <boxcar/ivalue/text.h>  // IWYU pragma: keep, for what formats a Device
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace boxcar::cli {
namespace {

constexpr int64_t kMostShown = 1000;  // as for a tensor's elements
constexpr size_t kFirst[] = {20, 6};  // elements of the outermost container, and of containers in it
constexpr size_t kTextShown = 60;
constexpr size_t kTextPerValue = 8;  // bytes of a str that count as one value

bool isContainer(const IValue& value) { return value.isList() || value.isTuple() || value.isGenericDict(); }

// Subtracts the number of values that [value] holds from [left]; returns whether [left] was enough.
bool fits(const IValue& value, int64_t& left) {
  if (value.isTensor()) {
    left -= value.toTensor().defined() ? std::min(value.toTensor().numel(), kMostShown + 1) : 1;
  } else if (value.isString()) {
    left -= static_cast<int64_t>(1 + value.toStringRef().size() / kTextPerValue);
  } else {
    --left;
  }
  if (left < 0 || !isContainer(value)) return left >= 0;
  if (value.isGenericDict()) {
    const auto dict = value.toGenericDict().object();
    for (size_t i = 0; i < dict->size(); ++i) {
      if (!fits(dict->keyAt(i), left) || !fits(dict->valueAt(i), left)) return false;
    }
    return true;
  }
  for (size_t i = 0; i < value.length(); ++i) {
    if (!fits(value.elementAt(i), left)) return false;
  }
  return true;
}

std::string shortText(const std::string& text) {
  const std::string_view shown = utf8::beginning(text, kTextShown);
  return pythonStringRepr(shown) + (shown.size() < text.size() ? "…" : "");
}

std::string summary(const IValue& value, size_t level);

std::string summaryOfContainer(const IValue& value, size_t level) {
  const bool is_dict = value.isGenericDict();
  const std::string_view kind = is_dict ? "dict" : value.isTuple() ? "tuple" : "list";
  const size_t count = is_dict ? value.toGenericDict().size() : value.length();
  if (level >= std::size(kFirst)) return fmt::format("{} of {}", kind, count);
  const size_t shown = std::min(count, kFirst[level]);
  std::vector<std::string> parts;
  // Numbers share a line; what has a name or elements of its own gets a line each.
  bool in_lines = is_dict;
  for (size_t i = 0; i < shown; ++i) {
    if (is_dict) {
      const auto dict = value.toGenericDict().object();
      parts.push_back(fmt::format("{}: {}", summary(dict->keyAt(i), level + 1), summary(dict->valueAt(i), level + 1)));
    } else {
      const IValue item = value.elementAt(i);
      in_lines = in_lines || item.isTensor() || isContainer(item);
      parts.push_back(summary(item, level + 1));
    }
  }
  if (shown < count) parts.push_back(fmt::format("…(+{} more)", count - shown));
  const std::string_view brackets = is_dict ? "{}" : value.isTuple() ? "()" : "[]";
  return fmt::format("{}{}{}{}", brackets[0], fmt::join(parts, in_lines && level == 0 ? ",\n " : ", "),
                     value.isTuple() && count == 1 ? "," : "", brackets[1]);
}

std::string summary(const IValue& value, size_t level) {
  if (value.isTensor() && value.toTensor().defined() && value.toTensor().numel() > 1)
    return "tensor of " + sizeAndDtype(value.toTensor());
  if (value.isString()) return shortText(value.toStringRef());
  return isContainer(value) ? summaryOfContainer(value, level) : repr(value);
}

}  // namespace

std::string sizeAndDtype(const Tensor& tensor) {
  std::string text = fmt::format("[{}] {}", fmt::join(tensor.sizes(), ", "), dtypeName(tensor.scalar_type()));
  if (!tensor.is_cpu()) text += fmt::format(" on {}", tensor.device());
  return text;
}

std::string summaryOf(const IValue& value) {
  int64_t left = kMostShown + 1;  // the container itself
  return isContainer(value) && !fits(value, left) ? summaryOfContainer(value, 0) : toString(value);
}

}  // namespace boxcar::cli
