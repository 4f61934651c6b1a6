#include <boxcar/interpreter/import/pt2/body_text.h>
#include <boxcar/interpreter/import/pt2/function_text.h>
#include <boxcar/interpreter/import/pt2/word.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace boxcar::interp::pt2 {
namespace {

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

FunctionUse FunctionTexts::use(const ModuleCall& call) {
  const auto known = uses_.find(&call);
  if (known != uses_.end()) return known->second;
  FunctionUse use;
  for (std::string& value : inputsOf(values_, call.begin, call.end)) {
    if (weightOf(value) == nullptr && !constants_.contains(value)) use.inputs.push_back(std::move(value));
  }
  use.outputs = outputsOf(values_, call.begin, call.end);

  BodyText body(*this, call.path, use.outputs);
  std::vector<std::string> parameters;
  for (const std::string& value : use.inputs) {
    const TypePtr type = values_.typeOf(value);
    parameters.push_back(fmt::format("{} {}", typeText(type), body.addParameter(value, type)));
  }
  body.addItems(call);
  std::vector<std::string> results;
  std::vector<std::string_view> types;
  for (const std::string& value : use.outputs) {
    results.push_back(body.resultText(value));
    types.push_back(typeText(values_.typeOf(value)));
  }
  std::vector<std::string> lines = body.takeLines();
  if (!results.empty()) lines.push_back(fmt::format("return {}", fmt::join(results, ", ")));
  if (body.usesName()) parameters.emplace_back("str name");
  const std::string result = types.size() == 1 ? std::string(types[0]) : fmt::format("({})", fmt::join(types, ", "));
  std::string signature = fmt::format("({}) -> {}", fmt::join(parameters, ", "), result);

  std::string key = fmt::format("{}\n{}\n{}", call.type, signature, fmt::join(lines, "\n"));
  const auto [found, is_new] = by_text_.try_emplace(std::move(key), functions_.size());
  if (is_new) {
    functions_.push_back({.name = uniqueName(call.type),
                          .signature = std::move(signature),
                          .lines = std::move(lines),
                          .type = std::string(call.type.substr(call.type.rfind('.') + 1)),
                          .paths = {},
                          .takes_name = body.usesName()});
  }
  use.function = found->second;
  functions_[use.function].paths.emplace_back(call.path);
  uses_.emplace(&call, use);
  return use;
}

}  // namespace boxcar::interp::pt2
