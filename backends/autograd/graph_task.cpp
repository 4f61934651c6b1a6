#include <boxcar/backends/autograd/anomaly_mode.h>
#include <boxcar/backends/autograd/graph_task.h>
#include <boxcar/backends/autograd/history.h>
#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/stop_request.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <span>
#include <utility>

namespace boxcar::autograd {
namespace {

std::atomic<uint64_t> next_pass = 1;

// Passes run inside each other if a derivative starts one: each takes some of the thread's stack.
class NestedPass final {
 public:
  NestedPass() {
    BOXCAR_CHECK(depth < kMost, "more than {} backward passes run inside each other: does the recursion end?", kMost);
    ++depth;
  }
  ~NestedPass() { --depth; }
  NestedPass(const NestedPass&) = delete;
  NestedPass& operator=(const NestedPass&) = delete;

 private:
  static constexpr uint32_t kMost = 400;
  static constinit thread_local uint32_t depth;
};
constinit thread_local uint32_t NestedPass::depth = 0;

// Whether nobody else can see [gradient] or its memory.
bool isUnshared(const Tensor& gradient) {
  return gradient.unsafeGetTensorImpl()->useCount() == 1 && gradient.storage()->useCount() == 1;
}

// Makes a view of a whole tensor that nobody else holds, such as the gradient of a turned weight, a tensor of its own.
void takeFromBase(const Tensor& gradient) {
  TensorImpl* const view = gradient.unsafeGetTensorImpl();
  const TensorImpl* const base = view->base();
  if (base == nullptr || view->useCount() != 1 || base->useCount() != 1 || gradient.storage()->useCount() != 2) return;
  if (gradient.nbytes() == gradient.storage()->nbytes()) view->clear_base();
}

Tensor fittedTo(Tensor gradient, std::span<const int64_t> sizes, ScalarType dtype, Device device,
                const std::string& from, size_t input) {
  if (!std::ranges::equal(gradient.sizes(), sizes)) {
    BOXCAR_CHECK(meta::isExpandable(sizes, gradient.sizes()),
                 "Function {} returned an invalid gradient at index {} - got [{}] but expected shape compatible with "
                 "[{}]",
                 from, input, fmt::join(gradient.sizes(), ", "), fmt::join(sizes, ", "));
    gradient = boxcar::sum_to_size(gradient, sizes);
  }
  if (gradient.is_complex() && !isComplexType(dtype)) gradient = boxcar::real(gradient);
  if (gradient.device() != device) return boxcar::to(gradient, device, dtype);
  return gradient.scalar_type() == dtype ? gradient : boxcar::to(gradient, dtype);
}

// Returns old + gradient; adds in place where nobody else sees [old].
Tensor sum(Tensor old, const Tensor& gradient) {
  const bool is_batched = gradient.key_set().has(DispatchKey::FuncTorchBatched);  // inside func::vmap()
  if (!GradMode::is_enabled() && isUnshared(old) && old.is_contiguous() && !is_batched && !isLazy(old)) {
    boxcar::add_(old, gradient);
    return old;
  }
  return boxcar::add(old, gradient);
}

void runHook(const TensorHook& hook, Tensor& gradient) {
  if (!gradient.defined()) return;
  const Tensor changed = hook(gradient);
  if (!changed.defined()) return;
  BOXCAR_CHECK(changed.scalar_type() == gradient.scalar_type(),
               "a hook has changed the dtype of the gradient from {} to {}", dtypeName(gradient.scalar_type()),
               dtypeName(changed.scalar_type()));
  BOXCAR_CHECK(changed.device() == gradient.device(), "a hook has changed the device of the gradient from {} to {}",
               gradient.device(), changed.device());
  BOXCAR_CHECK(std::ranges::equal(changed.sizes(), gradient.sizes()),
               "a hook has changed the size of the gradient from [{}] to [{}]", fmt::join(gradient.sizes(), ", "),
               fmt::join(changed.sizes(), ", "));
  gradient = changed;
}

// Returns a copy of [gradient] in the layout of [tensor], or in C's order if that has gaps or overlaps.
Tensor copiedFor(const Tensor& tensor, const Tensor& gradient) {
  if (!meta::isDense(tensor.sizes(), tensor.strides())) return boxcar::clone(gradient, MemoryFormat::Contiguous);
  if (std::ranges::equal(gradient.strides(), tensor.strides())) return boxcar::clone(gradient);
  Tensor copy =
      boxcar::empty_strided(tensor.sizes(), tensor.strides(), gradient.scalar_type(), std::nullopt, gradient.device());
  return boxcar::copy_(copy, gradient);
}

void accumulate(TensorImpl& leaf, Tensor gradient) {
  const Tensor tensor(IntrusivePtr<TensorImpl>::share(&leaf));
  AutogradMeta& meta = AutogradMeta::findOrMake(tensor);
  const std::lock_guard lock(mutexOf(leaf));
  // What is kept is what users read and write.
  if (isLazy(gradient)) gradient = boxcar::clone(gradient);
  if (!meta.grad.defined()) {
    if (!GradMode::is_enabled() && !gradient.requires_grad()) takeFromBase(gradient);
    const bool has_own_memory = !GradMode::is_enabled() && isUnshared(gradient) && !gradient.requires_grad() &&
                                std::ranges::equal(gradient.strides(), leaf.strides());
    meta.grad = has_own_memory ? std::move(gradient) : copiedFor(tensor, gradient);
  } else if (GradMode::is_enabled()) {
    meta.grad = boxcar::add(meta.grad, gradient);
  } else {
    // Everyone who holds the gradient sees it grow.
    boxcar::add_(meta.grad, gradient);
  }
}

}  // namespace

GraphTask::GraphTask(Options options) noexcept : options_(options), pass_(next_pass.fetch_add(1)) {}

GraphTask::~GraphTask() {
  for (const Visit& visit : visits_) {
    auto& claiming_pass =
        visit.is_leaf ? AutogradMeta::find(visit.leaf())->claiming_pass_ : visit.node().claiming_pass_;
    uint64_t mine = pass_;
    claiming_pass.compare_exchange_strong(mine, 0, std::memory_order_release, std::memory_order_relaxed);
  }
}

uint32_t GraphTask::addVisit(const Edge& edge) {
  const auto number = static_cast<uint32_t>(visits_.size());
  Visit& visit = visits_.emplace_back();
  visit.is_leaf = edge.leaf() != nullptr;
  if (visit.is_leaf) {
    visit.target = IntrusivePtr<Object>::share(edge.leaf());
    visit.priority = std::numeric_limits<uint64_t>::max();
    visit.buffers = 1;
  } else {
    visit.target = IntrusivePtr<Object>::share(edge.node());
    visit.priority = edge.node()->sequence_nr();
    visit.buffers = static_cast<uint32_t>(edge.node()->outputShapes().size());
  }
  visit.first_buffer = static_cast<uint32_t>(buffers_.size());
  buffers_.resize(buffers_.size() + visit.buffers);
  return number;
}

uint32_t GraphTask::visitOf(std::atomic<uint64_t>& claiming_pass, uint32_t& number, const Edge& edge) {
  uint64_t claimed = claiming_pass.load(std::memory_order_acquire);
  if (claimed == pass_) return number;
  const Object* const target = edge.node() != nullptr ? static_cast<const Object*>(edge.node()) : edge.leaf();
  if (!numbers_.empty()) {
    if (const auto found = numbers_.find(target); found != numbers_.end()) return found->second;
  }
  const uint32_t added = addVisit(edge);
  if (claimed == 0 && claiming_pass.compare_exchange_strong(claimed, pass_, std::memory_order_acq_rel)) {
    number = added;
  } else {
    numbers_.emplace(target, added);
  }
  return added;
}

uint32_t GraphTask::visitOf(const Edge& edge) {
  if (Node* const node = edge.node()) return visitOf(node->claiming_pass_, node->number_in_pass_, edge);
  AutogradMeta& meta = AutogradMeta::findOrMake(Tensor(IntrusivePtr<TensorImpl>::share(edge.leaf())));
  return visitOf(meta.claiming_pass_, meta.number_in_pass_, edge);
}

void GraphTask::addRoot(const Edge& root, const Tensor& gradient) {
  const uint32_t visit = visitOf(root);
  roots_.push_back(visit);
  Tensor& buffer = buffers_[visits_[visit].first_buffer + root.output_nr()];
  buffer = buffer.defined() ? boxcar::add(buffer, gradient) : gradient;
}

size_t GraphTask::capture(const Edge& edge) {
  const uint32_t visit = visitOf(edge);
  visits_[visit].is_end |= options_.ends_at_captures;
  captures_.push_back({visit, edge.output_nr(), false, {}});
  return captures_.size() - 1;
}

void GraphTask::accumulateOnlyIn(const Edge& leaf) { captures_.push_back({visitOf(leaf), 0, true, {}}); }

void GraphTask::countDependencies() {
  // Visits that were added but not expanded yet are those from [next] on.
  for (uint32_t next = 0; next < visits_.size(); ++next) {
    if (visits_[next].is_leaf || visits_[next].is_end) continue;
    const Node& node = visits_[next].node();
    for (const Edge& edge : node.edges()) {
      if (edge.is_valid()) ++visits_[visitOf(edge)].dependencies;
    }
  }
}

void GraphTask::findNeeded() {
  if (captures_.empty()) {
    for (Visit& visit : visits_) visit.is_needed = true;
    return;
  }
  // In an order in which each node comes before those that it gives gradients to; then backward.
  std::vector<uint32_t> left;
  for (const Visit& visit : visits_) left.push_back(visit.dependencies);
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < visits_.size(); ++i) {
    if (left[i] == 0) order.push_back(i);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    if (visits_[order[i]].is_leaf || visits_[order[i]].is_end) continue;
    for (const Edge& edge : visits_[order[i]].node().edges()) {
      if (!edge.is_valid()) continue;
      const uint32_t to = visitOf(edge);
      if (--left[to] == 0) order.push_back(to);
    }
  }
  for (const Capture& capture : captures_) visits_[capture.visit].is_needed = true;
  for (size_t i = order.size(); i-- > 0;) {
    Visit& visit = visits_[order[i]];
    if (visit.is_leaf || visit.is_end || visit.is_needed) continue;
    visit.is_needed = std::ranges::any_of(
        visit.node().edges(), [&](const Edge& edge) { return edge.is_valid() && visits_[visitOf(edge)].is_needed; });
  }
}

