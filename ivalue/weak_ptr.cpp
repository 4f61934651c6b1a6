#include <boxcar/ivalue/weak_ptr.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace boxcar {
namespace {

using detail::WeakRecord;

// The records of the living objects whose addresses fall into one part of the table. The lock of a record also guards
// the step of its object's count from one reference to none: if the object in the record is not null, its memory is
// valid while the lock is held.
struct Shard {
  std::mutex mutex;
  std::unordered_map<const Object*, WeakRecord*> records;
};

constexpr size_t kShards = 64;

Shard& shardOf(const Object* object) noexcept {
  // Never destroyed, because objects may outlive everything else.
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): without this memory, the process ends
  static auto& shards = *new std::array<Shard, kShards>;
  return shards[(reinterpret_cast<uintptr_t>(object) >> 6) % kShards];
}

}  // namespace

namespace detail {

WeakRecord* WeakRecord::watch(const Object* object) {
  Shard& shard = shardOf(object);
  const std::lock_guard guard(shard.mutex);
  if (const auto found = shard.records.find(object); found != shard.records.end()) {
    ++found->second->weak_count_;
    return found->second;
  }
  std::unique_ptr<WeakRecord> record(new WeakRecord(object));
  shard.records.emplace(object, record.get());
  if (object->life_ == Object::Life::kOrdinary) object->life_ = Object::Life::kWatched;
  return record.release();
}

void WeakRecord::retain() noexcept {
  const std::lock_guard guard(shardOf(address_).mutex);
  ++weak_count_;
}

void WeakRecord::release() noexcept {
  Shard& shard = shardOf(address_);
  const std::lock_guard guard(shard.mutex);
  if (--weak_count_ != 0) return;
  if (object_ != nullptr) shard.records.erase(object_);
  delete this;
}

bool WeakRecord::tryRetainObject() noexcept {
  const std::lock_guard guard(shardOf(address_).mutex);
  if (object_ == nullptr) return false;
  // Another thread may be dropping the last reference: a count that has reached 0 stays there.
  const std::atomic_ref count(object_->count_);
  uint32_t seen = count.load(std::memory_order_relaxed);
  while (seen != 0) {
    if (count.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
  }
  return false;
}

size_t WeakRecord::useCount() noexcept {
  const std::lock_guard guard(shardOf(address_).mutex);
  return object_ == nullptr ? 0 : object_->useCount();
}

size_t WeakRecord::weakUseCount() noexcept {
  const std::lock_guard guard(shardOf(address_).mutex);
  return weakUseCountLocked();
}

}  // namespace detail

size_t Object::weakUseCount() const noexcept {
  Shard& shard = shardOf(this);
  const std::lock_guard guard(shard.mutex);
  const auto found = shard.records.find(this);
  return found == shard.records.end() ? 1 : found->second->weakUseCountLocked();
}

// With several threads, the holder of the only reference gets here without having dropped it: meanwhile a weak
// reference may have become a strong one, which is then the last. Under this lock nobody can make one.
bool Object::endUncommonLife() noexcept {
  const std::atomic_ref count(count_);
  if (life_ == Life::kImmortal) {
    count.store(kImmortalCount, std::memory_order_relaxed);
    return false;
  }
  Shard& shard = shardOf(this);
  IntrusivePtr<Object> attached;  // released after the lock, which its own weak references may need
  const std::lock_guard guard(shard.mutex);
  if (count.load(std::memory_order_relaxed) != 0 && count.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  if (const auto found = shard.records.find(this); found != shard.records.end()) {
    WeakRecord* const record = found->second;
    record->object_ = nullptr;
    attached.swap(record->attached_);
    shard.records.erase(found);
    if (attached && --record->weak_count_ == 0) delete record;
  }
  return true;
}

IntrusivePtr<Object> attachedTo(const Object& object) {
  Shard& shard = shardOf(&object);
  const std::lock_guard guard(shard.mutex);
  const auto found = shard.records.find(&object);
  return found == shard.records.end() ? nullptr : found->second->attached_;
}

IntrusivePtr<Object> attach(const Object& object, IntrusivePtr<Object> data) {
  WeakRecord* const record = WeakRecord::watch(&object);
  Shard& shard = shardOf(&object);
  IntrusivePtr<Object> attached;
  {
    const std::lock_guard guard(shard.mutex);
    if (!record->attached_) {
      record->attached_ = std::move(data);
      ++record->weak_count_;
    }
    attached = record->attached_;
  }
  record->release();
  return attached;
}

}  // namespace boxcar
