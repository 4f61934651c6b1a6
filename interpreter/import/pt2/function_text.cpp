#include <boxcar/interpreter/import/pt2/body_text.h>
#include <boxcar/interpreter/import/pt2/function_text.h>
#include <boxcar/interpreter/import/pt2/list_inputs.h>
#include <boxcar/interpreter/import/pt2/word.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace boxcar::interp::pt2 {
namespace {

// Functions with more parameters for numbers are harder to read than several functions.
constexpr size_t kMostNumbers = 6;
// How often everything is written again before all numbers must be equal.
constexpr size_t kMostRounds = 8;

bool contains(const std::vector<std::string>& values, const std::string& value) {
  return std::ranges::find(values, value) != values.end();
}

}  // namespace

std::string_view typeText(TypePtr type) {
  if (type == Type::integer()) return "int";
  if (type == Type::floating()) return "float";
  return type == Type::boolean() ? "bool" : "Tensor";
}

std::vector<std::string> inputsOf(const ValueTable& values, size_t begin, size_t end) {
  std::vector<std::string> inputs;
  for (size_t i = begin; i < end; ++i) {
    if (!values.isNeeded(i)) continue;
    for (const std::string& value : values.uses(i)) {
      const std::optional<size_t> defined = values.definedBy(value);
      const bool is_inside = defined.has_value() && *defined >= begin;
      if (!is_inside && !contains(inputs, value)) inputs.push_back(value);
    }
  }
  return inputs;
}

std::vector<std::string> outputsOf(const ValueTable& values, size_t begin, size_t end) {
  std::vector<std::string> outputs;
  for (size_t i = begin; i < end; ++i) {
    if (!values.isNeeded(i)) continue;
    for (const std::string& value : values.definitions(i)) {
      const auto& users = values.users(value);
      if (!users.empty() && users.back() >= end && !contains(outputs, value)) outputs.push_back(value);
    }
  }
  return outputs;
}

const std::string* FunctionTexts::weightOf(const std::string& value) const {
  const auto found = weight_of_value_.find(value);
  return found != weight_of_value_.end() ? &found->second : nullptr;
}

std::string FunctionTexts::pathText(const std::string& path, std::string_view key, bool& uses_name) {
  const std::string_view own = withoutCallNumber(path);
  if (!own.empty() && key == own) {
    uses_name = true;
    return "name";
  }
  if (!own.empty() && key.starts_with(own) && key[own.size()] == '.') {
    uses_name = true;
    return fmt::format("name + \"{}\"", key.substr(own.size()));
  }
  return fmt::format("\"{}\"", key);
}

std::string FunctionTexts::uniqueName(std::string_view type) {
  const std::string base = functionName(type);
  std::string name = base;
  for (int number = 2; names_.contains(name); ++number) name = fmt::format("{}_{}", base, number);
  names_.insert(name);
  return name;
}

void FunctionTexts::takeList(const ModuleCall& call, FunctionUse& use) const {
  use.list = listInput(graph_, values_, call, [this](const std::string& value) { return weightOf(value) != nullptr; });
  const std::set<std::string> listed(use.list.begin(), use.list.end());
  const auto isListed = [&](const std::string& value) { return listed.contains(value); };
  use.list_position = static_cast<size_t>(std::ranges::find_if(use.inputs, isListed) - use.inputs.begin());
  std::erase_if(use.inputs, isListed);
}

FunctionUse FunctionTexts::use(const ModuleCall& call) {
  const auto known = uses_.find(&call);
  if (known != uses_.end()) return known->second;
  FunctionUse use;
  for (std::string& value : inputsOf(values_, call.begin, call.end)) {
    if (weightOf(value) == nullptr && !constants_.contains(value)) use.inputs.push_back(std::move(value));
  }
  use.outputs = outputsOf(values_, call.begin, call.end);
  if (list_types_.contains(call.type)) takeList(call, use);

  BodyText body(*this, call.path, use.outputs);
  std::vector<std::string> parameters;
  for (size_t i = 0; i <= use.inputs.size(); ++i) {
    if (!use.list.empty() && i == use.list_position) {
      parameters.push_back(fmt::format("Tensor[] {}", body.addListParameter(use.list)));
    }
    if (i == use.inputs.size()) break;
    const TypePtr type = values_.typeOf(use.inputs[i]);
    parameters.push_back(fmt::format("{} {}", typeText(type), body.addParameter(use.inputs[i], type)));
  }
  body.addItems(call);
  std::vector<std::string> results;
  std::vector<std::string_view> types;
  for (const std::string& value : use.outputs) {
    results.push_back(body.resultText(value));
    types.push_back(typeText(values_.typeOf(value)));
  }
  if (!results.empty()) body.addLine(fmt::format("return {}", fmt::join(results, ", ")));
  auto [lines, numbers] = body.takeLines();
  if (body.usesName()) parameters.emplace_back("str name");
  std::string result = types.size() == 1 ? std::string(types[0]) : fmt::format("({})", fmt::join(types, ", "));

  std::string key =
      fmt::format("{}\n({}) -> {}\n{}", call.type, fmt::join(parameters, ", "), result, fmt::join(lines, "\n"));
  for (const NumberSlot& slot : numbers) {
    const ParameterOfCall of = slot.parameter.value_or(ParameterOfCall{});
    key += fmt::format("\n{} {}{} {} {}", slot.type->text(), slot.prefix, slot.name, of.function, of.slot);
  }
  // Numbers are given by name, after another argument.
  const bool must_be_equal = parameters.empty() || apart_.contains(key) || rounds_ >= kMostRounds;
  std::string text = key;
  if (must_be_equal) {
    for (const NumberSlot& slot : numbers) text += "\n" + slot.text;
  }
  const auto [found, is_new] = by_text_.try_emplace(std::move(text), functions_.size());
  if (is_new) {
    functions_.push_back({.name = uniqueName(call.type),
                          .parameters = std::move(parameters),
                          .result = std::move(result),
                          .lines = std::move(lines),
                          .type = std::string(call.type.substr(call.type.rfind('.') + 1)),
                          .paths = {},
                          .takes_name = body.usesName(),
                          .key = std::move(key),
                          .numbers = {},
                          .number_parameters = {},
                          .is_given = {}});
  }
  use.function = found->second;
  functions_[use.function].paths.emplace_back(call.path);
  functions_[use.function].numbers.push_back(numbers);
  use.numbers = std::move(numbers);
  uses_.emplace(&call, use);
  return use;
}

