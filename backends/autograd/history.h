#pragma once

#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/node.h>
#include <boxcar/ivalue/tensor_metadata.h>

#include <mutex>

// What autograd knows about a tensor: the node that made it, its gradient, its hooks.

namespace boxcar::autograd {

class BOXCAR_API AutogradMeta final : public TensorMetadata {
 public:
  AutogradMeta() noexcept : TensorMetadata(Kind::kAutograd) {}

  // Returns null if the tensor has none.
  static AutogradMeta* find(const TensorImpl& tensor) noexcept {
    return static_cast<AutogradMeta*>(tensor.metadata(Kind::kAutograd));
  }
  static AutogradMeta* find(const Tensor& tensor) noexcept { return find(*tensor.unsafeGetTensorImpl()); }
  // Not on several threads at once for a tensor that has none; one that requires grad has it.
  static AutogradMeta& findOrMake(TensorImpl& tensor);
  static AutogradMeta& findOrMake(const Tensor& tensor) { return findOrMake(*tensor.unsafeGetTensorImpl()); }

  // The accumulated gradient of a leaf, or of a tensor that retains its gradient.
  Tensor grad;
  // Null for a leaf. For a view it is the node for version [view_version] of the memory.
  IntrusivePtr<Node> grad_fn;
  uint32_t output_nr = 0;
  uint32_t view_version = 0;
  bool retains_grad = false;
  // Of a base: it got its history by a write to a view, and other views may be older.
  bool has_older_views = false;
  // It shares memory with an argument of the autograd::Function that returned it: a write would bypass backward().
  bool is_function_view = false;
  // Null if there are none.
  IntrusivePtr<Tangents> tangents;
  // Of a leaf; those of other tensors are at their nodes.
  HookList<TensorHook> hooks;

  static void* operator new(size_t bytes);
  static void operator delete(void* memory, size_t bytes) noexcept;

 private:
  friend class GraphTask;
  void dispose() noexcept override {
    if (mayDie()) delete this;
  }

  // As in Node.
  std::atomic<uint64_t> claiming_pass_{0};
  uint32_t number_in_pass_ = 0;
};

// Guards the gradient of [tensor]; passes on several threads may share leaves.
BOXCAR_API std::mutex& mutexOf(const TensorImpl& tensor) noexcept;

// Returns where the gradient of [tensor] goes; invalid if it does not require grad.
BOXCAR_API Edge gradientEdge(const Tensor& tensor);
// Returns the node that made [tensor]; null for a leaf.
BOXCAR_API IntrusivePtr<Node> gradFn(const Tensor& tensor);

// Makes [result] the next result of [node]. It requires grad from then on.
BOXCAR_API void setHistory(const Tensor& result, const IntrusivePtr<Node>& node);
// Does so after an in-place call: the new history also holds for the tensor that [self] is a view of, and so for all
// views of it. [node]'s edge 0 must be that of [self].
BOXCAR_API void rebaseHistory(const Tensor& self, const IntrusivePtr<Node>& node);
// Makes [tensor] a leaf that does not require grad.
void makeLeaf(const Tensor& tensor);
// Makes backward passes keep the gradient of [tensor], which has a node.
void retainGradOfResult(const Tensor& tensor);
// Whether this thread looks for views that were made before a write to another view gave their base a history. It
// begins with such a write: then all calls of the thread reach the autograd kernel, because those views have no key
// that leads there.
bool watchesViews() noexcept;
// Makes [tensor] require grad if it is such a view.
void adoptHistory(const Tensor& tensor);
// Whether [tensor] is a view, made under NoGradGuard, of a tensor that required grad.
bool isViewWithoutGrad(const Tensor& tensor) noexcept;
// Throws Error if no call may write [self] in place while calls are recorded: such a view.
void checkWrittenAtAll(const Tensor& self);
// Throws Error if a recorded call must not write [self] in place: a leaf that requires grad, a view of one, or what a
// Function returned of its arguments.
BOXCAR_API void checkWrittenInPlace(const Tensor& self);

}  // namespace boxcar::autograd
