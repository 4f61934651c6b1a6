#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/formula.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/function_call.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/parse_schema.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

// Functions of functions: grad, vjp, jvp. Names and results are those of torch.func.

namespace boxcar::autograd {
namespace {

// While it lives, calls are recorded, also under no_grad() and inference_mode().
class RecordsAlways final {
 public:
  RecordsAlways() = default;

 private:
  const InferenceMode inference_{false};
  const AutoGradMode mode_{true};
};

// What a function is differentiated with respect to.
class Primals final {
 public:
  // Without history, or with it, if a derivative of the derivative may be asked for: the result of a call on tensors
  // that require grad requires grad.
  explicit Primals(std::span<const IValue> values) : values_(values.begin(), values.end()) {
    const std::vector<Tensor> tensors = tensorsIn(values_);
    is_nested_ = GradMode::is_enabled() && std::ranges::any_of(tensors, [](const Tensor& tensor) {
                   return tensor.defined() && tensor.requires_grad();
                 });
    const RecordsAlways recording;
    for (const Tensor& tensor : tensors) {
      if (!canRequireGrad(tensor)) {
        inputs_.push_back(tensor);
        continue;
      }
      Tensor input = is_nested_ && tensor.requires_grad() ? boxcar::alias(tensor) : withoutHistory(tensor);
      if (!input.requires_grad()) setRequiresGrad(input);
      inputs_.push_back(input);
      wanted_.push_back(std::move(input));
    }
  }

  bool isNested() const noexcept { return is_nested_; }
  std::vector<IValue> inputs() const { return withTensors(values_, inputs_); }
  const std::vector<Tensor>& wanted() const noexcept { return wanted_; }

  // Returns the gradients of [outputs], shaped like the values; zeros where the outputs do not depend on a tensor, and
  // None for a value without tensors that can have a gradient.
  std::vector<IValue> gradients(std::span<const Tensor> outputs, std::span<const Tensor> grad_outputs,
                                bool keeps_graph) const {
    std::vector<Tensor> roots;
    std::vector<Tensor> root_grads;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].defined() || !outputs[i].requires_grad()) continue;
      roots.push_back(outputs[i]);
      root_grads.push_back(grad_outputs[i]);
    }
    std::vector<Tensor> found(wanted_.size());
    if (!roots.empty() && !wanted_.empty()) {
      found = grad(roots, wanted_, root_grads, keeps_graph || is_nested_, is_nested_, true);
    }
    std::vector<Tensor> results;
    size_t next = 0;
    for (const Tensor& input : inputs_) {
      if (!canRequireGrad(input)) {
        results.emplace_back();
      } else {
        Tensor& gradient = found[next++];
        results.push_back(gradient.defined() ? std::move(gradient) : boxcar::zeros_like(input));
      }
    }
    std::vector<IValue> gradients = withTensors(values_, results);
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (std::ranges::none_of(tensorsIn({&values_[i], 1}), canRequireGrad)) gradients[i] = IValue();
    }
    return gradients;
  }

 private:
  std::vector<IValue> values_;
  bool is_nested_ = false;
  std::vector<Tensor> inputs_;  // for each tensor of the values
  std::vector<Tensor> wanted_;  // those that have a gradient
};

// A value without the history that only this file needs.
IValue detached(const IValue& value, bool is_nested) {
  if (is_nested) return value;
  std::vector<Tensor> tensors = tensorsIn({&value, 1});
  for (Tensor& tensor : tensors) {
    if (tensor.defined() && tensor.requires_grad()) tensor = withoutHistory(tensor);
  }
  return withTensors({&value, 1}, tensors)[0];
}

