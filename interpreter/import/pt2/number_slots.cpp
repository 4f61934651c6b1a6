#include <boxcar/interpreter/import/pt2/number_slots.h>
#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <map>
#include <utility>

namespace boxcar::interp::pt2 {
namespace {

// Marks are "\x01number\x02": no text of a script has these bytes.
constexpr char kMarkBegin = '\x01';
constexpr char kMarkEnd = '\x02';

std::string mark(size_t slot) { return fmt::format("{}{}{}", kMarkBegin, slot, kMarkEnd); }

bool isPartOfName(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::string NumberSlots::add(NumberSlot slot) {
  slots_.push_back(std::move(slot));
  return mark(slots_.size() - 1);
}

std::vector<NumberSlot> NumberSlots::take(std::vector<std::string>& lines) {
  std::vector<NumberSlot> used;
  std::map<size_t, size_t> numbers;
  for (std::string& line : lines) {
    line = withoutMarks(line, [&](size_t slot) {
      const auto [found, is_new] = numbers.emplace(slot, used.size());
      if (is_new) used.push_back(slots_.at(slot));
      return mark(found->second);
    });
  }
  return used;
}

std::string withoutMarks(std::string_view line, const std::function<std::string(size_t slot)>& text_of) {
  std::string text;
  size_t begin = 0;
  for (size_t at = line.find(kMarkBegin); at != std::string_view::npos; at = line.find(kMarkBegin, begin)) {
    text += line.substr(begin, at - begin);
    size_t slot = 0;
    const auto [end, error] = std::from_chars(line.data() + at + 1, line.data() + line.size(), slot);
    text += text_of(slot);
    begin = static_cast<size_t>(end - line.data()) + 1;
  }
  text += line.substr(begin);
  return text;
}

void addNames(std::string_view line, std::set<std::string>& names) {
  for (size_t begin = 0; begin < line.size();) {
    if (!isPartOfName(line[begin])) {
      ++begin;
      continue;
    }
    size_t end = begin;
    while (end < line.size() && isPartOfName(line[end])) ++end;
    const bool is_method = begin > 0 && line[begin - 1] == '.';
    const bool is_argument = line.substr(end).starts_with('=') && !line.substr(end).starts_with("==");
    if (!is_method && !is_argument) names.emplace(line.substr(begin, end - begin));
    begin = end;
  }
}

}  // namespace boxcar::interp::pt2
