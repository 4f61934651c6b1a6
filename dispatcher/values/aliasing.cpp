#include <boxcar/dispatcher/registry/schema_info.h>
#include <boxcar/dispatcher/values/aliasing.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <ranges>
#include <set>
#include <utility>

namespace boxcar {
namespace {

AliasInfoPtr inside(AliasInfoPtr alias, size_t index) { return alias == nullptr ? nullptr : alias->containedAt(index); }

// The part of a place that a value adds to that of its container, which has the index [outer].
struct Step {
  std::string text;
  size_t outer;
};

std::string placeOf(const Step& last, const std::vector<Step>& containers) {
  std::vector<const Step*> path{&last};
  while (path.back()->outer < containers.size()) path.push_back(&containers[path.back()->outer]);
  std::string place;
  for (const Step* step : std::views::reverse(path)) place += step->text;
  return place;
}

void note(const Tensor& tensor, std::string place, AliasInfoPtr alias, size_t index, std::vector<PlacedTensor>& found) {
  if (tensor.defined()) found.push_back({tensor, std::move(place), alias, index});
}

// Collects the tensors in a container. Containers may contain themselves, or one another many times: each is visited
// once per alias. They may nest deeper than calls can.
void collect(const IValue& argument, std::string place, AliasInfoPtr argument_alias, size_t index,
             std::vector<PlacedTensor>& found) {
  struct Pending {
    IValue value;
    Step step;
    AliasInfoPtr alias;
  };
  constexpr size_t kNone = std::numeric_limits<size_t>::max();
  std::vector<Pending> pending;
  pending.push_back({argument, {std::move(place), kNone}, argument_alias});
  std::vector<Step> containers;
  std::set<std::pair<const void*, const AliasInfo*>> seen;
  while (!pending.empty()) {
    auto [value, step, alias] = std::move(pending.back());
    pending.pop_back();
    if (value.isTensor()) {
      note(value.toTensor(), placeOf(step, containers), alias, index, found);
      continue;
    }
    const void* const address = containerAddress(value);
    if (address == nullptr || !seen.emplace(address, alias).second) continue;
    const size_t outer = containers.size();
    containers.push_back(std::move(step));
    // Pushed in reverse, so that the first element is visited first.
    if (value.isGenericDict()) {
      const GenericDict dict = value.toGenericDict();
      for (size_t i = dict.size(); i-- > 0;) {
        const auto [key, element] = dict.entryAt(i);
        pending.push_back({element, {fmt::format("[{}]", repr(key)), outer}, inside(alias, 1)});
      }
    } else {
      for (size_t i = value.length(); i-- > 0;) {
        pending.push_back(
            {value.elementAt(i), {fmt::format("[{}]", i), outer}, inside(alias, value.isTuple() ? i : 0)});
      }
    }
  }
}

std::vector<PlacedTensor> tensorsOf(const FunctionSchema& schema, const std::vector<Argument>& declared,
                                    std::span<const IValue> values,
                                    std::string (*placeOf)(const FunctionSchema&, size_t)) {
  std::vector<PlacedTensor> found;
  for (size_t i = 0; i < values.size(); ++i) {
    const AliasInfoPtr alias = i < declared.size() ? declared[i].alias_info() : nullptr;
    // Most values are tensors, for which handlers of every call need no container walk, or numbers, whose places nobody
    // needs.
    if (values[i].isTensor()) {
      note(values[i].toTensor(), placeOf(schema, i), alias, i, found);
    } else if (values[i].isList() || values[i].isTuple() || values[i].isGenericDict()) {
      collect(values[i], placeOf(schema, i), alias, i, found);
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
  std::vector<PlacedTensor> found = tensorsOf(schema, schema.arguments(), values, &argumentPlace);
  for (const size_t written : undeclaredWrites(schema, values)) {
    for (PlacedTensor& placed : found) placed.is_written_undeclared |= placed.index == written;
  }
  return found;
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
