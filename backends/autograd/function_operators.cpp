#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/function.h>
#include <boxcar/backends/autograd/function_call.h>
#include <boxcar/backends/autograd/graph_task.h>
#include <boxcar/backends/autograd/history.h>
#include <boxcar/backends/autograd/own_derivative.h>
#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/call/default_device.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/default_generators.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/parse_schema.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Operators that take functions: hooks, derivatives of one's own, checkpoint.

namespace boxcar::autograd {
namespace {

// ---- Hooks ----

void checkHook(const FunctionSchema& schema) {
  const std::vector<Argument>& arguments = schema.arguments();
  const bool takes_one =
      !arguments.empty() && std::all_of(arguments.begin() + 1, arguments.end(),
                                        [](const Argument& a) { return a.default_value().has_value(); });
  const bool fits = takes_one && mayTake(arguments[0].type(), Type::tensor()) &&
                    (schema.returns().empty() ||
                     (schema.returns().size() == 1 && mayTake(schema.returns()[0].type(), Type::tensor())));
  BOXCAR_CHECK(
      fits,
      "register_hook(): a hook takes the gradient alone, a Tensor, and returns another Tensor, None or nothing\n  {}",
      schema);
}

struct RegisterHook {
  static constexpr WriteCount kWriteCount = WriteCount::kNever;
  FunctionPtr operator()(Tensor& self, const FunctionPtr& hook) const {
    meta::checkDefined(self);
    checkHook(hook->schema());
    const HookHandle handle = registerHook(self, [hook](const Tensor& grad) {
      const IValue args[] = {grad};
      const IValue result = callFunction("register_hook()", *hook, args);
      BOXCAR_CHECK(result.isNone() || result.isTensor(), "register_hook(): the hook {} must return a Tensor or None",
                   hook->text());
      return result.isNone() ? Tensor() : result.toTensor();
    });
    static const FunctionSchema remove = parseSchema("remove() -> ()");
    return makeFunction(remove, [handle](Stack&) { handle.remove(); });
  }
};

// ---- apply ----

IValue apply(const FunctionPtr& forward, const FunctionPtr& backward, const IValue& args) {
  constexpr std::string_view kName = "autograd::apply";
  const FunctionSchema& schema = forward->schema();
  const auto call = [&](const std::vector<IValue>& given) -> std::vector<IValue> {
    const IValue result = callFunction(kName, *forward, given);
    if (schema.returns().empty()) return {};
    return schema.returns().size() == 1 ? std::vector{result} : elementsOf(result);
  };
  std::vector<IValue> results = callWithDerivative(kName, schema, call, backward, argumentsFor(*forward, args));
  if (results.empty()) return {};
  return results.size() == 1 ? std::move(results[0]) : IValue(Tuple(std::move(results)));
}

FunctionPtr registerDerivativeOf(std::string_view op, const FunctionPtr& backward) {
  // Registrations stay when nobody keeps the function that removes them.
  struct Kept {
    std::mutex mutex;
    uint64_t next = 0;  // no number comes twice: a function may remove what was removed
    std::map<uint64_t, std::vector<RegistrationHandleRAII>> handles;
  };
  static auto& kept = *new Kept;  // never destroyed: a function may outlive static objects
  std::vector<RegistrationHandleRAII> handles = registerDerivative(op, backward);
  const std::lock_guard lock(kept.mutex);
  const uint64_t number = kept.next++;
  kept.handles.emplace(number, std::move(handles));
  static const FunctionSchema remove = parseSchema("remove() -> ()");
  return makeFunction(remove, [number](Stack&) {
    const std::lock_guard removing(kept.mutex);
    kept.handles.erase(number);
  });
}

// ---- checkpoint ----

// The positions of the generators that random operators draw from on the CPU and on the devices of some tensors.
class DrawnSoFar final {
 public:
  explicit DrawnSoFar(const variable_list& tensors) {
    add(Device(DeviceType::CPU));
    for (const Tensor& tensor : tensors) {
      if (tensor.defined() && tensor.device().type() != DeviceType::CPU && hasGenerators(tensor.device().type())) {
        add(tensor.device());
      }
    }
  }
  void restore() const {
    for (const auto& [device, state] : states_) {
      const Generator& generator = defaultGenerator(device);
      const std::lock_guard lock(generator.mutex());
      generator.unsafeGetGeneratorImpl()->set_state(state);
    }
  }