void GraphTask::markReady(uint32_t visit) {
  ready_.push_back({visits_[visit].priority, visit});
  std::push_heap(ready_.begin(), ready_.end());
}

void GraphTask::give(uint32_t visit, uint32_t output_nr, Tensor gradient) {
  Tensor& buffer = buffers_[visits_[visit].first_buffer + output_nr];
  buffer = buffer.defined() ? sum(std::move(buffer), gradient) : std::move(gradient);
}

Tensor GraphTask::fitted(Tensor gradient, uint32_t number, uint32_t output_nr, const Node& from, size_t input) const {
  const Visit& visit = visits_[number];
  if (visit.is_leaf) {
    const TensorImpl& leaf = visit.leaf();
    if (std::ranges::equal(gradient.sizes(), leaf.sizes()) && gradient.scalar_type() == leaf.scalar_type() &&
        gradient.device() == leaf.device()) {
      return gradient;
    }
    return fittedTo(std::move(gradient), leaf.sizes(), leaf.scalar_type(), leaf.device(), from.name(), input);
  }
  const GradientShape& shape = visit.node().outputShapes()[output_nr];
  if (std::ranges::equal(gradient.sizes(), shape.sizes) && gradient.scalar_type() == shape.dtype &&
      gradient.device() == shape.device) {
    return gradient;
  }
  return fittedTo(std::move(gradient), shape.sizes, shape.dtype, shape.device, from.name(), input);
}

