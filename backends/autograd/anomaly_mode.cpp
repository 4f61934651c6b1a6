#include <boxcar/backends/autograd/anomaly_mode.h>
#include <boxcar/dispatcher/call/call_site.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/dispatcher/call/record_function.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

namespace boxcar::autograd {
namespace {

// What a thread knows while the mode is on.
struct State {
  uint32_t guards = 0;
  bool checks_nan = false;
  CallbackHandle callback = 0;
  std::unordered_map<const StorageImpl*, std::string> writers;
};

State& state() {
  static thread_local State known;
  return known;
}

constinit thread_local bool is_on = false;

std::string currentCall(std::string_view op) {
  const std::optional<CallSite> site = currentCallSite();
  return site.has_value() ? fmt::format("{} at {}: `{}`", op, toString(*site), site->text) : std::string(op);
}

void noteWrites(const OperatorHandle& op, std::span<const IValue> inputs) {
  const auto& arguments = op.schema().arguments();
  if (!op.schema().is_mutable() || inputs.size() != arguments.size()) return;
  const auto note = [&](const Tensor& tensor) {
    if (tensor.defined()) state().writers[tensor.storage().get()] = currentCall(op.operator_name().name);
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_write()) continue;
    if (inputs[i].isTensor()) {
      note(inputs[i].toTensor());
    } else if (inputs[i].isTensorList()) {
      const List<Tensor> tensors = inputs[i].toTensorList();
      for (size_t k = 0; k < tensors.size(); ++k) note(tensors.get(k));
    }
  }
}

}  // namespace

bool AnomalyMode::is_enabled() noexcept { return is_on; }
bool AnomalyMode::should_check_nan() noexcept { return is_on && state().checks_nan; }

DetectAnomalyGuard::DetectAnomalyGuard(bool check_nan) : checked_nan_before_(state().checks_nan) {
  State& mine = state();
  if (mine.guards == 0) {
    mine.callback = addThreadLocalCallback(
        RecordFunctionCallback([](const RecordFunction& call) -> std::unique_ptr<ObserverContext> {
          noteWrites(*Dispatcher::singleton().findSchema(*call.operator_name()), call.inputs());
          return nullptr;
        })
            .needsInputs(true)
            .scopes({RecordScope::FUNCTION}));
  }
  ++mine.guards;
  mine.checks_nan = check_nan;
  is_on = true;
}

DetectAnomalyGuard::~DetectAnomalyGuard() {
  State& mine = state();
  mine.checks_nan = checked_nan_before_;
  if (--mine.guards > 0) return;
  removeCallback(mine.callback);
  mine.writers.clear();
  is_on = false;
}

void rememberCall(Node& node, std::string_view op) {
  if (is_on) [[unlikely]]
    node.findOrMakeHooks().call = currentCall(op);
}

std::string callOf(const Node& node) { return node.hooks() == nullptr ? std::string() : node.hooks()->call; }

std::string writerOf(const StorageImpl& storage) {
  const auto& writers = state().writers;
  const auto found = writers.find(&storage);
  return found == writers.end() ? std::string() : found->second;
}

void checkNan(const Node& node, const Gradients& gradients) {
  const AutoGradMode mode(false);
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Tensor& gradient = gradients[i];
    if (!gradient.defined() || !(gradient.is_floating_point() || gradient.is_complex())) continue;
    BOXCAR_CHECK(!boxcar::item(boxcar::any(boxcar::isnan(gradient))).toBool(),
                 "Function '{}' returned nan values in its {}th output.", node.name(), i);
  }
}

}  // namespace boxcar::autograd
