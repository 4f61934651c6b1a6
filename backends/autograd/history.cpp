#include <boxcar/backends/autograd/copy_slices.h>
#include <boxcar/backends/autograd/history.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/ivalue/cached_memory.h>
#include <boxcar/ivalue/error.h>

#include <cstdint>
#include <iterator>
#include <mutex>
#include <string_view>
#include <utility>

namespace boxcar::autograd {
namespace {

constinit thread_local bool watches_views = false;

Tensor baseOf(const Tensor& view) {
  return Tensor(IntrusivePtr<TensorImpl>::share(view.unsafeGetTensorImpl()->base()));
}

bool isView(const Tensor& tensor) { return tensor.unsafeGetTensorImpl()->base() != nullptr; }

// After an in-place call the gradient that a tensor retains is that of its new value.
void moveRetaining(const Tensor& tensor, const AutogradMeta& meta, Node& to) {
  const auto self = IntrusivePtr<TensorImpl>::share(tensor.unsafeGetTensorImpl());
  if (Node::Hooks* const hooks = meta.grad_fn ? meta.grad_fn->hooks() : nullptr) {
    std::erase_if(hooks->retaining, [&](const auto& each) { return each.second.lock() == self; });
  }
  to.findOrMakeHooks().retaining.emplace_back(meta.output_nr, WeakIntrusivePtr(self));
}

// Mutexes that tensors share.
class MutexPool final {
 public:
  std::mutex& of(const TensorImpl& tensor) noexcept {
    return mutexes_[reinterpret_cast<uintptr_t>(&tensor) / 64 % std::size(mutexes_)];
  }

