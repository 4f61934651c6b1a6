#include <boxcar/ivalue/ivalue.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace boxcar {
namespace {

using Tag = IValue::Tag;

// What aliases share: a storage, or the object itself.
const Object* sharedBy(const IValue& value) noexcept {
  return value.isTensor() ? value.unsafeGet<Tag::Tensor>().storage().get() : value.object();
}

// Adds what [value] holds to [waiting].
void addElements(const IValue& value, std::vector<IValue>& waiting) {
  if (value.isTensorList() || value.isGenericList() || value.isTuple()) {
    for (size_t i = 0; i < value.length(); ++i) waiting.push_back(value.elementAt(i));
  } else if (value.isGenericDict()) {
    const DictObject& dict = *value.unsafeGet<Tag::GenericDict>();
    for (size_t i = 0; i < dict.size(); ++i) {
      waiting.push_back(dict.keyAt(i));
      waiting.push_back(dict.valueAt(i));
    }
  } else if (value.isObject()) {
    const std::vector<IValue>* const held = value.toObject()->heldValues();
    if (held != nullptr) waiting.insert(waiting.end(), held->begin(), held->end());
  } else if (value.isEnum()) {
    waiting.push_back(value.unsafeGet<Tag::Enum>()->value());
  }
}

bool isRecorded(const IValue& value) noexcept {
  return value.isPtrType() && !value.isString() && !value.isComplexDouble();
}

}  // namespace

size_t HashAliasedValue::operator()(const IValue& value) const noexcept {
  return std::hash<const void*>()(sharedBy(value));
}

bool AreAliases::operator()(const IValue& a, const IValue& b) const noexcept { return a.isAliasOf(b); }

bool IValue::isAliasOf(const IValue& other) const noexcept {
  return tag() == other.tag() && isPtrType() && sharedBy(*this) == sharedBy(other);
}

// Nesting has no limit, so pending values wait in this vector and not on the program's stack.
void IValue::getSubValues(AliasedValues& found) const {
  std::vector<IValue> waiting{*this};
  while (!waiting.empty()) {
    const IValue value = std::move(waiting.back());
    waiting.pop_back();
    if (!isRecorded(value)) continue;
    // Not inserted if a tensor on the same storage is already there, because it is an alias.
    if (found.insert(value).second) addElements(value, waiting);
  }
}

bool IValue::overlaps(const IValue& other) const {
  AliasedValues mine;
  AliasedValues theirs;
  getSubValues(mine);
  other.getSubValues(theirs);
  return std::any_of(theirs.begin(), theirs.end(), [&](const IValue& value) { return mine.contains(value); });
}

}  // namespace boxcar
