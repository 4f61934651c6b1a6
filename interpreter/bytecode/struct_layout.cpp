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

// Writes what makes a draft different from others: itself and all structs that it leads to, which are numbered in the
// order in which they are met. A struct that has a layout already is written like a draft, so that it does not matter
// which structs are made together.
class DraftKey {
 public:
  // [by_type]: the drafts' indices by their placeholders.
  DraftKey(std::span<const StructDraft> drafts, const std::unordered_map<TypePtr, size_t>& by_type)
      : drafts_(drafts), by_type_(by_type) {}

  std::string of(TypePtr placeholder) {
    numberOf(placeholder);
    for (size_t i = 0; i < met_.size(); ++i) {
      const auto draft = by_type_.find(met_[i]);
      if (draft != by_type_.end()) {
        add(drafts_[draft->second]);
      } else {
        add(*layoutOf(met_[i]));
      }
    }
    return std::move(key_);
  }

 private:
  void add(const auto& structure) {
    key_ +=
        fmt::format("{}:{}{}:{}(", structure.source.size(), structure.source, structure.name.size(), structure.name);
    for (const StructField& field : structure.fields) {
      addType(field.type);
      key_ += fmt::format(" {},", field.name);
    }
    key_ += ')';
  }

  void addType(TypePtr type) {
    if (type->identity() != nullptr) {
      key_ += fmt::format("#{}", numberOf(type));
    } else if (type->contained().empty()) {
      key_ += type->text();
    } else {
      key_ += fmt::format("{}(", static_cast<int>(type->kind()));
      for (const TypePtr inside : type->contained()) {
        addType(inside);
        key_ += ',';
      }
      key_ += ')';
    }
  }

  size_t numberOf(TypePtr type) {
    const auto [found, is_new] = numbers_.emplace(type, met_.size());
    if (is_new) met_.push_back(type);
    return found->second;
  }

  std::span<const StructDraft> drafts_;
  const std::unordered_map<TypePtr, size_t>& by_type_;
  std::vector<TypePtr> met_;
  std::unordered_map<TypePtr, size_t> numbers_;
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
  std::unordered_map<TypePtr, size_t> by_type;
  for (size_t i = 0; i < drafts.size(); ++i) {
    placeholders.push_back(placeholderStruct(i, drafts[i].name));
    by_type.emplace(placeholders.back(), i);
  }
  LayoutTable& table = layoutTable();
  const std::lock_guard lock(table.mutex);
  std::vector<const StructLayout*> layouts;
  std::vector<StructLayout*> made(drafts.size(), nullptr);
  for (size_t i = 0; i < drafts.size(); ++i) {
    const StructLayout*& known = table.by_key[DraftKey(drafts, by_type).of(placeholders[i])];
    if (known == nullptr) {
      made[i] = new StructLayout{drafts[i].name, drafts[i].source, {}, nullptr};
      made[i]->type = Type::classOf(made[i]->name, made[i]);
      known = made[i];
    }
    layouts.push_back(known);
  }
  const auto final = [&](TypePtr type) {
    const auto found = by_type.find(type);
    return found == by_type.end() ? type : layouts[found->second]->type;
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

std::string namesakeNote(TypePtr wanted, TypePtr found) {
  if (wanted->isOptional() && !found->isOptional()) wanted = wanted->element();
  if (wanted == found || wanted->text() != found->text()) return {};
  std::vector<const StructLayout*> a;
  std::vector<const StructLayout*> b;
  eachStruct(wanted, [&a](TypePtr type) { a.push_back(layoutOf(type)); });
  eachStruct(found, [&b](TypePtr type) { b.push_back(layoutOf(type)); });
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] == b[i]) continue;
    if (a[i]->source == b[i]->source) return fmt::format("; {} was declared again with other fields", a[i]->name);
    return fmt::format("; one {} is of {}, the other of {}", a[i]->name, a[i]->source, b[i]->source);
  }
  return {};
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
