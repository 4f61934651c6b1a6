#pragma once

#include <boxcar/ivalue/intrusive_ptr.h>
#include <boxcar/ivalue/list.h>

#include <utility>
#include <vector>

namespace boxcar {

// A tuple as an IValue holds it: a fixed number of values of any types, immutable.
class BOXCAR_API TupleObject final : public ObjectOf<TupleObject> {
 public:
  explicit TupleObject(std::vector<IValue> elements) noexcept;
  ~TupleObject() override;

  const std::vector<IValue>& elements() const noexcept { return elements_; }
  size_t size() const noexcept;

 private:
  std::vector<IValue> elements_;
};

// A reference to a tuple. `==` compares the elements. It is never null: moving from one copies it, as with lists.
class BOXCAR_API Tuple final {
 public:
  explicit Tuple(std::vector<IValue> elements);
  explicit Tuple(IntrusivePtr<TupleObject> object) noexcept : object_(std::move(object)) {}
  Tuple(const Tuple&) noexcept = default;
  Tuple& operator=(const Tuple&) noexcept = default;
  ~Tuple() = default;

  const std::vector<IValue>& elements() const noexcept { return object_->elements(); }
  size_t size() const noexcept { return object_->size(); }
  const IntrusivePtr<TupleObject>& object() const noexcept { return object_; }
  friend BOXCAR_API bool operator==(const Tuple& a, const Tuple& b);

 private:
  IntrusivePtr<TupleObject> object_;
};

}  // namespace boxcar
