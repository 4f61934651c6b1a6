#include <boxcar/interpreter/compiler/environment.h>
#include <boxcar/interpreter/runtime/join_types.h>

#include <algorithm>

namespace boxcar::interp {

TypePtr scriptType(TypePtr type) {
  switch (type->kind()) {
    case TypeKind::SymInt: return Type::integer();
    case TypeKind::List: return Type::listOf(scriptType(type->element()));
    case TypeKind::Optional: return Type::optionalOf(scriptType(type->element()));
    case TypeKind::Dict: return Type::dictOf(scriptType(type->contained()[0]), scriptType(type->contained()[1]));
    case TypeKind::Tuple: {
      std::vector<TypePtr> elements;
      for (const TypePtr element : type->contained()) elements.push_back(scriptType(element));
      return Type::tupleOf(elements);
    }
    default: return type;
  }
}

namespace {

Binding joined(const Binding& a, const Binding& b) {
  if (a.type == nullptr || b.type == nullptr) {
    Binding one = a.type == nullptr ? b : a;
    one.maybe_unset = true;
    return one;
  }
  Binding result;
  result.type = joinTypes(a.type, b.type);
  if (a.fields == b.fields) result.fields = a.fields;
  const SlotKind natural = slotKindOf(result.type);
  result.kind = a.kind == b.kind && a.kind == SlotKind::Value ? SlotKind::Value : natural;
  result.maybe_unset = a.maybe_unset || b.maybe_unset;
  return result;
}

}  // namespace

namespace {

// For writing.
template <class T>
T& unshared(std::shared_ptr<T>& part) {
  if (part == nullptr) {
    part = std::make_shared<T>();
  } else if (part.use_count() > 1) {
    part = std::make_shared<T>(*part);
  }
  return *part;
}

}  // namespace

Binding& Environment::operator[](typed::VariableId variable) {
  const size_t block = variable / kBlockSize;
  const size_t group = block / kGroupSize;
  if (group >= groups_.size()) groups_.resize(group + 1);
  return unshared(unshared(groups_[group])[block % kGroupSize])[variable % kBlockSize];
}

const Binding& Environment::at(typed::VariableId variable) const noexcept {
  static const Binding unset;
  const size_t block = variable / kBlockSize;
  const size_t group = block / kGroupSize;
  if (group >= groups_.size() || groups_[group] == nullptr) return unset;
  const Block* const bindings = (*groups_[group])[block % kGroupSize].get();
  if (bindings == nullptr) return unset;
  return (*bindings)[variable % kBlockSize];
}

template <class Visit>
void Environment::eachApart(const Environment& other, Visit visit) const {
  static const Group nothing;
  const auto groupOf = [](const Environment& environment, size_t i) {
    const bool is_set = i < environment.groups_.size() && environment.groups_[i] != nullptr;
    return is_set ? environment.groups_[i].get() : &nothing;
  };
  const size_t count = std::max(groups_.size(), other.groups_.size());
  for (size_t i = 0; i < count; ++i) {
    const Group* const ours = groupOf(*this, i);
    const Group* const theirs = groupOf(other, i);
    if (ours == theirs) continue;
    for (size_t block = 0; block < kGroupSize; ++block) {
      if ((*ours)[block] == (*theirs)[block]) continue;
      const size_t first = (i * kGroupSize + block) * kBlockSize;
      for (size_t k = 0; k < kBlockSize; ++k) visit(static_cast<typed::VariableId>(first + k));
    }
  }
}

bool operator==(const Environment& a, const Environment& b) noexcept {
  bool is_equal = a.is_reachable_ == b.is_reachable_;
  a.eachApart(b, [&](typed::VariableId i) { is_equal = is_equal && a.at(i) == b.at(i); });
  return is_equal;
}

void Environment::join(const Environment& other) {
  if (!other.is_reachable_) return;
  if (!is_reachable_) {
    *this = other;
    return;
  }
  const Environment before = *this;
  before.eachApart(other, [&](typed::VariableId i) {
    const Binding& ours = before.at(i);
    const Binding& theirs = other.at(i);
    if (!(ours == theirs)) (*this)[i] = joined(ours, theirs);
  });
}

typed::Recasts Environment::recastsTo(const Environment& target) const {
  typed::Recasts recasts;
  if (!is_reachable_) return recasts;
  eachApart(target, [&](typed::VariableId i) {
    const Binding& here = at(i);
    const Binding& there = target.at(i);
    if (here.type != nullptr && there.type != nullptr && here.kind != there.kind) {
      recasts.push_back({i, here.kind, there.kind});
    }
  });
  return recasts;
}

}  // namespace boxcar::interp
