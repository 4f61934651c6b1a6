#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/copy_slices.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/graph_task.h>
#include <boxcar/backends/autograd/history.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/zero_tensor.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace boxcar::autograd {

constinit thread_local size_t active_forward_levels = 0;

namespace {

// Those that are not active come last.
thread_local std::vector<uint64_t> levels;
// Their number.
constinit thread_local size_t live_levels __attribute__((tls_model("initial-exec"))) = 0;

// What has tangents of a level of this thread. They are removed when it ends: a tangent that requires grad may lead,
// through its history, to the tensor that keeps it.
class OfLevel final {
 public:
  explicit OfLevel(uint64_t level) noexcept : level_(level) {}
  uint64_t level() const noexcept { return level_; }

  void add(Tangents& tangents) {
    if (all_.size() == most_) {
      std::erase_if(all_, [](const auto& each) { return each.expired(); });
      most_ = std::max<size_t>(64, 2 * all_.size());
    }
    all_.emplace_back(IntrusivePtr<Tangents>::share(&tangents));
  }
  std::vector<IntrusivePtr<Tangents>> takeAll() {
    std::vector<IntrusivePtr<Tangents>> kept;
    for (const auto& each : all_) {
      if (IntrusivePtr<Tangents> held = each.lock()) kept.push_back(std::move(held));
    }
    all_.clear();
    return kept;
  }

 private:
  uint64_t level_;
  size_t most_ = 64;
  std::vector<WeakIntrusivePtr<Tangents>> all_;
};
thread_local std::vector<OfLevel> tangents_of_levels;

void activate(size_t count) noexcept {
  active_forward_levels = count;
  tls_set_dispatch_key_included(kForwardKey, count != 0);
}

Tangents* tangentsOf(const TensorImpl& tensor) noexcept {
  const AutogradMeta* const meta = AutogradMeta::find(tensor);
  return meta == nullptr ? nullptr : meta->tangents.get();
}

Tangents& findOrMakeTangents(const Tensor& tensor) {
  IntrusivePtr<Tangents>& tangents = AutogradMeta::findOrMake(tensor).tangents;
  if (!tangents) tangents = makeIntrusive<Tangents>();
  return *tangents;
}

Tensor ownTangent(const TensorImpl& tensor, uint64_t level) {
  const Tangents* const tangents = tangentsOf(tensor);
  return tangents == nullptr ? Tensor() : tangents->of(level);
}

bool hasSameBits(const Tensor& a, const Tensor& b) {
  return (a.key_set() & math_bits_ks) == (b.key_set() & math_bits_ks);
}

bool hasSameLayout(const Tensor& a, const Tensor& b) {
  return std::ranges::equal(a.sizes(), b.sizes()) && std::ranges::equal(a.strides(), b.strides()) &&
         a.storage_offset() == b.storage_offset();
}

// Whether elements of [tensor] may share memory.
bool overlapsItself(const Tensor& tensor) {
  DimVector dims;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) > 1) dims.push_back(i);
  }
  std::ranges::sort(dims, {}, [&](int64_t dim) { return tensor.stride(dim); });
  int64_t reach = 0;  // of the dimensions before
  for (const int64_t dim : dims) {
    if (tensor.stride(dim) <= reach) return true;
    reach += (tensor.size(dim) - 1) * tensor.stride(dim);
  }
  return false;
}

// Zeros that lie in their memory as [tensor] lies in its own, so that what is viewed by strides and offsets is the
// same.
Tensor zerosWithLayoutOf(const Tensor& tensor) {
  const auto elements = static_cast<int64_t>(tensor.storage()->nbytes() / elementSize(tensor.scalar_type()));
  const int64_t size[] = {elements};
  const Tensor whole = boxcar::zeros(size, tensor.scalar_type(), std::nullopt, tensor.device());
  Tensor zeros = withMathBits(boxcar::as_strided(whole, tensor.sizes(), tensor.strides(), tensor.storage_offset()),
                              tensor.key_set());
  zeros.unsafeGetTensorImpl()->clear_base();
  return zeros;
}

// Returns [tangent] with the dtype and sizes of [tensor], and its strides and bits, so that views of one are views of
// the other.
Tensor fitted(Tensor tangent, const Tensor& tensor) {
  if (tangent.is_complex() && !tensor.is_complex()) tangent = boxcar::real(tangent);
  if (tangent.scalar_type() != tensor.scalar_type() || tangent.device() != tensor.device()) {
    tangent = boxcar::to(tangent, tensor.device(), tensor.scalar_type());
  }
  if (!hasSameBits(tangent, tensor)) {
    Tensor other = withMathBits(boxcar::empty_like(tangent), tensor.key_set());
    tangent = boxcar::copy_(other, tangent);
  }
  if (hasSameLayout(tangent, tensor)) return tangent;
  // Elements that share memory have tangents of their own.
  if (overlapsItself(tensor)) return boxcar::expand(tangent, tensor.sizes());
  Tensor copy = zerosWithLayoutOf(tensor);
  return boxcar::copy_(copy, tangent);
}

}  // namespace

