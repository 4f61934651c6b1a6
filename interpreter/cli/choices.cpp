#include <boxcar/interpreter/cli/choices.h>
#include <boxcar/ivalue/alternatives.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::cli {

CLI::Validator oneOf(std::vector<std::string> choices) {
  const std::string description = fmt::format("{{{}}}", fmt::join(choices, ","));
  const auto fault = [choices = std::move(choices)](const std::string& text) {
    if (std::ranges::find(choices, text) != choices.end()) return std::string();
    const std::vector<std::string_view> names(choices.begin(), choices.end());
    return fmt::format("it must be {}, not '{}'.{}", alternatives(names), text, didYouMean(text, names));
  };
  return {fault, description};
}

}  // namespace boxcar::cli
