#include <boxcar/dispatcher/handlers/report_table.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace boxcar {

namespace {

// Returns how many terminal columns a text takes: its number of characters, if none of them is wide.
size_t widthOf(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string reportTable(const std::vector<std::vector<std::string>>& rows, std::string_view sides) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], widthOf(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - widthOf(row[i]), ' ');
      if (i != 0) line += "  ";
      line += sides[std::min(i, sides.size() - 1)] == '<' ? row[i] + padding : padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string bytesText(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  constexpr std::array<std::string_view, 4> kUnits = {"KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  double value = static_cast<double>(bytes) / 1024;
  // A value that would be shown as 1024.0 moves to the next unit.
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string plural(uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string countText(double count) {
  if (count < 1000) return fmt::format("{:.{}f}", count, count == std::floor(count) ? 0 : 1);
  constexpr std::array<std::string_view, 4> kUnits = {"k", "M", "G", "T"};
  size_t unit = 0;
  double value = count / 1000;
  for (; value >= 999.995 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.2f} {}", value, kUnits[unit]);
}

}  // namespace boxcar