 private:
  void add(Device device) {
    if (std::ranges::any_of(states_, [&](const auto& each) { return each.first == device; })) return;
    const Generator& generator = defaultGenerator(device);
    const std::lock_guard lock(generator.mutex());
    states_.emplace_back(device, generator.unsafeGetGeneratorImpl()->state());
  }

  std::vector<std::pair<Device, GeneratorState>> states_;
};

// Lets generators go on where they were before.
class DrawAgain final {
 public:
  DrawAgain(const std::optional<DrawnSoFar>& from, const variable_list& tensors) {
    if (!from.has_value()) return;
    before_.emplace(tensors);
    from->restore();
  }
  ~DrawAgain() {
    if (before_.has_value()) before_->restore();
  }
  DrawAgain(const DrawAgain&) = delete;
  DrawAgain& operator=(const DrawAgain&) = delete;

 private:
  std::optional<DrawnSoFar> before_;
};

// Returns [tensors] as a function that is differentiated by itself takes them: those that require grad as leaves, or as
// views, if the derivative is differentiated, too.
variable_list separated(const variable_list& tensors, bool is_recorded) {
  variable_list inputs;
  for (const Tensor& tensor : tensors) {
    if (!tensor.defined() || !tensor.requires_grad()) {
      inputs.push_back(tensor);
    } else {
      inputs.push_back(is_recorded ? boxcar::alias(tensor) : withoutHistory(tensor));
      if (!is_recorded) setRequiresGrad(inputs.back());
    }
  }
  return inputs;
}

// Returns where the gradients of [outputs] leave the graph that was made since [begin], if not to [inputs]: the tensors
// that a function uses besides its arguments.
std::vector<Edge> capturedEdges(const variable_list& outputs, const variable_list& inputs, const Node& begin) {
  std::vector<Edge> captured;
  std::set<std::pair<const Object*, uint32_t>> seen;
  std::vector<Edge> left;
  for (const Tensor& output : outputs) {
    if (output.defined()) left.push_back(gradientEdge(output));
  }
  while (!left.empty()) {
    const Edge edge = std::move(left.back());
    left.pop_back();
    if (!edge.is_valid()) continue;
    const Node* const node = edge.node();
    const bool is_inner = node != nullptr && node->sequence_nr() > begin.sequence_nr();
    const Object* const target = node != nullptr ? static_cast<const Object*>(node) : edge.leaf();
    if (!seen.emplace(target, is_inner ? 0 : edge.output_nr()).second) continue;
    if (is_inner) {
      left.insert(left.end(), node->edges().begin(), node->edges().end());
    } else if (std::ranges::none_of(inputs,
                                    [&](const Tensor& input) { return input.unsafeGetTensorImpl() == target; })) {
      captured.push_back(edge);
    }
  }
  return captured;
}

// A call that is made again when its derivative is asked for.
struct Checkpoint {
  FunctionPtr function;
  std::vector<IValue> args;  // without their tensors
  std::optional<DrawnSoFar> drawn;
  std::vector<Edge> captured;
  std::optional<Device> default_device = DefaultDevice::get();

