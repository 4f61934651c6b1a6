#pragma once

#include <boxcar/dispatcher/operator_entry.h>
#include <boxcar/schema/operator_name.h>

#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <deque>
#include <memory>
#include <string>
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
  const std::deque<OperatorEntry>& entries() const noexcept { return entries_; }
  std::deque<OperatorEntry>& entries() noexcept { return entries_; }

 private:
  struct Hash {
    size_t operator()(const OperatorName& name) const noexcept;
  };
  using Map = boost::unordered_flat_map<OperatorName, OperatorEntry*, Hash>;

  std::deque<OperatorEntry> entries_;
  Map map_;
  std::vector<std::unique_ptr<const Map>> snapshots_;
  std::atomic<const Map*> snapshot_{nullptr};
};

}  // namespace boxcar