void GraphTask::passOn(Node& node, Gradients gradients) {
  BOXCAR_CHECK(gradients.size() >= node.edges().size(),
               "Function {} returned an incorrect number of gradients (expected {}, got {})", node.name(),
               node.edges().size(), gradients.size());
  for (size_t i = 0; i < node.edges().size(); ++i) {
    const Edge& edge = node.edges()[i];
    if (!edge.is_valid()) continue;
    const uint32_t to = visitOf(edge);
    if (!visits_[to].is_needed) continue;
    if (gradients[i].defined()) {
      give(to, edge.output_nr(), fitted(std::move(gradients[i]), to, edge.output_nr(), node, i));
    }
    if (--visits_[to].dependencies == 0) markReady(to);
  }
}

Gradients GraphTask::applied(Node& node, Gradients gradients) {
  if (node.hooks() == nullptr && !AnomalyMode::is_enabled()) [[likely]]
    return node.apply(std::move(gradients));
  try {
    Gradients results = node.apply(std::move(gradients));
    if (AnomalyMode::should_check_nan()) checkNan(node, results);
    return results;
  } catch (Error& error) {
    if (const std::string call = callOf(node); !call.empty()) {
      error.addContext("in the backward of " + call);
    } else if (AnomalyMode::is_enabled()) {
      error.addContext(fmt::format(
          "in {}, whose line is not known: make the calls before the pass inside of anomaly_mode(), too", node.name()));
    }
    throw;
  }
}

