#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/function.h>
#include <boxcar/backends/autograd/function_call.h>
#include <boxcar/backends/meta/defined.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/default_generators.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/parse_schema.h>

#include <algorithm>
#include <mutex>
#include <string>
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
  BOXCAR_CHECK(takes_one && schema.returns().size() <= 1,
               "register_hook(): a hook takes the gradient alone, and returns another one or nothing\n  {}", schema);
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

bool isTensorType(TypePtr type) {
  if (type->isOptional()) type = type->element();
  return type->kind() == TypeKind::Tensor || (type->isList() && type->element()->kind() == TypeKind::Tensor);
}

// Calls a derivative of one's own.
class OwnDerivative final {
 public:
  OwnDerivative(const FunctionPtr& forward, FunctionPtr backward, std::vector<IValue> args)
      : forward_(forward->schema()), backward_(std::move(backward)), args_(std::move(args)) {
    BOXCAR_CHECK(args_.size() <= forward_.arguments().size(), "autograd::apply: {} takes {} argument{}, not {}\n  {}",
                 forward_.name(), forward_.arguments().size(), forward_.arguments().size() == 1 ? "" : "s",
                 args_.size(), forward_);
    for (const Argument& parameter : backward_->schema().arguments()) parts_.push_back(partOf(parameter));
    for (size_t i = 0; i < args_.size(); ++i) {
      if (isTensorType(forward_.arguments()[i].type())) continue;
      for (const Tensor& tensor : tensorsIn({&args_[i], 1})) {
        BOXCAR_CHECK(!tensor.defined() || !tensor.requires_grad(),
                     "autograd::apply: argument '{}' of {} holds a tensor that requires grad; pass it as Tensor or "
                     "Tensor[], or detach() it\n  {}",
                     forward_.arguments()[i].name(), forward_.name(), forward_);
      }
    }
  }

  // Leaves to the context what the derivative will take.
  void save(AutogradContext& context, const std::vector<IValue>& results) {
    variable_list to_save;
    for (const Part& part : parts_) {
      if (part.what == Part::kArgument) append(to_save, args_[part.index]);
      if (part.what == Part::kResult) append(to_save, results[part.index]);
    }
    context.save_for_backward(std::move(to_save));
    for (size_t i = 0; i < results.size(); ++i) results_.push_back(withoutTensors(results[i]));
    for (IValue& arg : args_) {
      counts_.push_back(isTensorType(forward_.arguments()[counts_.size()].type()) ? tensorsIn({&arg, 1}).size() : 0);
      arg = withoutTensors(arg);
    }
  }

  variable_list operator()(AutogradContext* context, const variable_list& grads) const {
    const variable_list saved = context->get_saved_variables();
    size_t next = 0;
    const auto restored = [&](const IValue& value) {
      const size_t count = tensorsIn({&value, 1}).size();
      next += count;
      return withTensors({&value, 1}, std::span(saved).subspan(next - count, count))[0];
    };
    std::vector<IValue> given;
    for (const Part& part : parts_) {
      switch (part.what) {
        case Part::kGrad: given.emplace_back(grads[0]); break;
        case Part::kGrads: given.emplace_back(List<Tensor>(grads)); break;
        case Part::kArgument: given.push_back(restored(args_[part.index])); break;
        case Part::kResult: given.push_back(restored(results_[part.index])); break;
      }
    }
    return gradientsFrom(callFunction("autograd::apply", *backward_, given));
  }

 private:
  struct Part {
    enum { kGrad, kGrads, kArgument, kResult } what;
    size_t index;
  };

