#include <boxcar/ivalue/error.h>
#include <boxcar/schema/alias_info.h>
#include <boxcar/schema/words.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

namespace boxcar {

// The owner of all annotations; looks them up by everything that they consist of.
class AliasTable {
 public:
  struct Parts {
    std::vector<std::string> before;
    std::vector<std::string> after;
    bool is_write;
    std::vector<AliasInfoPtr> contained;
  };

  static AliasInfoPtr intern(Parts parts) {
    static AliasTable* const table = new AliasTable;  // outlives every static object that holds an annotation
    for (const auto& sets : {parts.before, parts.after}) {
      for (const std::string& set : sets) {
        BOXCAR_CHECK(set == "*" || detail::isName(set), "'{}' cannot name an alias set: use a word or '*'", set);
      }
    }
    if (parts.before.empty() || parts.after == parts.before) parts.after.clear();
    if (std::ranges::all_of(parts.contained, [](AliasInfoPtr alias) { return alias == nullptr; })) {
      parts.contained.clear();
    }
    if (parts.before.empty() && !parts.is_write && parts.contained.empty()) return nullptr;

    const std::lock_guard lock(table->mutex_);
    AliasInfoPtr& kept = table->infos_[std::tuple(parts.before, parts.after, parts.is_write, parts.contained)];
    if (kept != nullptr) return kept;

    auto* const info = new AliasInfo;
    info->text_ = textOf(parts);
    info->before_ = std::move(parts.before);
    info->after_ = std::move(parts.after);
    info->contained_ = std::move(parts.contained);
    info->is_write_ = parts.is_write;
    info->contains_write_ =
        std::ranges::any_of(info->contained_, [](AliasInfoPtr alias) { return alias != nullptr && alias->isWrite(); });
    return kept = info;
  }

 private:
  static std::string textOf(const Parts& parts) {
    if (parts.before.empty()) return parts.is_write ? "!" : "";
    std::string text = "(" + joined(parts.before);
    if (parts.is_write) text += '!';
    if (!parts.after.empty()) text += " -> " + joined(parts.after);
    return text += ')';
  }
  static std::string joined(const std::vector<std::string>& sets) {
    std::string text = sets.front();
    for (std::size_t i = 1; i < sets.size(); ++i) text += '|' + sets[i];
    return text;
  }

  std::mutex mutex_;
  std::map<std::tuple<std::vector<std::string>, std::vector<std::string>, bool, std::vector<AliasInfoPtr>>,
           AliasInfoPtr>
      infos_;
};

AliasInfoPtr AliasInfo::of(std::span<const std::string_view> before, bool is_write,
                           std::span<const std::string_view> after, std::span<const AliasInfoPtr> contained) {
  return AliasTable::intern({.before = {before.begin(), before.end()},
                             .after = {after.begin(), after.end()},
                             .is_write = is_write,
                             .contained = {contained.begin(), contained.end()}});
}

AliasInfoPtr AliasInfo::ofLetter(char set, bool is_write) {
  static constinit std::atomic<AliasInfoPtr> infos[26][2];
  std::atomic<AliasInfoPtr>& slot = infos[set - 'a'][is_write];
  AliasInfoPtr info = slot.load(std::memory_order_acquire);
  if (info == nullptr) {
    const std::string_view sets[] = {{&set, 1}};
    info = of(sets, is_write);
    slot.store(info, std::memory_order_release);
  }
  return info;
}

AliasInfoPtr AliasInfo::holding(std::span<const AliasInfoPtr> contained) { return of({}, false, {}, contained); }

AliasInfoPtr AliasInfo::withContained(std::span<const AliasInfoPtr> contained) const {
  return AliasTable::intern(
      {.before = before_, .after = after_, .is_write = is_write_, .contained = {contained.begin(), contained.end()}});
}

AliasInfoPtr AliasInfo::inList() const {
  AliasInfoPtr list = in_list_.load(std::memory_order_acquire);
  if (list == nullptr) {
    const AliasInfoPtr contained[] = {this};
    list = holding(contained);
    in_list_.store(list, std::memory_order_release);
  }
  return list;
}

bool AliasInfo::isWildcardBefore() const noexcept { return std::ranges::count(beforeSets(), "*") != 0; }
bool AliasInfo::isWildcardAfter() const noexcept { return std::ranges::count(afterSets(), "*") != 0; }

namespace {

void append(std::string& text, TypePtr type, AliasInfoPtr alias) {
  if (alias == nullptr) {
    text += type->text();
    return;
  }
  switch (type->kind()) {
    case TypeKind::Optional:  // the annotation comes before the question mark
      append(text, type->element(), alias);
      text += '?';
      return;
    case TypeKind::List:
      append(text, type->element(), alias->containedAt(0));
      text += "[]";
      break;
    default: {
      const std::span<const TypePtr> contained = type->contained();
      text += type->text().substr(0, contained.empty() ? std::string_view::npos : type->text().find('('));
      for (std::size_t i = 0; i < contained.size(); ++i) {
        text += i == 0 ? "(" : ", ";
        append(text, contained[i], alias->containedAt(i));
      }
      if (!contained.empty()) text += ')';
    }
  }
  text += alias->text();
}

}  // namespace

std::string toString(TypePtr type, AliasInfoPtr alias) {
  std::string text;
  append(text, type, alias);
  return text;
}

}  // namespace boxcar
