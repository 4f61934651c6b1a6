#include <boxcar/backends/autograd/node.h>
#include <boxcar/ivalue/cached_memory.h>

namespace boxcar::autograd {
namespace {

constinit thread_local uint64_t next_sequence_nr = 0;

// Nodes of this thread whose last reference is gone. Null unless a node is being freed.
constinit thread_local std::vector<Node*>* doomed = nullptr;

}  // namespace

Edge::Edge(IntrusivePtr<Node> node, uint32_t output_nr) noexcept : target_(std::move(node)), output_nr_(output_nr) {}

Edge::Edge(const Tensor& leaf) noexcept
    : target_(IntrusivePtr<Object>::share(leaf.unsafeGetTensorImpl())), is_leaf_(true) {}

Node::Node() noexcept : sequence_nr_(next_sequence_nr++) {}

Node::~Node() = default;

uint32_t Node::addOutput(const Tensor& result) {
  output_shapes_.emplace_back(result);
  return static_cast<uint32_t>(output_shapes_.size() - 1);
}

Node::Hooks& Node::findOrMakeHooks() {
  if (hooks_ == nullptr) hooks_ = std::make_unique<Hooks>();
  return *hooks_;
}

void Node::dispose() noexcept {
  if (!mayDie()) return;
  if (doomed != nullptr) {
    doomed->push_back(this);
    return;
  }
  std::vector<Node*> waiting;
  doomed = &waiting;
  delete this;
  while (!waiting.empty()) {
    const Node* const next = waiting.back();
    waiting.pop_back();
    delete next;
  }
  doomed = nullptr;
}

void* Node::operator new(size_t bytes) { return allocateCached(bytes); }
void Node::operator delete(void* memory, size_t bytes) noexcept { freeCached(memory, bytes); }

}  // namespace boxcar::autograd