 private:
  std::mutex mutexes_[64];
};

// Guard gradients, and the history of views, which threads that only read them may refresh. A pass may hold one of the
// former when it needs one of the latter.
constinit MutexPool gradient_mutexes;
constinit MutexPool view_mutexes;

// A view's node is that of the call that made it until its memory is written: then its history is its base's.
void refreshView(const Tensor& view) {
  const Tensor base = baseOf(view);
  if (!base.requires_grad()) return;
  AutogradMeta& meta = AutogradMeta::findOrMake(view);
  if (meta.grad_fn && meta.view_version == view.version()) return;
  IntrusivePtr<Node> node = makeAsStridedBackward(base, view);
  meta.output_nr = node->addOutput(view);
  if (meta.retains_grad) moveRetaining(view, meta, *node);
  meta.grad_fn = std::move(node);
  meta.view_version = view.version();
}

constexpr std::string_view kFunctionView =
    "This view was created inside a custom Function (or because an input was returned as-is), and a write to it would "
    "override the custom backward. Return a clone() of the input from forward()";

constexpr std::string_view kWriteToLeaf = "Write to a clone() of it, or under no_grad";

// Which result of which call a tensor is; without a node for a leaf.
struct History {
  IntrusivePtr<Node> node;
  uint32_t output_nr = 0;
};

History historyOf(const Tensor& tensor) {
  std::unique_lock<std::mutex> lock;
  if (isView(tensor)) {
    lock = std::unique_lock(view_mutexes.of(*tensor.unsafeGetTensorImpl()));
    refreshView(tensor);
  }
  const AutogradMeta* const meta = AutogradMeta::find(tensor);
  if (meta == nullptr) return {};
  BOXCAR_CHECK(!meta->is_function_view || meta->view_version == tensor.version(),
               "Output {} of {} is a view and its base or another view of its base has been modified inplace. {}",
               meta->output_nr, meta->grad_fn->name(), kFunctionView);
  return {meta->grad_fn, meta->output_nr};
}

}  // namespace

AutogradMeta& AutogradMeta::findOrMake(TensorImpl& tensor) {
  if (AutogradMeta* found = find(tensor)) return *found;
  auto made = makeIntrusive<AutogradMeta>();
  AutogradMeta& meta = *made;
  tensor.set_metadata(std::move(made));
  return meta;
}

void* AutogradMeta::operator new(size_t bytes) { return allocateCached(bytes); }
void AutogradMeta::operator delete(void* memory, size_t bytes) noexcept { freeCached(memory, bytes); }

std::mutex& mutexOf(const TensorImpl& tensor) noexcept { return gradient_mutexes.of(tensor); }

IntrusivePtr<Node> gradFn(const Tensor& tensor) {
  if (!tensor.requires_grad()) return nullptr;
  return historyOf(tensor).node;
}

Edge gradientEdge(const Tensor& tensor) {
  if (!tensor.requires_grad()) return {};
  BOXCAR_CHECK(!tensor.key_set().has(DispatchKey::FuncTorchBatched),
               "an operator with a derivative of its own, such as autograd::apply, cannot be called on tensors inside "
               "func::vmap() that require grad; call it outside, or use operators that have rules");
  History history = historyOf(tensor);
  if (!history.node) return Edge(tensor);
  return {std::move(history.node), history.output_nr};
}

void setHistory(const Tensor& result, const IntrusivePtr<Node>& node) {
  AutogradMeta& meta = AutogradMeta::findOrMake(result);
  meta.output_nr = node->addOutput(result);
  if (meta.retains_grad) moveRetaining(result, meta, *node);
  meta.grad_fn = node;
  meta.view_version = result.version();
  result.set_requires_grad(true);
}

void makeLeaf(const Tensor& tensor) {
  if (!tensor.requires_grad()) return;
  tensor.set_requires_grad(false);
  AutogradMeta* const meta = AutogradMeta::find(tensor);
  if (meta == nullptr) return;
  meta->grad_fn.reset();
  meta->retains_grad = false;
  meta->is_function_view = false;
}

void retainGradOfResult(const Tensor& tensor) {
  const IntrusivePtr<Node> node = gradFn(tensor);
  AutogradMeta& meta = AutogradMeta::findOrMake(tensor);
  if (meta.retains_grad) return;
  node->findOrMakeHooks().retaining.emplace_back(
      meta.output_nr, WeakIntrusivePtr(IntrusivePtr<TensorImpl>::share(tensor.unsafeGetTensorImpl())));
  meta.retains_grad = true;
}

void rebaseHistory(const Tensor& self, const IntrusivePtr<Node>& node) {
  if (!isView(self)) return setHistory(self, node);
  const Tensor base = baseOf(self);
  const bool is_first = !base.requires_grad();
  node->addOutput(self);
  IntrusivePtr<Node> slices = makeCopySlices(base, self, node);
  setHistory(base, slices);
  // The base and this view hold the storage, and so does each other view.
  if (is_first && base.storage().use_count() > 2) {
    AutogradMeta::find(base)->has_older_views = true;
    watches_views = true;
    tls_set_dispatch_key_included(DispatchKey::AutogradFunctionality, true);
  }
  self.set_requires_grad(true);
  refreshView(self);
}

bool watchesViews() noexcept { return watches_views; }

void adoptHistory(const Tensor& tensor) {
  if (!tensor.defined() || tensor.requires_grad() || !isView(tensor)) return;
  if (!tensor.is_floating_point() && !tensor.is_complex()) return;
  const TensorImpl& base = *tensor.unsafeGetTensorImpl()->base();
  const AutogradMeta* const meta = base.requires_grad() ? AutogradMeta::find(base) : nullptr;
  if (meta != nullptr && meta->has_older_views && !isViewWithoutGrad(tensor)) tensor.set_requires_grad(true);
}

bool isViewWithoutGrad(const Tensor& tensor) noexcept {
  return tensor.defined() && !tensor.requires_grad() && isView(tensor) &&
         tensor.key_set().has(DispatchKey::AutogradFunctionality) &&
         tensor.unsafeGetTensorImpl()->base()->requires_grad();
}

void checkWrittenAtAll(const Tensor& self) {
  BOXCAR_CHECK(!isViewWithoutGrad(self) || !(self.is_floating_point() || self.is_complex()),
               "A view was created in no_grad mode and is being modified inplace with grad mode enabled, which is "
               "ambiguous. Move both the view and the inplace operation either inside the no_grad block, if it shall "
               "not be tracked, or outside");
}

void checkWrittenInPlace(const Tensor& self) {
  const bool is_view = isView(self);
  const Tensor written = is_view ? baseOf(self) : self;
  const AutogradMeta* const meta = written.requires_grad() ? AutogradMeta::find(written) : nullptr;
  if (meta != nullptr && meta->is_function_view) {
    BOXCAR_FAIL("Output {} of {} is a view and is being modified inplace. {}", meta->output_nr, meta->grad_fn->name(),
                kFunctionView);
  }
  const bool is_leaf_view = is_view && self.requires_grad() && !gradFn(self);
  if (!is_leaf_view && (!written.requires_grad() || gradFn(written))) return;
  BOXCAR_FAIL("{} leaf Variable that requires grad is being used in an in-place operation. {}",
              is_view ? "a view of a" : "a", kWriteToLeaf);
}

}  // namespace boxcar::autograd
