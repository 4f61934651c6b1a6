#pragma once

#include <boxcar/backends/transforms/functional_view.h>
#include <boxcar/ivalue/tensor.h>
#include <boxcar/ivalue/weak_ptr.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

// The tensors that a program holds, and what they are in the program without writes.

namespace boxcar::transforms {

// The program's tensors are real ones, and their memory always holds what the program wrote to it. Beside each memory
// that was written stands its value: a tensor that nobody else holds, and that is never written. Calls below the scope
// get values; a memory without one is a value itself. Views are kept as the calls that made them.
//
// What others write, such as kernels that do not say so, is found by the memory's version: its elements are then the
// value.
//
// A tensor that no call has made, such as a shallowCopy(), is found by its place in the memory. Values are those of
// memory also for tensors that are conjugated or negated lazily: what reads their elements makes them of a
// shallowCopy() of the memory, above the scope.
class FunctionalValues final {
 public:
  // [copies]: whether views are made by operators that copy.
  explicit FunctionalValues(bool copies) : copies_(copies) {}

  bool copies() const noexcept { return copies_; }

  // Returns the value of [tensor], which is [tensor] itself if neither it nor a tensor on its memory was written.
  Tensor current(const Tensor& tensor);
  // Makes [value], which has the sizes and the dtype of [tensor], its value. Its memory is written afterwards.
  void write(const Tensor& tensor, const Tensor& value);
  // The memory of [tensor] now holds its value.
  void noteWritten(const Tensor& tensor);
  // The elements in the memory of [tensor] are its value, whatever write() said.
  void takeMemory(const Tensor& tensor);
  // Makes [value] the value of all of [tensor]'s memory, which was resized. Throws Error for [op] if others show it.
  void replace(const Tensor& tensor, const Tensor& value, const OperatorHandle& op);

  // Notes that [result] is the view of [viewed] that [step] makes; without a step, that it shows the same memory.
  // [is_value]: whether calls below the scope know it.
  void noteView(const Tensor& result, const Tensor& viewed, std::optional<ViewStep> step, bool is_value);
  // Calls [change], which makes [tensor] another view of its memory: the view that [step] makes of what it was, or,
  // without one, some view.
  template <class Change>
  void reshape(const Tensor& tensor, std::optional<ViewStep> step, const Change& change) {
    const FunctionalBasePtr base = beginReshape(tensor);
    const FunctionalViewPtr before = viewOf(tensor, base);
    change();
    endReshape(tensor, base, before, std::move(step));
  }
  // Notes that [storage] was made in the scope.
  void noteMade(const Storage& storage) { made_.insert(storage.get()); }
  bool isMade(const Storage& storage) const { return made_.contains(storage.get()); }

  // A memory that was written, as a tensor that shows all that its value has.
  struct Written {
    Tensor tensor;
    Tensor value;
    bool is_resized;  // in the scope
  };
  // Returns those that are still there, in the order of the first writes.
  std::vector<Written> written();

 private:
  using FunctionalBasePtr = std::shared_ptr<FunctionalBase>;
  using FunctionalViewPtr = std::shared_ptr<FunctionalView>;
  struct KnownTensor {
    WeakIntrusivePtr<TensorImpl> tensor;
    FunctionalViewPtr view;  // of memory, also if the tensor is conjugated or negated lazily
    bool is_value;           // as long as its memory is not written
  };
  struct KnownStorage {
    WeakIntrusivePtr<StorageImpl> storage;
    std::weak_ptr<FunctionalBase> base;
    WeakIntrusivePtr<TensorImpl> whole;  // a tensor with the base's placement
    FunctionalBasePtr kept = nullptr;    // once it is written
    size_t order = 0;                    // of the first write
    bool is_resized = false;
  };

  FunctionalBasePtr findBase(const Tensor& tensor);
  FunctionalBasePtr baseOf(const Tensor& tensor);
  // Returns what is known of [tensor] as the view that it is now; null if that is nothing.
  const KnownTensor* find(const Tensor& tensor) const;
  // Returns the value of what [tensor] shows of its memory; [tensor] itself if calls below know it, or nobody does.
  Tensor currentMemory(const Tensor& tensor);
  // Returns what [tensor] is in [base]; null for all of it.
  FunctionalViewPtr viewOf(const Tensor& tensor, const FunctionalBasePtr& base);
  FunctionalBasePtr beginReshape(const Tensor& tensor);
  void endReshape(const Tensor& tensor, const FunctionalBasePtr& base, const FunctionalViewPtr& before,
                  std::optional<ViewStep> step);
  static void takeMemory(FunctionalBase& base, const Storage& storage);
  void remember(const Tensor& tensor, FunctionalViewPtr view, bool is_value);
  void sweep();

  const bool copies_;
  std::unordered_map<const TensorImpl*, KnownTensor> tensors_;
  std::unordered_map<const StorageImpl*, KnownStorage> storages_;
  // An address that is used again is that of another memory that was made in the scope.
  std::unordered_set<const StorageImpl*> made_;
  size_t writes_ = 0;
  // What the last sweep left, and what was added since.
  size_t kept_count_ = 0;
  size_t new_bytes_ = 0;
};

}  // namespace boxcar::transforms
