#include <boxcar/dispatcher/call/script_view.h>
#include <boxcar/dispatcher/handlers/trace/trace_keys.h>
#include <boxcar/dispatcher/handlers/trace/trace_text.h>
#include <boxcar/ivalue/dict.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/words.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

namespace boxcar::detail {
namespace {

constexpr int kMostNestedDicts = 8;
constexpr size_t kLongestKey = 200;
constexpr size_t kFindsBetweenSweeps = 64;

// Whether it is a name that the trace gives to tensors without a key: "t7". In a trace of a trace, such a tensor has no
// key either.
bool isNumbered(std::string_view text) noexcept {
  return text.size() > 1 && (text[0] == 't' || text[0] == 'l') &&
         std::ranges::all_of(text.substr(1), [](char c) { return isOfClass(c, kDigit); });
}

bool canName(const std::string& key) {
  if (key.empty() || key.size() > kLongestKey || isNumbered(key) || key == "__metadata__") return false;
  try {
    constantText(key);  // throws if scripts cannot write the text
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Keywords of the language, and names that the lines of a trace use.
constexpr auto kReserved = std::to_array<std::string_view>(
    {"and", "assert", "break",  "const",  "continue", "elif",    "else", "fallback",    "False", "fn",  "for",
     "if",  "impl",   "import", "in",     "inf",      "io",      "is",   "manual_seed", "mode",  "nan", "None",
     "not", "op",     "or",     "return", "tensor",   "tensors", "True", "use",         "while", "with"});

bool isReserved(const std::string& word) {
  if (std::ranges::find(kReserved, word) != kReserved.end()) return true;
  const auto isNamed = [&word](auto name) { return name == word; };
  for (int i = 0; i < static_cast<int>(ScalarType::NumOptions); ++i) {
    if (isNamed(dtypeName(static_cast<ScalarType>(i)))) return true;
  }
  return word == "strided" || word.ends_with("_format");
}

std::string variableOf(const std::string& key) {
  std::string word;
  for (const char c : key) word += isOfClass(c, kDigit) || std::isalpha(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (isOfClass(word[0], kDigit) || word[0] == '_') word.insert(0, "t_");
  if (isReserved(word)) word += '_';
  return word;
}

}  // namespace

void TraceKeys::add(const Tensor& tensor, const std::string& key) {
  if (!tensor.defined() || !canName(key)) return;
  tensors_.insert_or_assign(tensor.unsafeGetTensorImpl(), Held{tensor, key});
  on_storage_.try_emplace(tensor.storage().get(), tensor.unsafeGetTensorImpl());
}

void TraceKeys::noteDict(const IValue& value, const std::string& prefix, int depth) {
  const GenericDict dict = value.toGenericDict();
  for (size_t i = 0; i < dict.size(); ++i) {
    const auto [key, held] = dict.entryAt(i);
    const std::string name = prefix + (key.isString() ? key.toStringRef() : fmt::format("{}", key));
    if (held.isTensor()) add(held.toTensor(), name);
    if (held.isGenericDict() && depth < kMostNestedDicts) noteDict(held, name + ".", depth + 1);
  }
}

void TraceKeys::note(const IValue& read, std::string_view path) {
  sweep();
  if (read.isGenericDict()) noteDict(read, "", 0);
  if (read.isTensor()) add(read.toTensor(), std::filesystem::path(path).stem().string());
}

std::string TraceKeys::find(const Tensor& tensor) {
  if (++finds_ % kFindsBetweenSweeps == 0) sweep();
  auto found = tensors_.find(tensor.unsafeGetTensorImpl());
  if (found == tensors_.end()) {
    const auto first = on_storage_.find(tensor.storage().get());
    if (first != on_storage_.end()) found = tensors_.find(first->second);
  }
  if (found != tensors_.end()) return found->second.key;
  std::string key = keyInScript(tensor);
  return canName(key) ? key : std::string();
}

std::string TraceKeys::Words::take(const std::string& wanted) {
  std::string word = wanted;
  if (taken.contains(word)) {
    int& number = last_number.try_emplace(wanted, 1).first->second;
    do word = fmt::format("{}_{}", wanted, ++number);
    while (taken.contains(word));
  }
  taken.insert(word);
  return word;
}

TraceKeys::Name TraceKeys::take(const std::string& key) {
  Name name;
  name.key = keys_.take(key);
  name.variable = variables_.take(variableOf(name.key));
  return name;
}

std::string TraceKeys::derive(const std::string& variable, std::string_view op) {
  if (!variables_.taken.contains(variable) || derived_.contains(variable)) return {};
  op.remove_prefix(op.rfind(':') + 1);
  return *derived_.insert(variables_.take(fmt::format("{}_{}", variable, op))).first;
}

void TraceKeys::sweep() {
  std::erase_if(tensors_, [this](const auto& entry) {
    const Tensor& tensor = entry.second.tensor;
    if (tensor.unsafeGetTensorImpl()->useCount() > 1) return false;
    const auto first = on_storage_.find(tensor.storage().get());
    if (first != on_storage_.end() && first->second == entry.first) on_storage_.erase(first);
    return true;
  });
}

}  // namespace boxcar::detail
