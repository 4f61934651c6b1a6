#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/import/pt2/word.h>
#include <boxcar/interpreter/import/script_words.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace boxcar::interp::pt2 {
namespace {

// Operators whose names say nothing of what they give.
constexpr std::string_view kSilent[] = {
    "add",       "addmm",       "alias",      "batch_norm", "bmm",         "bitwise_and", "bitwise_not", "cat",
    "clone",     "conv1d",      "contiguous", "copy",       "conv2d",      "div",         "dropout",     "eq",
    "expand",    "flatten",     "ge",         "gelu",       "gt",          "index",       "le",          "layer_norm",
    "linear",    "logical_and", "lt",         "matmul",     "mm",          "masked_fill", "mul",         "ne",
    "neg",       "permute",     "pow",        "relu",       "repeat",      "reshape",     "rsub",        "silu",
    "slice",     "squeeze",     "stack",      "sub",        "t",           "to",          "to_copy",     "transpose",
    "unsqueeze", "view",        "where",      "conv3d",     "convolution", "type_as"};

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool isLower(char c) { return c >= 'a' && c <= 'z'; }

// Names that the program, or nn.ops, which it imports, has already.
bool isFunctionThere(std::string_view name) {
  constexpr std::string_view kThere[] = {
      "forward",   "parameters",     "missing",       "shape_text",         "fan_in",
      "fan_out",   "uniform_within", "trunc_normal",  "xavier_uniform",     "xavier_normal",
      "accuracy",  "kaiming_normal", "cross_entropy", "mean_squared_error", "kaiming_uniform",
      "trainable", "move_weights",   "weight_count",  "is_statistic",       "binary_cross_entropy"};
  return std::ranges::find(kThere, name) != std::end(kThere) || name.ends_with("_layer") || name.starts_with("add_") ||
         name.starts_with("check_");
}

std::string asName(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (isLower(c) || isDigit(c) || c == '_') {
      name += c;
    } else if (isUpper(c)) {
      name += static_cast<char>(c + ('a' - 'A'));
    } else {
      name += '_';
    }
  }
  const size_t begin = name.find_first_not_of('_');
  name = begin == std::string::npos ? "" : name.substr(begin);
  return name.empty() || isDigit(name[0]) ? "x" + name : name;
}

}  // namespace

std::string functionName(std::string_view type) {
  const std::string_view last = type.substr(type.rfind('.') + 1);
  // Words of the class's name become words of the function's: "ViTMLP" gives "vi_tmlp".
  std::string words;
  for (size_t i = 0; i < last.size(); ++i) {
    const bool begins = i > 0 && isUpper(last[i]) &&
                        (isLower(last[i - 1]) || isDigit(last[i - 1]) || (i + 1 < last.size() && isLower(last[i + 1])));
    if (begins && words.back() != '_') words += '_';
    words += last[i];
  }
  std::string name = asName(words);
  const bool is_used = isReservedWord(name) || !Dispatcher::singleton().findOverloads("aten::" + name).empty() ||
                       findBuiltin(name).has_value() || isFunctionThere(name);
  if (is_used) name += "_module";
  return name;
}

std::string variableName(std::string_view value) {
  while (!value.empty() && isDigit(value.back())) value.remove_suffix(1);
  while (value.ends_with('_')) value.remove_suffix(1);
  if (value == "getitem" || value == "select" || value == "chunk" || value == "split") value = "part";
  if (value.starts_with("sym_size")) value = "size";
  std::string name = asName(value);
  if (isReservedWord(name)) name += "_";
  return name;
}

std::string resultName(std::string_view value) {
  std::string name = variableName(value);
  const std::string_view word = name.starts_with("x_") ? std::string_view(name).substr(2) : std::string_view(name);
  return std::ranges::find(kSilent, word) != std::end(kSilent) ? "y" : name;
}

}  // namespace boxcar::interp::pt2