void GraphTask::runNode(uint32_t number) {
  const IntrusivePtr<Object> kept = visits_[number].target;
  Node& node = visits_[number].node();
  Gradients gradients;
  for (uint32_t i = 0; i < visits_[number].buffers; ++i) {
    gradients.push_back(std::move(buffers_[visits_[number].first_buffer + i]));
  }
  Node::Hooks* const hooks = node.hooks();
  if (hooks != nullptr) {
    hooks->results.forEach([&](const Node::Hooks::OfResult& hook) { runHook(hook.run, gradients[hook.output_nr]); });
    for (const auto& [output_nr, tensor] : hooks->retaining) {
      const IntrusivePtr<TensorImpl> held = tensor.lock();
      if (held && gradients[output_nr].defined()) accumulate(*held, gradients[output_nr]);
    }
  }
  bool leads_on = captures_.empty();
  for (Capture& capture : captures_) {
    if (capture.visit == number) capture.gradient = gradients[capture.output_nr];
  }
  if (visits_[number].is_end) return;
  for (size_t i = 0; !leads_on && i < node.edges().size(); ++i) {
    leads_on = node.edges()[i].is_valid() && visits_[visitOf(node.edges()[i])].is_needed;
  }
  if (!leads_on) return;
  if (hooks != nullptr) hooks->pre.forEach([&](const NodePreHook& hook) { hook(gradients); });
  Gradients results;
  if (std::ranges::none_of(gradients, [](const Tensor& gradient) { return gradient.defined(); })) {
    results.resize(node.edges().size());
  } else if (hooks == nullptr || hooks->post.empty()) {
    results = applied(node, std::move(gradients));
  } else {
    results = applied(node, gradients);
    hooks->post.forEach([&](const NodePostHook& hook) { hook(results, gradients); });
  }
  if (!options_.keep_graph) node.freeSaved();
  passOn(node, std::move(results));
}

void GraphTask::runLeaf(uint32_t number) {
  Tensor gradient = std::move(buffers_[visits_[number].first_buffer]);
  AutogradMeta::find(visits_[number].leaf())->hooks.forEach([&](const TensorHook& hook) { runHook(hook, gradient); });
  bool accumulates = options_.accumulate && captures_.empty();
  for (Capture& capture : captures_) {
    if (capture.visit != number) continue;
    accumulates |= capture.accumulates;
    capture.gradient = gradient;
  }
  accumulates &= visits_[number].leaf().requires_grad();  // it may have been switched off since
  if (gradient.defined() && accumulates) accumulate(visits_[number].leaf(), std::move(gradient));
}

void GraphTask::run() {
  const NestedPass nested;
  const AutoGradMode mode(options_.create_graph);
  countDependencies();
  findNeeded();
  std::ranges::sort(roots_);
  const auto repeated = std::ranges::unique(roots_);  // two roots may be one node
  roots_.erase(repeated.begin(), repeated.end());
  for (const uint32_t root : roots_) {
    if (visits_[root].dependencies == 0 && visits_[root].is_needed) markReady(root);
  }
  while (!ready_.empty()) {
    checkStop();
    std::pop_heap(ready_.begin(), ready_.end());
    const uint32_t next = ready_.back().visit;
    ready_.pop_back();
    if (visits_[next].is_leaf) {
      runLeaf(next);
    } else {
      runNode(next);
    }
  }
}

}  // namespace boxcar::autograd
