#include <boxcar/interpreter/environment.h>

#include <algorithm>

namespace boxcar::interp {

TypePtr joinTypes(TypePtr a, TypePtr b) {
  if (a == b) return a;
  if (a->kind() == TypeKind::None) return b->kind() == TypeKind::Any ? b : Type::optionalOf(b);
  if (b->kind() == TypeKind::None) return joinTypes(b, a);
  if (a->isOptional() || b->isOptional()) {
    const TypePtr inner = joinTypes(a->isOptional() ? a->element() : a, b->isOptional() ? b->element() : b);
    return inner->kind() == TypeKind::Any ? inner : Type::optionalOf(inner);
  }
  if (a->kind() == TypeKind::Tuple && b->kind() == TypeKind::Tuple && a->contained().size() == b->contained().size()) {
    std::vector<TypePtr> elements;
    for (size_t i = 0; i < a->contained().size(); ++i) {
      elements.push_back(joinTypes(a->contained()[i], b->contained()[i]));
    }
    return Type::tupleOf(elements);
  }
  if (isSubtypeOf(a, b)) return b;
  if (isSubtypeOf(b, a)) return a;
  return Type::any();
}

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

Binding& Environment::operator[](typed::VariableId variable) {
  const size_t index = variable / kBlockSize;
  if (index >= blocks_.size()) blocks_.resize(index + 1);
  std::shared_ptr<Block>& block = blocks_[index];
  if (block == nullptr) {
    block = std::make_shared<Block>();
  } else if (block.use_count() > 1) {
    block = std::make_shared<Block>(*block);
  }
  return (*block)[variable % kBlockSize];
}

const Binding& Environment::at(typed::VariableId variable) const noexcept {
  static const Binding unset;
  const size_t index = variable / kBlockSize;
  return index < blocks_.size() && blocks_[index] != nullptr ? (*blocks_[index])[variable % kBlockSize] : unset;
}

template <class Visit>
void Environment::eachApart(const Environment& other, Visit visit) const {
  const size_t count = std::max(blocks_.size(), other.blocks_.size());
  for (size_t block = 0; block < count; ++block) {
    const Block* ours = block < blocks_.size() ? blocks_[block].get() : nullptr;
    const Block* theirs = block < other.blocks_.size() ? other.blocks_[block].get() : nullptr;
    if (ours == theirs) continue;
    for (size_t i = 0; i < kBlockSize; ++i) visit(static_cast<typed::VariableId>(block * kBlockSize + i));
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
