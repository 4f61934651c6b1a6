#include <boxcar/dispatcher/registry/operator_table.h>
#include <sys/mman.h>

#include <new>
#include <string_view>
#include <utility>

namespace boxcar {
namespace {

constexpr size_t kEntryBytes = (sizeof(OperatorEntry) + 63) / 64 * 64;

}  // namespace

size_t OperatorTable::Hash::operator()(const OperatorName& name) const noexcept {
  const std::hash<std::string_view> hash;
  return hash(name.name) * 31 + (name.overload_name.empty() ? 0 : hash(name.overload_name));
}

OperatorEntry* OperatorTable::findInSnapshot(const OperatorName& name) const noexcept {
  const Set* snapshot = snapshot_.load(std::memory_order_acquire);
  if (snapshot == nullptr) return nullptr;
  const auto found = snapshot->find(name);
  return found == snapshot->end() ? nullptr : found->entry;
}

OperatorEntry* OperatorTable::find(const OperatorName& name) const noexcept {
  const auto found = set_.find(name);
  return found == set_.end() ? nullptr : found->entry;
}

OperatorEntry& OperatorTable::findOrAdd(OperatorName&& name) {
  const size_t hash = Hash()(name);
  if (const auto found = set_.find(HashedName{name, hash}); found != set_.end()) return *found->entry;
  // Steps that can run out of memory come before steps that cannot fail, or are undone.
  if (entries_.size() == entries_.capacity()) entries_.reserve(2 * entries_.size() + 64);
  auto* entry = new (allocateEntry()) OperatorEntry(std::move(name));
  try {
    set_.insert({hash, entry});
  } catch (...) {
    entry->~OperatorEntry();
    free_memory_ -= kEntryBytes;
    free_bytes_ += kEntryBytes;
    throw;
  }
  entries_.push_back(entry);
  return *entry;
}

// Entries are never freed, so they come from blocks whose pages are requested from the system at once: page faults on
// first writes would cost as much as the rest of a definition. Systems without MADV_POPULATE_WRITE ignore the request.
void* OperatorTable::allocateEntry() {
  constexpr size_t kPage = 4096;
  constexpr size_t kBlockBytes = (64 * kEntryBytes + kPage - 1) / kPage * kPage;
  if (free_bytes_ < kEntryBytes) {
    free_memory_ = static_cast<char*>(::operator new(kBlockBytes, std::align_val_t(kPage)));
    free_bytes_ = kBlockBytes;
    madvise(free_memory_, kBlockBytes, MADV_POPULATE_WRITE);
  }
  free_bytes_ -= kEntryBytes;
  return std::exchange(free_memory_, free_memory_ + kEntryBytes);
}

void OperatorTable::refreshSnapshot() {
  const Set* current = snapshot_.load(std::memory_order_relaxed);
  if (current != nullptr && set_.size() < 2 * current->size()) return;
  snapshots_.push_back(std::make_unique<const Set>(set_));
  snapshot_.store(snapshots_.back().get(), std::memory_order_release);
}

}  // namespace boxcar