  Part partOf(const Argument& parameter) const {
    const std::string_view name = parameter.name();
    if (name == "grad") return {Part::kGrad, 0};
    if (name == "grads") return {Part::kGrads, 0};
    for (size_t i = 0; i < forward_.returns().size(); ++i) {
      if (forward_.returns()[i].name() == name) return {Part::kResult, i};
    }
    if (const auto index = forward_.argumentIndexWithName(name)) {
      BOXCAR_CHECK(static_cast<size_t>(*index) < args_.size(),
                   "autograd::apply: the derivative {} takes '{}', but the call has no such argument\n  {}",
                   backward_->text(), name, forward_);
      return {Part::kArgument, static_cast<size_t>(*index)};
    }
    BOXCAR_CHECK(name == "result" && !forward_.returns().empty(),
                 "autograd::apply: the derivative {} takes '{}', which is neither 'grad', 'grads', 'result', nor an "
                 "argument or a named result of {}\n  {}",
                 backward_->text(), name, forward_.name(), forward_);
    return {Part::kResult, 0};
  }

  static void append(variable_list& tensors, const IValue& value) {
    for (Tensor& tensor : tensorsIn({&value, 1})) tensors.push_back(std::move(tensor));
  }

  static IValue withoutTensors(const IValue& value) {
    const variable_list none(tensorsIn({&value, 1}).size());
    return withTensors({&value, 1}, none)[0];
  }

  // A gradient for each tensor of the arguments, in order.
  variable_list gradientsFrom(const IValue& returned) const {
    const auto wanted = static_cast<size_t>(std::ranges::count_if(
        std::span(forward_.arguments()).first(args_.size()), [](const Argument& a) { return isTensorType(a.type()); }));
    const bool is_one = wanted == 1 && !returned.isTuple();
    const size_t found = is_one ? 1 : returned.isTuple() ? returned.length() : returned.isNone() ? 0 : 1;
    BOXCAR_CHECK(found == wanted,
                 "autograd::apply: the derivative {} must return {} gradient{}, one for each Tensor that {} takes, "
                 "not {}\n  {}",
                 backward_->text(), wanted, wanted == 1 ? "" : "s", forward_.name(), found, forward_);
    variable_list gradients;
    size_t next = 0;
    for (size_t i = 0; i < args_.size(); ++i) {
      if (!isTensorType(forward_.arguments()[i].type())) continue;
      const IValue gradient = is_one ? returned : returned.elementAt(next++);
      variable_list each = gradient.isNone() ? variable_list(counts_[i]) : tensorsIn({&gradient, 1});
      BOXCAR_CHECK(each.size() == counts_[i],
                   "autograd::apply: the derivative {} returned {} gradients for '{}', which has {} tensors",
                   backward_->text(), each.size(), forward_.arguments()[i].name(), counts_[i]);
      std::ranges::move(each, std::back_inserter(gradients));
    }
    return gradients;
  }

  const FunctionSchema forward_;
  const FunctionPtr backward_;
  std::vector<IValue> args_;     // without their tensors, once saved
  std::vector<IValue> results_;  // without their tensors
  std::vector<size_t> counts_;   // of the tensors of each argument that may have gradients
  std::vector<Part> parts_;      // what each parameter of the derivative gets
};

// The results of a function, one by one.
std::vector<IValue> spread(const FunctionSchema& schema, const IValue& result) {
  if (schema.returns().empty()) return {};
  if (schema.returns().size() == 1) return {result};
  return elementsOf(result);
}

IValue gathered(const FunctionSchema& schema, std::vector<IValue> results) {
  if (schema.returns().empty()) return {};
  if (schema.returns().size() == 1) return std::move(results[0]);
  return Tuple(std::move(results));
}

// Gives the tensors in [results] their history.
std::vector<IValue> finished(FunctionNode& node, const std::vector<IValue>& results) {
  return withTensors(results, node.finish(tensorsIn(results)));
}

