#include <boxcar/interpreter/syntax/wording.h>
#include <boxcar/ivalue/python_text.h>

#include <fmt/format.h>

#include <algorithm>

namespace boxcar::interp {
namespace {

// Other libraries' names for PyTorch's arguments; if a name has several meanings, the first one that the operator has.
struct ForeignName {
  std::string_view foreign;
  std::string_view name;
};
constexpr ForeignName kForeignNames[] = {
    {"a", "self"},
    {"a", "input"},
    {"a_max", "max"},
    {"a_min", "min"},
    {"axes", "dim"},
    {"axes", "dims"},
    {"axis", "dim"},
    {"axis", "dims"},
    {"axis1", "dim0"},
    {"axis1", "dim1"},
    {"axis2", "dim1"},
    {"axis2", "dim2"},
    {"bias_initializer", "bias"},
    {"ddof", "correction"},
    {"dilation_rate", "dilation"},
    {"epsilon", "eps"},
    {"input", "self"},
    {"inputs", "input"},
    {"inputs", "self"},
    {"k", "diagonal"},
    {"keepdims", "keepdim"},
    {"kernel", "weight"},
    {"kernel_shape", "kernel_size"},
    {"kernel_size", "weight"},
    {"loc", "mean"},
    {"newshape", "shape"},
    {"num", "steps"},
    {"ord", "p"},
    {"pads", "padding"},
    {"pool_size", "kernel_size"},
    {"rate", "p"},
    {"reps", "dims"},
    {"shape", "size"},
    {"shift", "shifts"},
    {"size", "shape"},
    {"tensor", "self"},
    {"train", "training"},
    {"training", "train"},
    {"use_bias", "bias"},
    {"x", "self"},
    {"x", "input"},
    {"x1", "self"},
    {"x2", "other"},
    {"y", "other"},
};

}  // namespace

std::string withSuggestion(std::string message, std::string_view name, std::span<const std::string_view> candidates) {
  const std::string suggestion = didYouMean(name, candidates);
  if (!suggestion.empty()) message += "." + suggestion;
  return message;
}

std::string didYouMeanArgument(std::string_view name, std::span<const std::string_view> parameters) {
  const auto mean = [](std::string_view parameter) { return fmt::format(" Did you mean '{}'?", parameter); };
  // `kernel` for `kernel_size`; a single letter begins too many words.
  for (const std::string_view parameter : parameters) {
    if (name.size() > 2 && parameter.starts_with(fmt::format("{}_", name))) return mean(parameter);
  }
  for (const ForeignName& each : kForeignNames) {
    if (each.foreign == name && std::ranges::find(parameters, each.name) != parameters.end()) return mean(each.name);
  }
  return didYouMean(name, parameters);
}

std::span<const std::string_view> dtypeNames() noexcept {
  static constexpr std::string_view names[] = {"bool",    "uint8",    "int8",    "int16",   "int32",     "int64",
                                               "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};
  return names;
}

std::string withArticle(TypePtr type) {
  if (type->kind() == TypeKind::None) return "None";
  const std::string_view name = type->text();
  const bool is_vowel = std::string_view("aeiouA").find(name.front()) != std::string_view::npos;
  return fmt::format("{} {}", is_vowel ? "an" : "a", name);
}

}  // namespace boxcar::interp
