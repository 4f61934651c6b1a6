#pragma once

#include <boxcar/dispatcher/registry/operator_entry.h>
#include <boxcar/schema/operator_name.h>

#include <atomic>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <memory>
#include <vector>

namespace boxcar {

// The operators by name. Entries are never freed, so a name that was found once is always found. Look-ups read an
// immutable snapshot behind one atomic pointer, and only a miss takes the lock. Each snapshot is about twice the size
// of the one before. Old snapshots are kept, because threads may still be reading them.
class OperatorTable final {
 public:
  // Returns the entry of [name], or null. Takes no lock.
  OperatorEntry* findInSnapshot(const OperatorName& name) const noexcept;

  // The following are called under the owner's lock.
  OperatorEntry* find(const OperatorName& name) const noexcept;
  // Takes [name] if it is new.
  OperatorEntry& findOrAdd(OperatorName&& name);
  // Brings the snapshot up to date if enough names were added since the last one to make it worth the cost.
  void refreshSnapshot();
  // All entries, in the order they were added.
  const std::vector<OperatorEntry*>& entries() const noexcept { return entries_; }

 private:
  // Entries know their names, so these are not copied into every snapshot. The hash is stored, so a growing set does
  // not access entries.
  struct Slot {
    size_t hash;
    OperatorEntry* entry;
  };
  // A name whose hash is known: to add a name takes its hash once.
  struct HashedName {
    const OperatorName& name;
    size_t hash;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const HashedName& name) const noexcept { return name.hash; }
    size_t operator()(const OperatorName& name) const noexcept;
    size_t operator()(const Slot& slot) const noexcept { return slot.hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Slot& a, const Slot& b) const noexcept { return a.entry == b.entry; }
    bool operator()(const HashedName& name, const Slot& slot) const noexcept {
      return name.name == slot.entry->operator_name();
    }
    bool operator()(const Slot& slot, const HashedName& name) const noexcept {
      return name.name == slot.entry->operator_name();
    }
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
  // What is left of the newest memory block for entries.
  char* free_memory_ = nullptr;
  size_t free_bytes_ = 0;
  Set set_;
  std::vector<std::unique_ptr<const Set>> snapshots_;
  std::atomic<const Set*> snapshot_{nullptr};
};

}  // namespace boxcar
