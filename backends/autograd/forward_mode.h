#pragma once

#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>
#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

// Derivatives forwards: tensors have tangents, the derivative of their elements along a direction, and each call
// computes those of its results from those of its arguments. forward_kernel.cpp has the kernel that does so.
//
// Levels are independent directions, and nest: the tangents of an inner level have tangents of the outer ones.

namespace boxcar::autograd {

// The tangents of a tensor, and of what shares its memory and history.
class BOXCAR_API Tangents final : public Object {
 public:
  // Returns the one of the level; undefined if there is none.
  Tensor of(uint64_t level) const {
    for (const auto& [each, tangent] : tangents_) {
      if (each == level) return tangent;
    }
    return {};
  }
  bool has(uint64_t level) const { return of(level).defined(); }
  // An undefined tangent removes it.
  void set(uint64_t level, Tensor tangent);
  void remove(uint64_t level) noexcept;

 private:
  boost::container::small_vector<std::pair<uint64_t, Tensor>, 1> tangents_;
};

// While it lives, calls of this thread compute tangents of a new level.
class BOXCAR_API ForwardLevel final {
 public:
  ForwardLevel();
  ~ForwardLevel();
  ForwardLevel(const ForwardLevel&) = delete;
  ForwardLevel& operator=(const ForwardLevel&) = delete;

  // Gives [tensor] a copy of the tangent. It must have the shape of [tensor], whose dtype must be floating point or
  // complex. A zero tensor takes the tangent away: to have none is to have zeros.
  void setTangent(const Tensor& tensor, const Tensor& tangent) const;
  // Returns a view of [primal] with the tangent.
  Tensor makeDual(const Tensor& primal, const Tensor& tangent) const;
  // Returns the tangent of [tensor] at this level; undefined if it has none. It may have tangents of outer levels.
  Tensor tangentOf(const Tensor& tensor) const;
  // Removes the tangent that makeDual() or a call gave [tensor].
  void forget(const Tensor& tensor) const;

 private:
  size_t index_;
};

// What the kernel needs.

// Where it stands.
inline constexpr DispatchKey kForwardKey = DispatchKey::FuncTorchDynamicLayerFrontMode;

// Registers it, unless that was done: the first level does it.
void registerForwardKernel();

// The levels at which calls of this thread compute tangents now, the outermost first.
std::span<const uint64_t> forwardLevels() noexcept;
// As that of the dispatch keys, an access is two instructions.
extern constinit thread_local size_t active_forward_levels __attribute__((tls_model("initial-exec")));
// Whether calls of this thread compute tangents.
inline bool computesTangents() noexcept { return active_forward_levels != 0; }

// While it lives, calls compute tangents of the outermost [count] levels only.
class BOXCAR_API OuterForwardLevels final {
 public:
  explicit OuterForwardLevels(size_t count) noexcept;
  ~OuterForwardLevels();
  OuterForwardLevels(const OuterForwardLevels&) = delete;
  OuterForwardLevels& operator=(const OuterForwardLevels&) = delete;

 private:
  size_t before_;
};

// Whether [tensor], or the tensor that it is a view of, has a tangent of the level.
bool hasTangent(const Tensor& tensor, uint64_t level) noexcept;
// Whether it has one of a level that is active.
bool hasTangent(const Tensor& tensor) noexcept;
// Returns it; undefined if there is none. To be called at the outer levels.
Tensor tangentOf(const Tensor& tensor, uint64_t level);
// Sets the tangent of [tensor]: as its tangent, fitted to its shape, dtype and memory layout. To be called at the outer
// levels, as the following ones.
void setTangent(const Tensor& tensor, uint64_t level, const Tensor& tangent);
// Writes [tangent] to where the tangent of [tensor] is, which was written in place; views of the same memory see it.
void writeTangent(const Tensor& tensor, uint64_t level, const Tensor& tangent);
// Returns the tangent of [tensor] to be written in place; makes zeros if there is none.
Tensor writableTangent(const Tensor& tensor, uint64_t level);

// Returns shallowCopy() of [tensor] with its tangents, and with those that it gets later.
Tensor withoutHistory(const Tensor& tensor);

// Returns clone() of [tensor] with its tangents of all levels, also of those that are not active while a call is below
// the kernel.
Tensor cloneWithTangents(const Tensor& tensor);

class Node;
// Returns the tangents of [outputs], the results of [node]'s call, in order: undefined where there is none. [tangents]
// has that of the input at each edge. A product with the transposed Jacobian is transposed, so the formulas of [node]
// must be differentiable with respect to the gradients.
std::vector<Tensor> tangentsByTransposition(Node& node, std::span<const Tensor> outputs,
                                            std::span<const Tensor> tangents);

}  // namespace boxcar::autograd
