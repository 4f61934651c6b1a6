#include <boxcar/ivalue/alternatives.h>
#include <boxcar/ivalue/python_text.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace boxcar {

namespace {

// A float without the ".0" of whole numbers: fmt's shortest form switches to exponents where Python does.
std::string shortest(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

struct CodePoint {
  uint32_t value;
  size_t length;  // in bytes; 0 for a byte that is not UTF-8: the value is then that byte
};

CodePoint decodeUtf8(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                        : (lead & 0xf0) == 0xe0       ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  if (length == 0 || text.size() < length) return {lead, 0};
  uint32_t value = lead & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if ((byte & 0xc0) != 0x80) return {lead, 0};
    value = value << 6 | (byte & 0x3f);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  if (overlong || surrogate || value > 0x10ffff) return {lead, 0};
  return {value, length};
}

struct Range {
  uint32_t first, last;
};
// Control characters, separators other than the space, format characters and private use, without those of rare
// scripts.
constexpr Range kInvisible[] = {
    {0x00, 0x1f},     {0x7f, 0xa0},     {0xad, 0xad},     {0x600, 0x605},     {0x61c, 0x61c},      {0x1680, 0x1680},
    {0x180e, 0x180e}, {0x2000, 0x200f}, {0x2028, 0x202f}, {0x205f, 0x206f},   {0x3000, 0x3000},    {0xe000, 0xf8ff},
    {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe007f}, {0xf0000, 0x10ffff},
};

bool isInvisible(uint32_t code_point) {
  return std::any_of(std::begin(kInvisible), std::end(kInvisible),
                     [=](const Range& range) { return code_point >= range.first && code_point <= range.last; });
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Returns how many letters to insert, drop, replace or swap with the next to turn [a] into [b].
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + !same});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::string pythonFloat(double value) {
  std::string text = shortest(value);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string pythonComplex(std::complex<double> value) {
  std::string imaginary = shortest(value.imag()) + 'j';
  if (value.real() == 0 && !std::signbit(value.real())) return imaginary;
  return '(' + shortest(value.real()) + (imaginary[0] == '-' ? "" : "+") + imaginary + ')';
}

std::string pythonStringRepr(std::string_view text) {
  const bool contains_single = text.find('\'') != std::string_view::npos;
  const char quote = contains_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string result(1, quote);
  while (!text.empty()) {
    const auto [code_point, length] = decodeUtf8(text);
    const std::string_view bytes = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(bytes.size());
    if (bytes[0] == quote || bytes[0] == '\\') {
      result += '\\';
      result += bytes;
    } else if (bytes[0] == '\n') {
      result += "\\n";
    } else if (bytes[0] == '\r') {
      result += "\\r";
    } else if (bytes[0] == '\t') {
      result += "\\t";
    } else if (length != 0 && !isInvisible(code_point)) {
      result += bytes;
    } else if (code_point < 0x100) {
      result += fmt::format("\\x{:02x}", code_point);
    } else if (code_point < 0x10000) {
      result += fmt::format("\\u{:04x}", code_point);
    } else {
      result += fmt::format("\\U{:08x}", code_point);
    }
  }
  return result += quote;
}

std::vector<std::string_view> nearestNames(std::string_view name, std::span<const std::string_view> candidates,
                                           size_t limit) {
  struct Near {
    size_t distance;
    std::string_view name;
  };
  const size_t farthest = std::max<size_t>(1, name.size() / 3);
  std::vector<Near> near;
  for (const std::string_view candidate : candidates) {
    const size_t lengths_apart = std::max(name.size(), candidate.size()) - std::min(name.size(), candidate.size());
    if (lengths_apart > farthest) continue;
    const size_t distance = editDistance(name, candidate);
    if (distance <= farthest && distance < candidate.size()) near.push_back({distance, candidate});
  }
  std::stable_sort(near.begin(), near.end(), [](const Near& a, const Near& b) { return a.distance < b.distance; });
  std::vector<std::string_view> names;
  for (const Near& each : near) {
    // Leaves out names that are clearly worse than the best.
    if (names.size() == limit || each.distance > near.front().distance + 1) break;
    if (std::ranges::find(names, each.name) == names.end()) names.push_back(each.name);
  }
  return names;
}

std::string didYouMean(std::string_view name, std::span<const std::string_view> candidates) {
  const std::vector<std::string_view> names = nearestNames(name, candidates);
  if (names.empty()) return {};
  std::vector<std::string> quoted;
  for (const std::string_view each : names) quoted.push_back(pythonStringRepr(each));
  return fmt::format(" Did you mean {}?", alternatives(std::vector<std::string_view>(quoted.begin(), quoted.end())));
}

}  // namespace boxcar
