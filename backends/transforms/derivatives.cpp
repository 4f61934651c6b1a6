#include <boxcar/backends/autograd/formula.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/function_call.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/backends/transforms/function_transforms.h>
#include <boxcar/backends/transforms/primals.h>
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

namespace boxcar::transforms {
namespace {

using autograd::argumentsFor;
using autograd::callFunction;
using autograd::canRequireGrad;
using autograd::ForwardLevel;
using autograd::tensorsIn;
using autograd::tensorsLike;
using autograd::withTensors;

// grad() and grad_and_value(); [name], a literal: which of them.
FunctionPtr gradientOf(std::string_view name, const FunctionPtr& func, int64_t argnums, bool with_value) {
  const TypePtr type = differentiatedType(name, *func, argnums);
  std::vector<Argument> returns;
  returns.emplace_back("", type->kind() == TypeKind::Tensor ? type : Type::any());
  if (with_value) returns.emplace_back("", Type::tensor());
  return makeFunction(schemaOf(name, *func, std::move(returns)), [name, func, argnums, with_value](Stack& stack) {
    const std::string label = "func::" + std::string(name);
    std::vector<IValue> args = takeArguments(*func, stack);
    const size_t index = argumentIndex(name, *func, argnums, args.size());
    Primals primals({&args[index], 1});
    BOXCAR_CHECK(!primals.isEmpty(), "{}: {} of {} has no tensor of a floating point or complex dtype\n  {}", label,
                 argumentText(*func, index), func->text(), func->schema());
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
    primals.noteOutputs({&output, 1});
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
  inputs->noteOutputs(tensorsIn({&output, 1}));
  static const FunctionSchema schema = parseSchema("vjp_fn(Any cotangents) -> Any");
  FunctionPtr pull = makeFunction(schema, [inputs, output](Stack& stack) {
    const IValue cotangents = pop(stack);
    const std::vector<Tensor> outputs = tensorsIn({&output, 1});
    const std::vector<Tensor> given = tensorsLike("vjp_fn(): the gradient", output, cotangents);
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
  const std::vector<Tensor> given = tensorsLike("func::jvp: the tangent", Tuple(values), Tuple(directions));
  std::vector<Tensor> inputs = tensorsIn(values);
  BOXCAR_CHECK(given.size() == inputs.size(),
               "func::jvp: there are {} tensors in primals, but {} in tangents; give one each", inputs.size(),
               given.size());
  const std::vector<VmapLevelInfo> levels(vmapLevels().begin(), vmapLevels().end());
  const ForwardLevel level;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!canRequireGrad(inputs[i])) {
      BOXCAR_CHECK(
          !inputs[i].defined(),
          "func::jvp: primal {} has dtype {}, which has no derivative; convert it to a floating point dtype, or "
          "differentiate a function of the others alone",
          i, dtypeName(inputs[i].scalar_type()));
      continue;
    }
    BOXCAR_CHECK(given[i].defined() && std::ranges::equal(given[i].sizes(), inputs[i].sizes()),
                 "func::jvp: tangent {} must have the shape of its primal, {}, not {}", i,
                 meta::listOf(inputs[i].sizes()), given[i].defined() ? meta::listOf(given[i].sizes()) : "None");
    BOXCAR_CHECK(inputs[i].is_complex() || !given[i].is_complex(),
                 "func::jvp: tangent {} has dtype {}, but its primal {}, which has real tangents; give x.real", i,
                 dtypeName(given[i].scalar_type()), dtypeName(inputs[i].scalar_type()));
    inputs[i] = fromPhysical(level.makeDual(toPhysical(inputs[i], levels), toPhysical(given[i], levels)), levels);
  }
  IValue output = callFunction("func::jvp", *func, withTensors(values, inputs));
  std::vector<Tensor> found;
  for (const Tensor& result : tensorsIn({&output, 1})) {
    if (!result.defined()) {
      found.emplace_back();
      continue;
    }
    const Tensor physical = toPhysical(result, levels);
    const Tensor change = level.tangentOf(physical);
    found.push_back(change.defined() ? fromPhysical(change, levels) : boxcar::zeros_like(result));
    level.forget(physical);
  }
  IValue tangent = withTensors({&output, 1}, found)[0];
  return {std::move(output), std::move(tangent)};
}

}  // namespace

void addFunctionTransforms(Library& m) {
  m.impl("grad", BOXCAR_FN(gradOfFunction));
  m.impl("grad_and_value", BOXCAR_FN(gradAndValueOfFunction));
  m.impl("vjp", BOXCAR_FN(vjp));
  m.impl("jvp", BOXCAR_FN(jvp));
  m.impl("vmap", BOXCAR_FN(vmapOfFunction));
  m.impl("jacrev", BOXCAR_FN(jacrevOfFunction));
  m.impl("jacfwd", BOXCAR_FN(jacfwdOfFunction));
  m.impl("hessian", BOXCAR_FN(hessianOfFunction));
  m.impl("linearize", BOXCAR_FN(linearize));
}

}  // namespace boxcar::transforms