  // Returns the gradients of the arguments' tensors, and of what was captured.
  variable_list operator()(AutogradContext* context, const variable_list& grads) const {
    const variable_list saved = context->get_saved_variables();
    const bool is_recorded = GradMode::is_enabled();
    const variable_list inputs = separated(saved, is_recorded);
    variable_list outputs;
    {
      const AutoGradMode mode(true);
      const DrawAgain again(drawn, saved);
      const DefaultDeviceGuard device(default_device);
      const IValue result = callFunction("autograd::checkpoint", *function, withTensors(args, inputs));
      outputs = tensorsIn({&result, 1});
    }
    BOXCAR_CHECK(outputs.size() == grads.size(),
                 "autograd::checkpoint: {} returned {} tensors when it was called again, and {} before",
                 function->text(), outputs.size(), grads.size());
    GraphTask task(
        {.keep_graph = is_recorded, .create_graph = is_recorded, .accumulate = false, .ends_at_captures = true});
    for (size_t i = 0; i < outputs.size(); ++i) {
      BOXCAR_CHECK(
          !outputs[i].defined() || !grads[i].defined() || std::ranges::equal(outputs[i].sizes(), grads[i].sizes()),
          "autograd::checkpoint: result {} of {} had the shape {} when it was called again, and {} before; it "
          "must do the same both times",
          i, function->text(), meta::listOf(outputs[i].sizes()), meta::listOf(grads[i].sizes()));
      if (!outputs[i].defined() || !outputs[i].requires_grad() || !grads[i].defined()) continue;
      task.addRoot(gradientEdge(outputs[i]), grads[i]);
    }
    std::vector<std::optional<size_t>> numbers;
    for (const Tensor& input : inputs) {
      const bool is_wanted = input.defined() && input.requires_grad();
      numbers.push_back(is_wanted ? std::optional(task.capture(gradientEdge(input))) : std::nullopt);
    }
    for (const Edge& edge : captured) numbers.emplace_back(task.capture(edge));
    task.run();
    variable_list gradients;
    for (const auto& number : numbers) gradients.push_back(number.has_value() ? task.captured(*number) : Tensor());
    return gradients;
  }
};

IValue checkpoint(const FunctionPtr& function, const IValue& args, bool preserve_rng_state) {
  const std::vector<IValue> given = argumentsFor(*function, args);
  if (!GradMode::is_enabled()) return callFunction("autograd::checkpoint", *function, given);
  variable_list tensors = tensorsIn(given);
  // What tensors inside func::vmap() save is saved by those within, which a second call would not find.
  const auto is_batched = [](const Tensor& tensor) { return tensor.key_set().has_any(functorch_batched_ks); };
  if (std::ranges::any_of(tensors, is_batched)) return callFunction("autograd::checkpoint", *function, given);
  Checkpoint again{function, withTensors(given, variable_list(tensors.size())), std::nullopt, {}};
  if (preserve_rng_state) again.drawn.emplace(tensors);
  // Recorded only to see which tensors it uses; what this graph saved goes at once.
  const auto begin = makeIntrusive<FunctionNode>("", nullptr);
  const variable_list inputs = separated(tensors, /*is_recorded=*/false);
  IValue result = callFunction("autograd::checkpoint", *function, withTensors(given, inputs));
  variable_list outputs = tensorsIn({&result, 1});
  again.captured = capturedEdges(outputs, inputs, *begin);
  variable_list constant;
  for (Tensor& output : outputs) {
    if (!output.defined()) continue;
    if (output.requires_grad()) {
      output = withoutHistory(output);
    } else {
      constant.push_back(output);
    }
  }
  const std::vector<Edge> captured = again.captured;
  const auto node = makeIntrusive<FunctionNode>("CheckpointBackward", std::move(again));
  node->leaveTangents();
  node->addArgument(tensors);
  for (const Edge& edge : captured) node->addCaptured(edge);
  node->context().save_for_backward(std::move(tensors));
  node->context().set_materialize_grads(false);
  node->context().mark_non_differentiable(std::move(constant));
  return withTensors({&result, 1}, node->finish(std::move(outputs)))[0];
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) { m.impl("register_hook", RegisterHook()); }

BOXCAR_LIBRARY_IMPL(autograd, CompositeImplicitAutograd, m) {
  m.impl("apply", BOXCAR_FN(apply));
  m.impl("register_derivative", BOXCAR_FN(registerDerivativeOf));
  m.impl("checkpoint", BOXCAR_FN(checkpoint));
}

}  // namespace boxcar::autograd