// ---- Numbers ----

// Whether the slot is written at all: an argument is only if the function that is called has such a parameter.
bool FunctionTexts::takesPart(const NumberSlot& slot) const {
  return !slot.parameter.has_value() || functions_[slot.parameter->function].is_given[slot.parameter->slot];
}

// [parameter]: what stands in place of the number; empty if it is the number.
std::string FunctionTexts::slotText(const NumberSlot& slot, const std::string& parameter) const {
  if (!takesPart(slot)) return {};
  const std::string& value = parameter.empty() ? slot.text : parameter;
  if (slot.parameter.has_value()) {
    const FunctionText& called = functions_[slot.parameter->function];
    return fmt::format(", {}={}", called.number_parameters[slot.parameter->slot], value);
  }
  return value == slot.normal ? std::string() : slot.prefix + value;
}

bool FunctionTexts::finish(FunctionText& function) {
  if (function.numbers.empty()) return true;
  const std::vector<NumberSlot>& slots = function.numbers[0];
  function.number_parameters.assign(slots.size(), "");
  function.is_given.assign(slots.size(), false);
  std::set<std::string> taken;
  for (const std::string& parameter : function.parameters) addNames(parameter, taken);
  for (const std::string& line : function.lines) addNames(line, taken);
  const auto differ = [&](size_t slot) {
    return std::ranges::any_of(function.numbers,
                               [&](const auto& module) { return module[slot].text != slots[slot].text; });
  };
  // Small numbers are often equal by chance: a stride and a padding are not the same.
  const auto areTheSame = [&](size_t a, size_t b) {
    return slots[a].type == slots[b].type && std::ranges::all_of(function.numbers, [&](const auto& module) {
             return module[a].text == module[b].text && (slots[a].name == slots[b].name || module[a].text.size() > 1);
           });
  };
  std::vector<size_t> given;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!takesPart(slots[i]) || !differ(i)) continue;
    const auto same = std::ranges::find_if(given, [&](size_t before) { return areTheSame(before, i); });
    if (same != given.end()) {
      function.number_parameters[i] = function.number_parameters[*same];
      continue;
    }
    const std::string base = slots[i].name;
    std::string name = base;
    for (int number = 2; !taken.insert(name).second; ++number) name = fmt::format("{}_{}", base, number);
    function.parameters.push_back(fmt::format("{} {}", typeText(slots[i].type), name));
    function.number_parameters[i] = std::move(name);
    function.is_given[i] = true;
    given.push_back(i);
  }
  for (std::string& line : function.lines) {
    line = withoutMarks(line, [&](size_t slot) { return slotText(slots[slot], function.number_parameters[slot]); });
  }
  return given.size() <= kMostNumbers;
}

bool FunctionTexts::finish() {
  bool is_finished = true;
  // Functions stand after those that they call.
  for (FunctionText& function : functions_) {
    if (finish(function)) continue;
    apart_.insert(function.key);
    is_finished = false;
  }
  return is_finished;
}

void FunctionTexts::restart() {
  ++rounds_;
  functions_.clear();
  by_text_.clear();
  uses_.clear();
  names_.clear();
}

std::vector<std::string> FunctionTexts::finished(const std::vector<std::string>& lines,
                                                 const std::vector<NumberSlot>& numbers) const {
  std::vector<std::string> texts;
  for (const std::string& line : lines) {
    texts.push_back(withoutMarks(line, [&](size_t slot) { return slotText(numbers.at(slot), {}); }));
  }
  return texts;
}

}  // namespace boxcar::interp::pt2
