#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/dims.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/tensor.h>
#include <boxcar/ivalue/weak_ptr.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

// How a view follows from the memory that it shows: a chain of calls, which is replayed on the memory's current value,
// and undone to write a value of the view into it.

namespace boxcar::transforms {

// Where a tensor's elements lie in its memory.
struct Placement {
  explicit Placement(const Tensor& tensor);
  auto operator<=>(const Placement&) const = default;
  // Whether it is that of [tensor].
  bool isOf(const Tensor& tensor) const;
  // Whether every element of [storage] belongs to the tensor, and to it once.
  bool isWhole(const StorageImpl& storage) const;
  bool isContiguous() const;
  // Whether two of the tensor's elements may be one.
  bool mayOverlap() const;

  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset;
  ScalarType dtype;
};

// Returns a copy of [tensor] with [strides], by operators that copy.
Tensor withStrides(const Tensor& tensor, std::span<const int64_t> strides);

class FunctionalView;

// What all tensors on one memory share.
struct FunctionalBase {
  FunctionalBase(const Tensor& tensor, Placement where);

  // Returns the value: a tensor with [placement]. Views call it when they are needed, so that programs without writes
  // get no calls.
  const Tensor& current(bool copies);
  // Sets another value, which gets the base's placement.
  void set(const Tensor& given);
  // Returns the first view with the placement of [tensor]; null if there is none.
  std::shared_ptr<FunctionalView> viewAt(const Tensor& tensor) const;

  Placement placement;
  // The tensor that the base was made for, until current() needs more of its memory.
  Tensor origin;
  Tensor value;
  uint64_t generation = 0;
  uint32_t version = 0;     // of the memory, when it was last equal to the value
  bool is_written = false;  // in the scope

  // Orders views by their placements, and those that have the same one by their age, so that programs do not depend on
  // addresses.
  struct ByPlacement {
    using is_transparent = void;
    bool operator()(const FunctionalView* left, const FunctionalView* right) const;
    bool operator()(const FunctionalView* left, const Placement& right) const;
    bool operator()(const Placement& left, const FunctionalView* right) const;
  };
  // Those that there are, each from its constructor to its destructor.
  std::set<FunctionalView*, ByPlacement> views;
  uint64_t next_view = 0;
};

// One call that makes a view.
struct ViewStep {
  OperatorHandle op;
  std::optional<OperatorHandle> copy;  // returns a copy instead
  std::vector<IValue> arguments;       // without the tensor that is viewed
  uint8_t viewed;                      // the position of that
  int64_t index = -1;                  // of the result in a list
};

class FunctionalView : public std::enable_shared_from_this<FunctionalView> {
 public:
  // Without a [step], the view is an as_strided() of the whole base. [parent]: what [step] views; null for the base.
  FunctionalView(std::shared_ptr<FunctionalBase> base, std::shared_ptr<FunctionalView> parent,
                 std::optional<ViewStep> step, Placement placement);
  ~FunctionalView();
  FunctionalView(const FunctionalView&) = delete;
  FunctionalView& operator=(const FunctionalView&) = delete;

  const std::shared_ptr<FunctionalBase>& base() const noexcept { return base_; }
  const Placement& placement() const noexcept { return placement_; }
  uint64_t number() const noexcept { return number_; }

  // Calls below the scope know [tensor], which is the view's value until the base gets another.
  void setMade(WeakIntrusivePtr<TensorImpl> tensor) noexcept { made_ = std::move(tensor); }
  // Returns the view's current value; with [copies], by operators that copy.
  Tensor current(bool copies);
  // Makes [value] the view's value, in the base.
  void write(Tensor value, bool copies);

 private:
  Tensor parentValue(bool copies) { return parent_ ? parent_->current(copies) : base_->current(copies); }
  const Placement& parentPlacement() const { return parent_ ? parent_->placement_ : base_->placement; }
  Tensor replay(bool copies);
  // Returns the parent's value with [value] in it; undefined if the step cannot be undone by itself.
  Tensor undone(const Tensor& value, bool copies);
  // Those of a view whose step cannot be undone or is not known.
  Tensor takenFromBase(bool copies);
  Tensor putIntoBase(const Tensor& value, bool copies);

  std::shared_ptr<FunctionalBase> base_;
  std::shared_ptr<FunctionalView> parent_;
  std::optional<ViewStep> step_;
  Placement placement_;
  uint64_t number_;  // of all views of the base, in the order in which they were made
  Tensor value_;
  WeakIntrusivePtr<TensorImpl> made_;
  uint64_t generation_ = 0;
};

}  // namespace boxcar::transforms
