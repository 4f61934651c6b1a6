#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>
#include <boxcar/ivalue/tensor_metadata.h>

#include <atomic>
#include <string>

// Classes of tensors that answer the calls on them, as `__torch_dispatch__` does in PyTorch. A program derives them
// from TensorClass; the module of Python attaches one for each class of Python's.

namespace boxcar {

// What a tensor of such a class carries. The tensor has the key Python, below autograd; there, after the thread's
// modes, calls come to the classes of their tensors.
class BOXCAR_API TensorClass : public TensorMetadata {
 public:
  TensorClass() noexcept : TensorMetadata(Kind::kBinding) {}

  // The name of the class of [tensor], whose class this is, for errors.
  virtual std::string nameOf(const Tensor& tensor) const = 0;
  // Answers a call that has a tensor of this class among its arguments: pops the arguments off [stack] and pushes the
  // results. Returns false, with the stack as it was, to leave the call to the classes of the arguments further right.
  // op.redispatchBoxed(below, stack) goes on to the kernels; its results are plain tensors.
  virtual bool answer(const OperatorHandle& op, DispatchKeySet below, Stack& stack) = 0;
};

// An Error of a call that all classes of its tensors left to others.
class BOXCAR_API UnansweredCall final : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

// Makes [tensor], which must be defined, one of the class, in place of what it was. Views and copies of it are plain.
BOXCAR_API void setTensorClass(const Tensor& tensor, IntrusivePtr<TensorClass> tensor_class);
// Returns the class of [tensor]; null for a plain one.
BOXCAR_API TensorClass* tensorClassOf(const Tensor& tensor) noexcept;

namespace detail {

// Whether setTensorClass() was ever called.
extern constinit std::atomic<bool> has_tensor_classes;
inline bool hasTensorClasses() noexcept { return has_tensor_classes.load(std::memory_order_acquire); }

// Asks the classes of the tensors on the stack from left to right, each C++ class once, until one answers. Throws
// UnansweredCall if none does. Redispatches to [below] if no tensor has a class, and operators of prim, which read
// attributes.
void callTensorClasses(const OperatorHandle& op, DispatchKeySet below, Stack& stack);

}  // namespace detail
}  // namespace boxcar
