#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/dispatcher/values/aliasing.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace boxcar::transforms {

// The calls that made and wrote the fake tensors of deferred_init(), in their order, so that they can be made again on
// real tensors. The tensors own it. One thread at a time may use it.
class DeferredTape final : public Object {
 public:
  // While it lives, calls of this thread that reach fake tensors are recorded on [tape].
  class Guard final {
   public:
    explicit Guard(DeferredTape& tape) noexcept;
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    DeferredTape* before_;
  };
  // The tape that records calls of this thread; null if none does.
  static DeferredTape* current() noexcept;

  // Returns the tape of [tensor]; null if none recorded it.
  static IntrusivePtr<DeferredTape> of(const Tensor& tensor);
  // Returns the tape that a call on [tensors] belongs to: all those of its tensors become one. Null if there is none.
  static IntrusivePtr<DeferredTape> of(std::span<const PlacedTensor> tensors);
  // Gives [tensor] this tape, and the key that leads later calls on it there.
  void attachTo(const Tensor& tensor);
  // Takes over the calls of [other], on whose tensors a call depends together with those of this tape.
  void absorb(DeferredTape& other);

  // Of a fake view of a real tensor: a write would go to memory that the program has.
  void noteOutside(const Storage& storage) { outside_.try_emplace(storage.get(), storage); }
  bool isOutside(const StorageImpl& storage) const { return outside_.contains(&storage); }

  // Returns the arguments of a call as record() takes them. To be called before the call, which may change shapes.
  static std::vector<IValue> placeholders(std::span<const IValue> arguments);
  // Adds a call that was made on fake tensors. [arguments], from placeholders(), may have real tensors among them.
  void record(const OperatorHandle& op, std::span<const IValue> arguments, std::span<const IValue> results);

  // Makes the calls, as yet not made, that [fakes] depend on, in their order. Returns the real tensors: those whose
  // fakes share memory share it, too.
  std::vector<Tensor> materialize(std::span<const Tensor> fakes);

 private:
  using Storages = std::unordered_set<const StorageImpl*>;

  struct Call {
    uint64_t number;  // among the calls of the process
    OperatorHandle op;
    std::vector<IValue> arguments;
    std::vector<IValue> results;
    std::vector<const StorageImpl*> reads;
    std::vector<const StorageImpl*> makes;
    std::vector<const StorageImpl*> writes;
    std::vector<std::pair<Tensor, uint32_t>> outside;  // real arguments, and their versions
    bool is_done = false;
  };

  std::vector<Call*> callsFor(std::span<const Tensor> fakes);
  void replay(Call& call);
  Tensor realOf(const Tensor& fake) const;

  std::vector<Call> calls_;
  std::unordered_map<const StorageImpl*, Storage> real_;
  std::unordered_map<const StorageImpl*, Storage> outside_;
  IntrusivePtr<DeferredTape> merged_into_;
};

}  // namespace boxcar::transforms
