#include <boxcar/interpreter/cli/choices.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace boxcar::cli {

CLI::Validator oneOf(std::vector<std::string> choices) {
  const std::string description = fmt::format("{{{}}}", fmt::join(choices, ","));
  const auto fault = [choices = std::move(choices)](const std::string& text) {
    if (std::ranges::find(choices, text) != choices.end()) return std::string();
    const std::vector<std::string_view> names(choices.begin(), choices.end() - 1);
    return fmt::format("it must be {} or {}, not '{}'.{}", fmt::join(names, ", "), choices.back(), text,
                       didYouMean(text, std::vector<std::string_view>(choices.begin(), choices.end())));
  };
  return {fault, description};
}

}  // namespace boxcar::cli