IValue apply(const FunctionPtr& forward, const FunctionPtr& backward, const IValue& args) {
  const std::vector<IValue> given = elementsOf(args);
  const auto derivative = std::make_shared<OwnDerivative>(forward, backward, given);
  const auto node = makeIntrusive<FunctionNode>(
      forward->schema().name() + "Backward",
      [derivative](AutogradContext* context, const variable_list& grads) { return (*derivative)(context, grads); });
  for (size_t i = 0; i < given.size(); ++i) {
    if (isTensorType(forward->schema().arguments()[i].type())) node->addArgument(tensorsIn({&given[i], 1}));
  }
  IValue result;
  {
    const AutoGradMode mode(false);
    const OuterForwardLevels none(0);
    result = callFunction("autograd::apply", *forward, given);
  }
  const std::vector<IValue> results = spread(forward->schema(), result);
  derivative->save(node->context(), results);
  return gathered(forward->schema(), finished(*node, results));
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

// A call that is made again when its derivative is asked for.
struct Checkpoint {
  FunctionPtr function;
  std::vector<IValue> args;  // without their tensors
  std::optional<DrawnSoFar> drawn;

  variable_list operator()(AutogradContext* context, const variable_list& grads) const {
    const variable_list saved = context->get_saved_variables();
    const bool is_recorded = GradMode::is_enabled();
    variable_list inputs;
    for (const Tensor& tensor : saved) {
      if (!tensor.defined() || !tensor.requires_grad()) {
        inputs.push_back(tensor);
      } else {
        // Leaves that get what the function's captured tensors do not; or, to be differentiated again, views.
        inputs.push_back(is_recorded ? boxcar::alias(tensor) : withoutHistory(tensor));
        if (!is_recorded) setRequiresGrad(inputs.back());
      }
    }
    variable_list outputs;
    {
      const AutoGradMode mode(true);
      const DrawAgain again(drawn, saved);
      const IValue result = callFunction("autograd::checkpoint", *function, withTensors(args, inputs));
      outputs = tensorsIn({&result, 1});
    }
    BOXCAR_CHECK(outputs.size() == grads.size(),
                 "autograd::checkpoint: {} returned {} tensors when it was called again, and {} before",
                 function->text(), outputs.size(), grads.size());
    variable_list roots;
    variable_list root_grads;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].defined() || !outputs[i].requires_grad() || !grads[i].defined()) continue;
      roots.push_back(outputs[i]);
      root_grads.push_back(grads[i]);
    }
    variable_list gradients(inputs.size());
    if (roots.empty()) return gradients;
    if (!is_recorded) {
      backward(roots, root_grads);
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].defined() && saved[i].requires_grad()) gradients[i] = gradOf(inputs[i]);
      }
      return gradients;
    }
    variable_list wanted;
    std::ranges::copy_if(inputs, std::back_inserter(wanted),
                         [](const Tensor& input) { return input.defined() && input.requires_grad(); });
    variable_list found = grad(roots, wanted, root_grads, std::nullopt, true, true);
    for (size_t i = 0, next = 0; i < inputs.size(); ++i) {
      if (inputs[i].defined() && inputs[i].requires_grad()) gradients[i] = std::move(found[next++]);
    }
    return gradients;
  }
};

IValue checkpoint(const FunctionPtr& function, const IValue& args, bool preserve_rng_state) {
  const std::vector<IValue> given = elementsOf(args);
  variable_list tensors = tensorsIn(given);
  Checkpoint again{function, withTensors(given, variable_list(tensors.size())), std::nullopt};
  if (preserve_rng_state) again.drawn.emplace(tensors);
  const auto node = makeIntrusive<FunctionNode>("CheckpointBackward", std::move(again));
  node->leaveTangents();
  node->addArgument(tensors);
  node->context().save_for_backward(std::move(tensors));
  node->context().set_materialize_grads(false);
  IValue result;
  {
    const AutoGradMode mode(false);
    result = callFunction("autograd::checkpoint", *function, given);
  }
  return finished(*node, {result})[0];
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) { m.impl("register_hook", RegisterHook()); }

BOXCAR_LIBRARY_IMPL(autograd, CompositeImplicitAutograd, m) {
  m.impl("apply", BOXCAR_FN(apply));
  m.impl("checkpoint", BOXCAR_FN(checkpoint));
}

}  // namespace boxcar::autograd