void Tangents::set(uint64_t level, Tensor tangent) {
  if (!tangent.defined()) return remove(level);
  const auto found = std::ranges::find(tangents_, level, [](const auto& each) { return each.first; });
  if (found != tangents_.end()) {
    found->second = std::move(tangent);
    return;
  }
  tangents_.emplace_back(level, std::move(tangent));
  const auto registry = std::ranges::find(tangents_of_levels, level, &OfLevel::level);
  if (registry != tangents_of_levels.end()) registry->add(*this);
}

void Tangents::remove(uint64_t level) noexcept {
  const auto found = std::ranges::find(tangents_, level, [](const auto& each) { return each.first; });
  if (found == tangents_.end()) return;
  const Tensor kept = std::move(found->second);  // freed last: it may lead here
  tangents_.erase(found);
}

ForwardLevel::ForwardLevel() : index_(active_forward_levels) {
  static std::atomic<uint64_t> next = 1;
  registerForwardKernel();
  const uint64_t level = next.fetch_add(1, std::memory_order_relaxed);
  levels.insert(levels.begin() + static_cast<ptrdiff_t>(index_), level);
  tangents_of_levels.emplace_back(level);
  live_levels = levels.size();
  activate(index_ + 1);
}

ForwardLevel::~ForwardLevel() {
  const uint64_t level = levels[index_];
  levels.erase(levels.begin() + static_cast<ptrdiff_t>(index_));
  live_levels = levels.size();
  activate(index_);
  const auto registry = std::ranges::find(tangents_of_levels, level, &OfLevel::level);
  const std::vector<IntrusivePtr<Tangents>> ended = registry->takeAll();
  tangents_of_levels.erase(registry);
  for (const IntrusivePtr<Tangents>& each : ended) each->remove(level);
}

void ForwardLevel::setTangent(const Tensor& tensor, const Tensor& tangent) const {
  BOXCAR_CHECK(tensor.is_floating_point() || tensor.is_complex(),
               "expected a primal of floating point or complex dtype, but got {}", dtypeName(tensor.scalar_type()));
  BOXCAR_CHECK(std::ranges::equal(tensor.sizes(), tangent.sizes()),
               "a tangent must have the shape of its primal, {}, not {}", meta::listOf(tensor.sizes()),
               meta::listOf(tangent.sizes()));
  if (isZeroTensor(tangent)) return forget(tensor);
  const OuterForwardLevels outer(index_);
  autograd::setTangent(tensor, levels[index_], boxcar::clone(tangent));
}

Tensor ForwardLevel::makeDual(const Tensor& primal, const Tensor& tangent) const {
  const Tensor dual = [&] {
    const OuterForwardLevels outer(index_);
    return boxcar::alias(primal);
  }();
  setTangent(dual, tangent);
  return dual;
}

Tensor ForwardLevel::tangentOf(const Tensor& tensor) const {
  const OuterForwardLevels outer(index_);
  return autograd::tangentOf(tensor, levels[index_]);
}

void ForwardLevel::forget(const Tensor& tensor) const {
  if (Tangents* const tangents = tangentsOf(*tensor.unsafeGetTensorImpl())) tangents->set(levels[index_], {});
}

std::span<const uint64_t> forwardLevels() noexcept { return std::span(levels).first(active_forward_levels); }

OuterForwardLevels::OuterForwardLevels(size_t count) noexcept : before_(active_forward_levels) { activate(count); }
OuterForwardLevels::~OuterForwardLevels() { activate(before_); }

bool hasTangent(const Tensor& tensor, uint64_t level) noexcept {
  if (!tensor.defined()) return false;
  const TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  const Tangents* const own = tangentsOf(impl);
  if (own != nullptr && own->has(level)) return true;
  const Tangents* const of_base = impl.base() == nullptr ? nullptr : tangentsOf(*impl.base());
  return of_base != nullptr && of_base->has(level);
}

bool hasTangent(const Tensor& tensor) noexcept {
  return std::ranges::any_of(forwardLevels(), [&](uint64_t level) { return hasTangent(tensor, level); });
}

