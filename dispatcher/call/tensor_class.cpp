#include <boxcar/dispatcher/call/tensor_class.h>
#include <boxcar/ivalue/value_tensors.h>
#include <fmt/format.h>
#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <atomic>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace boxcar {
namespace {

template <class Visit>
void visitArguments(const OperatorHandle& op, const Stack& stack, const Visit& visit) {
  const size_t count = op.schema().arguments().size();
  for (size_t i = 0; i < count; ++i) {
    visitTensors(peek(stack, i, count), [&](const Tensor& tensor) {
      if (TensorClass* const found = tensorClassOf(tensor)) visit(tensor, *found);
    });
  }
}

// One tensor's for each class in C++, from left to right. They are held: an answer may take the arguments off the
// stack.
using Asked = boost::container::small_vector<IntrusivePtr<TensorClass>, 4>;

Asked classesOf(const OperatorHandle& op, const Stack& stack) {
  Asked asked;
  visitArguments(op, stack, [&](const Tensor&, TensorClass& found) {
    const auto is_same = [&](const auto& other) { return typeid(*other) == typeid(found); };
    if (std::ranges::none_of(asked, is_same)) asked.push_back(IntrusivePtr<TensorClass>::share(&found));
  });
  return asked;
}

[[noreturn]] void throwUnanswered(const OperatorHandle& op, const Stack& stack) {
  std::vector<std::string> names;
  visitArguments(op, stack, [&](const Tensor& tensor, const TensorClass& found) {
    std::string name = found.nameOf(tensor);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  });
  throw UnansweredCall(
      fmt::format("no class of tensors answers {}: {} left the call to others; answer it in one of "
                  "them, or call it with plain tensors",
                  op.operator_name(), fmt::join(names, ", ")));
}

}  // namespace

void setTensorClass(const Tensor& tensor, IntrusivePtr<TensorClass> tensor_class) {
  BOXCAR_CHECK(tensor.defined(), "setTensorClass(): the tensor is undefined; give a class to one that has a dtype");
  detail::has_tensor_classes.store(true, std::memory_order_release);
  TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  impl.set_metadata(std::move(tensor_class));
  impl.set_key_set(impl.key_set().add(DispatchKey::Python));
}

TensorClass* tensorClassOf(const Tensor& tensor) noexcept {
  const TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (!impl.key_set().has_any(DispatchKeySet(DispatchKey::Python))) return nullptr;
  // Only a TensorClass has this kind.
  return static_cast<TensorClass*>(impl.metadata(TensorMetadata::Kind::kBinding));
}

namespace detail {

constinit std::atomic<bool> has_tensor_classes{false};

void callTensorClasses(const OperatorHandle& op, DispatchKeySet below, Stack& stack) {
  // Those of prim are what attributes of tensors are made of, such as requires_grad.
  if (op.operator_name().name.starts_with("prim::")) return op.redispatchBoxed(below, stack);
  const Asked asked = classesOf(op, stack);
  if (asked.empty()) return op.redispatchBoxed(below, stack);
  for (const IntrusivePtr<TensorClass>& each : asked) {
    if (each->answer(op, below, stack)) return;
  }
  throwUnanswered(op, stack);
}

}  // namespace detail
}  // namespace boxcar
