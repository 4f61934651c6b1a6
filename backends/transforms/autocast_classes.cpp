#include <boxcar/backends/transforms/autocast_classes.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>

namespace boxcar::detail {
extern const std::string_view kAutocastClasses;  // the text of the file
}

namespace boxcar::autocast {
namespace {

constexpr std::string_view kPolicyNames[] = {
    "lower_precision_fp", "fp32", "fp32_set_opt_dtype", "fp32_append_dtype", "promote", "banned", "whole"};

CastPolicy policyOf(std::string_view name, uint32_t line) {
  const auto* const found = std::ranges::find(kPolicyNames, name);
  BOXCAR_CHECK(found != std::end(kPolicyNames), "{}:{}: there is no class '{}'", kClassesFile, line, name);
  return static_cast<CastPolicy>(found - std::begin(kPolicyNames));
}

// Takes the next word off [text]; empty at its end.
std::string_view nextWord(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

OperatorClass parseClassLine(std::string_view text, uint32_t line) {
  OperatorClass parsed{nextWord(text), {}, line};
  while (true) {
    const std::string_view word = nextWord(text);
    if (word.empty()) return parsed;
    const size_t equals = std::min(word.find('='), word.size());
    const std::string_view device = word.substr(0, equals);
    BOXCAR_CHECK(device == "cpu" || device == "cuda", "{}:{}: there is no autocast for '{}'", kClassesFile, line,
                 device);
    parsed.policies[device == "cpu" ? 0 : 1] = policyOf(word.substr(std::min(equals + 1, word.size())), line);
  }
}

std::vector<OperatorClass> parseClasses() {
  std::vector<OperatorClass> classes;
  std::string_view rest = boxcar::detail::kAutocastClasses;
  for (uint32_t line = 1; !rest.empty(); ++line) {
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    if (!text.empty() && text.front() != '#') classes.push_back(parseClassLine(text, line));
  }
  return classes;
}

}  // namespace

std::string_view toString(CastPolicy policy) noexcept { return kPolicyNames[static_cast<size_t>(policy)]; }

const std::vector<OperatorClass>& operatorClasses() {
  static const auto& classes = *new std::vector(parseClasses());
  return classes;
}

const OperatorClass* findOperatorClass(std::string_view op) {
  const std::vector<OperatorClass>& classes = operatorClasses();
  const auto found = std::ranges::find(classes, op, &OperatorClass::op);
  return found == classes.end() ? nullptr : &*found;
}

}  // namespace boxcar::autocast