// grad() and grad_and_value(); [name]: which of them.
FunctionPtr gradientOf(std::string_view name, const FunctionPtr& func, int64_t argnums, bool with_value) {
  const FunctionSchema& schema = func->schema();
  const auto count = static_cast<int64_t>(schema.arguments().size());
  BOXCAR_CHECK(argnums >= -count && argnums < count, "func::{}: argnums is {}, but {} takes {} argument{}\n  {}", name,
               argnums, func->text(), count, count == 1 ? "" : "s", schema);
  const auto index = static_cast<size_t>(argnums < 0 ? argnums + count : argnums);
  const TypePtr type = schema.arguments()[index].type();
  std::vector<Argument> returns;
  returns.emplace_back("", type->kind() == TypeKind::Tensor ? type : Type::any());
  if (with_value) returns.emplace_back("", Type::tensor());
  const std::string& of = schema.name();
  const size_t colons = of.rfind("::");
  const std::string own_name =
      fmt::format("{}_of_{}", name, std::string_view(of).substr(colons == std::string::npos ? 0 : colons + 2));
  FunctionSchema own(own_name, "", schema.arguments(), std::move(returns));
  return makeFunction(std::move(own), [label = "func::" + std::string(name), func, index, with_value](Stack& stack) {
    const size_t arguments = func->schema().arguments().size();
    std::vector<IValue> args = pop(stack, arguments);
    const Primals primals({&args[index], 1});
    BOXCAR_CHECK(!primals.wanted().empty(),
                 "{}: argument '{}' of {} has no tensor of a floating point or complex dtype\n  {}", label,
                 func->schema().arguments()[index].name(), func->text(), func->schema());
    args[index] = primals.inputs()[0];
    IValue value;
    {
      const RecordsAlways recording;
      value = callFunction(label, *func, args);
    }
    BOXCAR_CHECK(value.isTensor() && value.toTensor().defined() && value.toTensor().numel() == 1,
                 "{}: {} must return one Tensor of one element; func::vjp differentiates others\n  {}", label,
                 func->text(), func->schema());
    const Tensor output = value.toTensor();
    stack.push_back(primals.gradients({&output, 1}, std::vector<Tensor>(1), false)[0]);
    if (with_value) stack.push_back(detached(value, primals.isNested()));
  });
}

FunctionPtr gradOfFunction(const FunctionPtr& func, int64_t argnums) {
  return gradientOf("grad", func, argnums, false);
}

FunctionPtr gradAndValueOfFunction(const FunctionPtr& func, int64_t argnums) {
  return gradientOf("grad_and_value", func, argnums, true);
}

IValue callRecorded(std::string_view what, const FunctionPtr& func, const std::vector<IValue>& args) {
  const RecordsAlways recording;
  return callFunction(what, *func, args);
}

std::tuple<IValue, FunctionPtr> vjp(const FunctionPtr& func, const IValue& primals) {
  const auto inputs = std::make_shared<Primals>(argumentsFor(*func, primals));
  const IValue output = callRecorded("func::vjp", func, inputs->inputs());
  static const FunctionSchema schema = parseSchema("vjp_fn(Any cotangents) -> Any");
  FunctionPtr pull = makeFunction(schema, [inputs, output](Stack& stack) {
    const IValue cotangents = pop(stack);
    const std::vector<Tensor> outputs = tensorsIn({&output, 1});
    const std::vector<Tensor> given = tensorsIn({&cotangents, 1});
    BOXCAR_CHECK(given.size() == outputs.size(),
                 "vjp_fn(): the function returned {} tensors, but {} gradients are given; give one for each",
                 outputs.size(), given.size());
    stack.push_back(Tuple(inputs->gradients(outputs, given, true)));
  });
  return {detached(output, inputs->isNested()), std::move(pull)};
}

std::tuple<IValue, IValue> jvp(const FunctionPtr& func, const IValue& primals, const IValue& tangents) {
  const std::vector<IValue> values = argumentsFor(*func, primals);
  const std::vector<IValue> directions = argumentsFor(*func, tangents);
  const std::vector<Tensor> given = tensorsIn(directions);
  std::vector<Tensor> inputs = tensorsIn(values);
  BOXCAR_CHECK(given.size() == inputs.size(),
               "func::jvp: there are {} tensors in primals, but {} in tangents; give one each", inputs.size(),
               given.size());
  const ForwardLevel level;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!canRequireGrad(inputs[i])) continue;
    BOXCAR_CHECK(given[i].defined() && std::ranges::equal(given[i].sizes(), inputs[i].sizes()),
                 "func::jvp: tangent {} must have the shape of its primal, {}, not {}", i,
                 meta::listOf(inputs[i].sizes()), given[i].defined() ? meta::listOf(given[i].sizes()) : "None");
    inputs[i] = level.makeDual(inputs[i], given[i]);
  }
  IValue output = callFunction("func::jvp", *func, withTensors(values, inputs));
  std::vector<Tensor> found;
  for (const Tensor& result : tensorsIn({&output, 1})) {
    found.push_back(result.defined() ? level.tangentOf(result) : Tensor());
    if (!result.defined()) continue;
    if (!found.back().defined()) found.back() = boxcar::zeros_like(result);
    level.forget(result);
  }
  IValue tangent = withTensors({&output, 1}, found)[0];
  return {std::move(output), std::move(tangent)};
}

}  // namespace

BOXCAR_LIBRARY_IMPL(func, CompositeImplicitAutograd, m) {
  m.impl("grad", BOXCAR_FN(gradOfFunction));
  m.impl("grad_and_value", BOXCAR_FN(gradAndValueOfFunction));
  m.impl("vjp", BOXCAR_FN(vjp));
  m.impl("jvp", BOXCAR_FN(jvp));
}

}  // namespace boxcar::autograd
