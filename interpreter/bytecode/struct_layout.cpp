#include <boxcar/interpreter/bytecode/struct_layout.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>

namespace boxcar::interp {
namespace {

// All layouts; they outlive every value.
struct LayoutTable {
  std::mutex mutex;
  std::unordered_map<std::string, const StructLayout*> by_key;
  std::deque<StructLayout> placeholders;
};

LayoutTable& layoutTable() {
  static LayoutTable* const table = new LayoutTable;
  return *table;
}

// Writes what makes a draft different from others: itself and all drafts that it leads to, which are numbered in the
// order in which they are met. Structs that have a layout already are known by its address.
class DraftKey {
 public:
  DraftKey(std::span<const StructDraft> drafts, std::span<const TypePtr> placeholders)
      : drafts_(drafts), placeholders_(placeholders) {}

  std::string of(size_t draft) {
    met_.push_back(draft);
    for (size_t i = 0; i < met_.size(); ++i) add(drafts_[met_[i]]);
    return std::move(key_);
  }

 private:
  void add(const StructDraft& draft) {
    key_ += fmt::format("{}:{}{}:{}(", draft.source.size(), draft.source, draft.name.size(), draft.name);
    for (const StructField& field : draft.fields) {
      add(field.type);
      key_ += fmt::format(" {},", field.name);
    }
    key_ += ')';
  }

  void add(TypePtr type) {
    if (type->identity() != nullptr) {
      const auto found = std::ranges::find(placeholders_, type);
      if (found == placeholders_.end()) {
        key_ += fmt::format("&{}", type->identity());
      } else {
        key_ += fmt::format("#{}", numberOf(static_cast<size_t>(found - placeholders_.begin())));
      }
    } else if (type->contained().empty()) {
      key_ += type->text();
    } else {
      key_ += fmt::format("{}(", static_cast<int>(type->kind()));
      for (const TypePtr inside : type->contained()) {
        add(inside);
        key_ += ',';
      }
      key_ += ')';
    }
  }

  size_t numberOf(size_t draft) {
    const auto found = std::ranges::find(met_, draft);
    const auto number = static_cast<size_t>(found - met_.begin());
    if (found == met_.end()) met_.push_back(draft);
    return number;
  }

  std::span<const StructDraft> drafts_;
  std::span<const TypePtr> placeholders_;
  std::vector<size_t> met_;
  std::string key_;
};

}  // namespace

std::optional<uint16_t> StructLayout::indexOf(std::string_view field) const noexcept {
  const auto found = std::ranges::find(fields, field, &StructField::name);
  if (found == fields.end()) return std::nullopt;
  return static_cast<uint16_t>(found - fields.begin());
}

TypePtr placeholderStruct(size_t index, std::string_view name) {
  LayoutTable& table = layoutTable();
  const std::lock_guard lock(table.mutex);
  while (table.placeholders.size() <= index) table.placeholders.emplace_back();
  return Type::classOf(name, &table.placeholders[index]);
}

std::vector<const StructLayout*> makeStructs(std::span<const StructDraft> drafts) {
  std::vector<TypePtr> placeholders;
  for (size_t i = 0; i < drafts.size(); ++i) placeholders.push_back(placeholderStruct(i, drafts[i].name));
  LayoutTable& table = layoutTable();
  const std::lock_guard lock(table.mutex);
  std::vector<const StructLayout*> layouts;
  std::vector<StructLayout*> made(drafts.size(), nullptr);
  for (size_t i = 0; i < drafts.size(); ++i) {
    const StructLayout*& known = table.by_key[DraftKey(drafts, placeholders).of(i)];
    if (known == nullptr) {
      made[i] = new StructLayout{drafts[i].name, drafts[i].source, {}, nullptr};
      made[i]->type = Type::classOf(made[i]->name, made[i]);
      known = made[i];
    }
    layouts.push_back(known);
  }
  const auto final = [&](TypePtr type) {
    const auto found = std::ranges::find(placeholders, type);
    return found == placeholders.end() ? type : layouts[static_cast<size_t>(found - placeholders.begin())]->type;
  };
  for (size_t i = 0; i < drafts.size(); ++i) {
    if (made[i] == nullptr) continue;
    for (const StructField& field : drafts[i].fields) {
      made[i]->fields.push_back({field.name, replaceStructs(field.type, final)});
    }
  }
  return layouts;
}

const StructLayout* layoutOf(TypePtr type) noexcept { return static_cast<const StructLayout*>(type->identity()); }

void eachStruct(TypePtr type, const std::function<void(TypePtr)>& visit) {
  if (type->identity() != nullptr) visit(type);
  for (const TypePtr inside : type->contained()) eachStruct(inside, visit);
}

TypePtr replaceStructs(TypePtr type, const std::function<TypePtr(TypePtr)>& replace) {
  if (type->identity() != nullptr) return replace(type);
  if (type->contained().empty()) return type;
  std::vector<TypePtr> inside;
  for (const TypePtr each : type->contained()) inside.push_back(replaceStructs(each, replace));
  if (std::ranges::equal(inside, type->contained())) return type;
  switch (type->kind()) {
    case TypeKind::List: return Type::listOf(inside[0]);
    case TypeKind::Optional: return Type::optionalOf(inside[0]);
    case TypeKind::Dict: return Type::dictOf(inside[0], inside[1]);
    case TypeKind::Future: return Type::futureOf(inside[0]);
    case TypeKind::Await: return Type::awaitOf(inside[0]);
    case TypeKind::RRef: return Type::rrefOf(inside[0]);
    case TypeKind::Union: return Type::unionOf(inside);
    default: return Type::tupleOf(inside);
  }
}

}  // namespace boxcar::interp
