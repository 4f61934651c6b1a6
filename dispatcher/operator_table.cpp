#include <boxcar/dispatcher/operator_table.h>

#include <string_view>

namespace boxcar {

size_t OperatorTable::Hash::operator()(const OperatorName& name) const noexcept {
  const std::hash<std::string_view> hash;
  return hash(name.name) * 31 + hash(name.overload_name);
}

OperatorEntry* OperatorTable::findInSnapshot(const OperatorName& name) const noexcept {
  const Map* snapshot = snapshot_.load(std::memory_order_acquire);
  if (snapshot == nullptr) return nullptr;
  const auto found = snapshot->find(name);
  return found == snapshot->end() ? nullptr : found->second;
}

OperatorEntry* OperatorTable::find(const OperatorName& name) const noexcept {
  const auto found = map_.find(name);
  return found == map_.end() ? nullptr : found->second;
}

OperatorEntry& OperatorTable::findOrAdd(const OperatorName& name) {
  if (OperatorEntry* entry = find(name)) return *entry;
  OperatorEntry& entry = entries_.emplace_back(name);
  map_.emplace(name, &entry);
  return entry;
}

void OperatorTable::refreshSnapshot() {
  const Map* current = snapshot_.load(std::memory_order_relaxed);
  if (current != nullptr && map_.size() < 2 * current->size()) return;
  snapshots_.push_back(std::make_unique<const Map>(map_));
  snapshot_.store(snapshots_.back().get(), std::memory_order_release);
}

}  // namespace boxcar
