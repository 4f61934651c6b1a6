#include <boxcar/interpreter/wording.h>
#include <boxcar/ivalue/python_text.h>

#include <fmt/format.h>

namespace boxcar::interp {

std::string withSuggestion(std::string message, std::string_view name, std::span<const std::string_view> candidates) {
  const std::string suggestion = didYouMean(name, candidates);
  if (!suggestion.empty()) message += "." + suggestion;
  return message;
}

std::string withArticle(TypePtr type) {
  if (type->kind() == TypeKind::None) return "None";
  if (type->kind() == TypeKind::Capsule) return "an operator's value";
  const std::string_view name = type->text();
  const bool is_vowel = std::string_view("aeiouA").find(name.front()) != std::string_view::npos;
  return fmt::format("{} {}", is_vowel ? "an" : "a", name);
}

}  // namespace boxcar::interp
