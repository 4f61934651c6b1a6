#pragma once

#include <boxcar/dispatcher/operator_entry.h>
#include <boxcar/schema/operator_name.h>

#include <atomic>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <memory>
#include <vector>

namespace boxcar {

// The operators by name. Entries are never freed, so a name that was found once is found for ever: look-ups read an
// immutable snapshot behind one atomic pointer, and only a miss takes the lock. Snapshots double in size from one to
// the next and are kept, for somebody may be reading them.
class OperatorTable final {
 public:
  // The entry of [name], or null. Takes no lock when the name is in the snapshot.
  OperatorEntry* findInSnapshot(const OperatorName& name) const noexcept;

  // The following are called under the owner's lock.
  OperatorEntry* find(const OperatorName& name) const noexcept;
  OperatorEntry& findOrAdd(const OperatorName& name);
  // Makes the snapshot whole, when enough names came since the last one that it pays.
  void refreshSnapshot();
  // All entries, in the order they were added.
  const std::vector<OperatorEntry*>& entries() const noexcept { return entries_; }

 private:
  // Entries know their names, so that these are not copied into every snapshot; the hash is kept, so that a set that
  // grows looks at no entry.
  struct Slot {
    size_t hash;
    OperatorEntry* entry;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const OperatorName& name) const noexcept;
    size_t operator()(const Slot& slot) const noexcept { return slot.hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Slot& a, const Slot& b) const noexcept { return a.entry == b.entry; }
    bool operator()(const OperatorName& name, const Slot& slot) const noexcept {
      return name == slot.entry->operator_name();
    }
    bool operator()(const Slot& slot, const OperatorName& name) const noexcept {
      return name == slot.entry->operator_name();
    }
  };
  using Set = boost::unordered_flat_set<Slot, Hash, Equal>;

  void* allocateEntry();

  std::vector<OperatorEntry*> entries_;
  // What is left of the newest block of memory for entries.
  char* free_memory_ = nullptr;
  size_t free_bytes_ = 0;
  Set set_;
  std::vector<std::unique_ptr<const Set>> snapshots_;
  std::atomic<const Set*> snapshot_{nullptr};
};

}  // namespace boxcar
