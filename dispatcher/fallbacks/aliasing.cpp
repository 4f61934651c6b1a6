#include <boxcar/dispatcher/fallbacks/aliasing.h>
#include <boxcar/dispatcher/fallbacks/value_copy.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace boxcar {
namespace {

// Deeper than that nothing is looked for.
constexpr int kMaxDepth = 64;

// Containers may hold themselves, or one another many times: each is looked at once for an argument and an alias.
using Seen = std::set<std::pair<const void*, const AliasInfo*>>;

AliasInfoPtr inside(AliasInfoPtr alias, size_t index) { return alias == nullptr ? nullptr : alias->containedAt(index); }

void collect(const IValue& value, std::string place, AliasInfoPtr alias, size_t index, int depth, Seen& seen,
             std::vector<PlacedTensor>& found) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) found.push_back({value.toTensor(), std::move(place), alias, index});
    return;
  }
  if (depth == 0) return;
  const void* const address = containerAddress(value);
  if (address != nullptr && !seen.emplace(address, alias).second) return;
  if (value.isTensorList() || value.isList() || value.isTuple()) {
    for (size_t i = 0; i < value.length(); ++i) {
      collect(value.elementAt(i), fmt::format("{}[{}]", place, i), inside(alias, value.isTuple() ? i : 0), index,
              depth - 1, seen, found);
    }
  } else if (value.isGenericDict()) {
    const GenericDict dict = value.toGenericDict();
    for (size_t i = 0; i < dict.size(); ++i) {
      const auto [key, element] = dict.entryAt(i);
      collect(element, fmt::format("{}[{}]", place, repr(key)), inside(alias, 1), index, depth - 1, seen, found);
    }
  }
}

std::vector<PlacedTensor> tensorsOf(const FunctionSchema& schema, const std::vector<Argument>& declared,
                                    std::span<const IValue> values,
                                    std::string (*placeOf)(const FunctionSchema&, size_t)) {
  std::vector<PlacedTensor> found;
  for (size_t i = 0; i < values.size(); ++i) {
    const AliasInfoPtr alias = i < declared.size() ? declared[i].alias_info() : nullptr;
    // Most values are numbers, whose places nobody needs.
    if (values[i].isTensor() || values[i].isAnyList() || values[i].isTuple() || values[i].isGenericDict()) {
      Seen seen;
      collect(values[i], placeOf(schema, i), alias, i, kMaxDepth, seen, found);
    }
  }
  return found;
}

bool isWildcard(AliasInfoPtr alias) noexcept { return alias->isWildcardBefore() || alias->isWildcardAfter(); }

bool intersect(const std::vector<std::string>& a, const std::vector<std::string>& b) noexcept {
  return std::ranges::any_of(a, [&](const std::string& set) { return std::ranges::find(b, set) != b.end(); });
}

}  // namespace

std::string argumentPlace(const FunctionSchema& schema, size_t index) {
  if (index >= schema.arguments().size()) return fmt::format("argument {}", index);
  return fmt::format("argument '{}'", schema.arguments()[index].name());
}

std::string resultPlace(const FunctionSchema& schema, size_t index) {
  const std::vector<Argument>& returns = schema.returns();
  const std::string name = index < returns.size() && !returns[index].name().empty()
                               ? fmt::format(" ('{}')", returns[index].name())
                               : std::string();
  if (returns.size() == 1) return "its result" + name;
  return fmt::format("its result {}{}", index, name);
}

std::vector<PlacedTensor> tensorsOfArguments(const FunctionSchema& schema, std::span<const IValue> values) {
  return tensorsOf(schema, schema.arguments(), values, &argumentPlace);
}

std::vector<PlacedTensor> tensorsOfResults(const FunctionSchema& schema, std::span<const IValue> values) {
  return tensorsOf(schema, schema.returns(), values, &resultPlace);
}

bool shareMemory(const Tensor& a, const Tensor& b) noexcept {
  if (!a.defined() || !b.defined()) return false;
  if (a.storage() == b.storage()) return true;
  if (a.device() != b.device() || a.storage()->data() == nullptr || b.storage()->data() == nullptr) return false;
  const auto* const first_a = static_cast<const char*>(a.storage()->data());
  const auto* const first_b = static_cast<const char*>(b.storage()->data());
  return std::less<>()(first_a, first_b + b.storage()->nbytes()) &&
         std::less<>()(first_b, first_a + a.storage()->nbytes());
}

bool mayAlias(AliasInfoPtr a, AliasInfoPtr b) noexcept {
  if (a == nullptr || b == nullptr) return false;
  return isWildcard(a) || isWildcard(b) || intersect(a->beforeSets(), b->beforeSets()) ||
         intersect(a->afterSets(), b->afterSets());
}

}  // namespace boxcar