Tensor tangentOf(const Tensor& tensor, uint64_t level) {
  if (!tensor.defined()) return {};
  const TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (Tensor own = ownTangent(impl, level); own.defined()) {
    BOXCAR_CHECK(std::ranges::equal(own.sizes(), tensor.sizes()),
                 "a tensor that had a tangent was given other sizes: {}, not {}. Resize a detach()ed tensor",
                 meta::listOf(tensor.sizes()), meta::listOf(own.sizes()));
    return own;
  }
  TensorImpl* const base = impl.base();
  if (base == nullptr) return {};
  const Tensor of_base = ownTangent(*base, level);
  if (!of_base.defined()) return {};
  // The base got its tangent after this view of it was made.
  BOXCAR_CHECK(toRealValueType(tensor.scalar_type()) == toRealValueType(base->scalar_type()),
               "the tangent of a view of dtype {} of a tensor of dtype {} is not known, because the view was made "
               "before the tensor had a tangent. Make the view again",
               dtypeName(tensor.scalar_type()), dtypeName(base->scalar_type()));
  return partLike(of_base, base->storage_offset(), tensor.sizes(), tensor.strides(), tensor.storage_offset(),
                  tensor.is_complex(), tensor.key_set() & math_bits_ks);
}

void setTangent(const Tensor& tensor, uint64_t level, const Tensor& tangent) {
  findOrMakeTangents(tensor).set(level, fitted(tangent, tensor));
}

Tensor writableTangent(const Tensor& tensor, uint64_t level) {
  if (Tensor found = tangentOf(tensor, level); found.defined()) return found;
  TensorImpl* const base = tensor.unsafeGetTensorImpl()->base();
  const Tensor owner = base == nullptr ? tensor : Tensor(IntrusivePtr<TensorImpl>::share(base));
  findOrMakeTangents(owner).set(level, zerosWithLayoutOf(owner));
  return tangentOf(tensor, level);
}

void writeTangent(const Tensor& tensor, uint64_t level, const Tensor& tangent) {
  if (!hasTangent(tensor, level) && tensor.unsafeGetTensorImpl()->base() == nullptr) {
    return setTangent(tensor, level, tangent);
  }
  Tensor written = writableTangent(tensor, level);
  boxcar::copy_(written, tangent.is_complex() && !tensor.is_complex() ? boxcar::real(tangent) : tangent);
}

Tensor withoutHistory(const Tensor& tensor) {
  Tensor copy = tensor.shallowCopy();
  // A call's own result gets its tangents after the call, while its levels are not active.
  if (live_levels == 0) [[likely]]
    return copy;
  // A view's tangents may be its base's, which the copy does not know.
  for (const uint64_t level : forwardLevels()) {
    if (!ownTangent(*tensor.unsafeGetTensorImpl(), level).defined() && hasTangent(tensor, level)) {
      findOrMakeTangents(tensor).set(level, tangentOf(tensor, level));
    }
  }
  findOrMakeTangents(tensor);
  AutogradMeta::findOrMake(copy).tangents = AutogradMeta::find(tensor)->tangents;
  return copy;
}

Tensor cloneWithTangents(const Tensor& tensor) {
  const OuterForwardLevels all(live_levels);
  return boxcar::clone(tensor);
}

std::vector<Tensor> tangentsByTransposition(Node& node, std::span<const Tensor> outputs,
                                            std::span<const Tensor> tangents) {
  const auto isRecorded = [](const Tensor& tensor) { return tensor.defined() && tensor.requires_grad(); };
  const bool is_recorded =
      GradMode::is_enabled() && (std::ranges::any_of(outputs, isRecorded) || std::ranges::any_of(tangents, isRecorded));
  const InferenceMode inference(false);
  const AutoGradMode mode(true);
  Gradients weights;  // the products are linear in them
  for (const Tensor& output : outputs) {
    const bool has_tangent = canRequireGrad(output);
    weights.push_back(has_tangent ? boxcar::zeros_like(output) : Tensor());
    if (has_tangent) weights.back().set_requires_grad(true);
  }
  const Gradients products = node.apply(weights);
  GraphTask task({.keep_graph = is_recorded, .create_graph = is_recorded, .accumulate = false});
  bool is_empty = true;
  for (size_t i = 0; i < tangents.size(); ++i) {
    const Tensor& product = products[i];
    if (!tangents[i].defined() || !product.defined() || !product.requires_grad()) continue;
    // What would be summed to the shape of the input is expanded from it.
    Tensor root = boxcar::expand(tangents[i], product.sizes());
    if (root.scalar_type() != product.scalar_type()) root = boxcar::to(root, product.scalar_type());
    task.addRoot(gradientEdge(product), root);
    is_empty = false;
  }
  std::vector<Tensor> results(outputs.size());
  if (is_empty) return results;
  std::vector<size_t> captured;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!weights[i].defined()) continue;
    captured.push_back(i);
    task.capture(gradientEdge(weights[i]));
  }
  task.run();
  for (size_t k = 0; k < captured.size(); ++k) results[captured[k]] = task.captured(k);
  return results;
}

}  // namespace boxcar::autograd
