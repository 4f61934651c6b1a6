#include <boxcar/interpreter/cli/bench/chart.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace boxcar::cli {
namespace {

// In pixels.
constexpr int kRowHeight = 20;
constexpr int kBarHeight = 13;
constexpr int kTitleHeight = 34;
constexpr int kMargin = 16;
constexpr int kAxisHeight = 40;
constexpr int kBarsWidth = 460;
constexpr int kValueWidth = 120;
constexpr double kLetterWidth = 6.6;

std::string svgText(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      default: result += c;
    }
  }
  return result;
}

// The decades that the axis shows, as exponents of ten.
struct Axis {
  int first;
  int last;

  double place(double nanoseconds) const {
    const double exponent = std::log10(std::max(nanoseconds, std::pow(10.0, first)));
    return kBarsWidth * (exponent - first) / (last - first);
  }
};

Axis axisOf(const std::vector<BenchTable>& tables) {
  double least = 1;
  double most = 10;
  for (const BenchTable& table : tables) {
    for (const BenchRow& row : table.rows) {
      // Subtracting a loop's overhead may leave nothing.
      if (row.time.median > 0) least = std::min(least, row.time.median);
      most = std::max(most, row.time.third_quartile);
    }
  }
  return {static_cast<int>(std::floor(std::log10(least))), static_cast<int>(std::ceil(std::log10(most)))};
}

std::string labelOf(int exponent) {
  if (exponent >= 6) return fmt::format("{:g} ms", std::pow(10.0, exponent - 6));
  if (exponent >= 3) return fmt::format("{:g} µs", std::pow(10.0, exponent - 3));
  return fmt::format("{:g} ns", std::pow(10.0, exponent));
}

}  // namespace

std::string toSvg(const std::vector<BenchTable>& tables) {
  size_t letters = 0;
  int bottom = kMargin;
  for (const BenchTable& table : tables) {
    for (const BenchRow& row : table.rows) letters = std::max(letters, row.name.size());
    bottom += kTitleHeight + kRowHeight * static_cast<int>(table.rows.size());
  }
  const int left = kMargin + static_cast<int>(kLetterWidth * static_cast<double>(letters)) + 10;
  const int width = left + kBarsWidth + kValueWidth;
  const Axis axis = axisOf(tables);

  std::string svg;
  svg += fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      width, bottom + kAxisHeight + kMargin);
  for (int exponent = axis.first; exponent <= axis.last; ++exponent) {
    const double x = left + axis.place(std::pow(10.0, exponent));
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#d0d0d0\"/>\n"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\" fill=\"#404040\">{4}</text>\n",
        x, kMargin, bottom + 4, bottom + 19, labelOf(exponent));
  }
  svg += fmt::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#404040\">median time of a call, on a "
      "logarithmic axis; the line goes from the first to the third quartile</text>\n",
      width / 2, bottom + 38);
  int y = kMargin;
  for (const BenchTable& table : tables) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" font-weight=\"bold\" fill=\"black\">{}</text>\n", kMargin, y + 22,
                       svgText(table.title));
    y += kTitleHeight;
    for (const BenchRow& row : table.rows) {
      const bool is_reference = row.name == kTypedCall || row.name == kBoxedCall;
      const double middle = y + kRowHeight / 2.0;
      const double end = left + axis.place(row.time.median);
      const double third = left + axis.place(row.time.third_quartile);
      svg += fmt::format(
          "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\" fill=\"black\">{}</text>\n"
          "<rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n",
          left - 8, middle + 4, svgText(row.name), left, middle - kBarHeight / 2.0, end - left, kBarHeight,
          is_reference ? "#1f5fa8" : "#8fb8de");
      svg += fmt::format("<line x1=\"{1:.1f}\" y1=\"{0:.1f}\" x2=\"{2:.1f}\" y2=\"{0:.1f}\" stroke=\"black\"/>\n",
                         middle, left + axis.place(row.time.first_quartile), third);
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"black\">{} ns ({:.2f})</text>\n",
                         std::max(end, third) + 6, middle + 4, formatNanoseconds(row.time.median), row.time.ratio);
      y += kRowHeight;
    }
  }
  return svg + "</svg>\n";
}

}  // namespace boxcar::cli
