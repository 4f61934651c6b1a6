#include <boxcar/backends/autograd/formula.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/function_call.h>
#include <boxcar/backends/transforms/function_transforms.h>
#include <boxcar/backends/transforms/primals.h>
#include <boxcar/backends/transforms/vmap.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/parse_schema.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

// jacrev, jacfwd, hessian, linearize, and vmap for functions of scripts.

namespace boxcar::transforms {
namespace {

using autograd::argumentsFor;
using autograd::callFunction;
using autograd::canRequireGrad;
using autograd::tensorsIn;
using autograd::tensorsLike;
using autograd::withTensors;

// One row for each element of a tensor like [tensor]: ones on the diagonal.
Tensor basisOf(const Tensor& tensor) {
  const Tensor eye = boxcar::eye(tensor.numel(), tensor.scalar_type(), std::nullopt, tensor.device());
  std::vector<int64_t> sizes{tensor.numel()};
  sizes.insert(sizes.end(), tensor.sizes().begin(), tensor.sizes().end());
  return boxcar::reshape(eye, sizes);
}

std::vector<int64_t> sizesOf(const Tensor& first, const Tensor& second) {
  std::vector<int64_t> sizes(first.sizes().begin(), first.sizes().end());
  sizes.insert(sizes.end(), second.sizes().begin(), second.sizes().end());
  return sizes;
}

// The schema of the Jacobian of [func]: a Tensor if both argument and result are one.
FunctionSchema jacobianSchema(std::string_view name, const FunctionObject& func, int64_t argnums) {
  const std::vector<Argument>& results = func.schema().returns();
  const bool is_tensor = differentiatedType(name, func, argnums)->kind() == TypeKind::Tensor && results.size() == 1 &&
                         results[0].type()->kind() == TypeKind::Tensor;
  std::vector<Argument> returns;
  returns.emplace_back("", is_tensor ? Type::tensor() : Type::any());
  return schemaOf(name, func, std::move(returns));
}

// Puts [jacobians], one for each pair of a result's tensor and the argument's, in the order of the results, into the
// shape of the result, with the shape of the argument in place of each tensor. None where the argument has no gradient.
IValue arranged(const IValue& output, const IValue& argument, const std::vector<Tensor>& jacobians) {
  const size_t inputs = tensorsIn({&argument, 1}).size();
  const std::vector<Tensor> outputs = tensorsIn({&output, 1});
  std::vector<IValue> rows;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::span<const Tensor> row(jacobians.data() + i * inputs, inputs);
    rows.push_back(withTensors({&argument, 1}, row)[0]);
  }
  if (output.isTensor()) return rows[0];
  return Tuple(std::move(rows));
}

void checkDifferentiable(std::string_view name, const FunctionObject& func, size_t index,
                         std::span<const Tensor> tensors) {
  BOXCAR_CHECK(std::ranges::any_of(tensors, canRequireGrad),
               "func::{}: {} of {} has no tensor of a floating point dtype\n  {}", name, argumentText(func, index),
               func.text(), func.schema());
  // The derivative of a real number by a complex one is no complex number, and neither is that of most functions.
  BOXCAR_CHECK(
      std::ranges::none_of(tensors, &Tensor::is_complex),
      "func::{}: {} of {} is complex; give it view_as_real(x), or take the products of func::jvp or func::vjp\n"
      "  {}",
      name, argumentText(func, index), func.text(), func.schema());
}

void checkResult(std::string_view name, const FunctionObject& func, const IValue& value,
                 std::span<const Tensor> tensors) {
  BOXCAR_CHECK(value.isTensor() || value.isTuple() || value.isList(), "func::{}: {} must return tensors\n  {}", name,
               func.text(), func.schema());
  BOXCAR_CHECK(!tensors.empty() && std::ranges::all_of(tensors, canRequireGrad),
               "func::{}: {} must return tensors of floating point or complex dtypes\n  {}", name, func.text(),
               func.schema());
}

IValue reverseJacobian(const FunctionObject& func, size_t index, std::vector<IValue> args,
                       std::optional<int64_t> chunk_size) {
  const IValue argument = args[index];
  const std::vector<Tensor> inputs = tensorsIn({&argument, 1});
  checkDifferentiable("jacrev", func, index, inputs);
  Primals primals({&argument, 1});
  args[index] = primals.inputs()[0];
  IValue value;
  {
    const RecordsAlways recording;
    value = callFunction("func::jacrev", func, args);
  }
  const std::vector<Tensor> outputs = tensorsIn({&value, 1});
  checkResult("jacrev", func, value, outputs);
  primals.noteOutputs(outputs);
  std::vector<Tensor> jacobians;
  for (const Tensor& output : outputs) {
    const auto pull = [&](const std::vector<IValue>& basis) {
      const IValue gradient = primals.gradients({&output, 1}, {{basis[0].toTensor()}}, true)[0];
      std::vector<IValue> found;
      for (const Tensor& each : tensorsIn({&gradient, 1})) found.emplace_back(each.defined() ? each : output);
      return IValue(Tuple(std::move(found)));
    };
    const IValue rows =
        vmapCall("func::jacrev", pull, {basisOf(output)}, {.chunk_size = chunk_size, .transform = "func::jacrev"});
    for (size_t i = 0; i < inputs.size(); ++i) {
      jacobians.push_back(canRequireGrad(inputs[i])
                              ? boxcar::reshape(rows.elementAt(i).toTensor(), sizesOf(output, inputs[i]))
                              : Tensor());
    }
  }
  return arranged(value, argument, jacobians);
}

// One row for each element of all the tensors: for each tensor its part, ones on the diagonal of its own rows.
std::vector<IValue> jointBasisOf(std::span<const Tensor> tensors) {
  int64_t rows = 0;
  for (const Tensor& tensor : tensors) rows += tensor.numel();
  std::vector<IValue> basis;
  int64_t first = 0;
  for (const Tensor& tensor : tensors) {
    Tensor own = basisOf(tensor);
    const int64_t past = rows - first - tensor.numel();
    std::vector<int64_t> sizes(own.sizes().begin(), own.sizes().end());
    const auto zerosOf = [&](int64_t count) {
      sizes[0] = count;
      return boxcar::zeros(sizes, tensor.scalar_type(), std::nullopt, tensor.device());
    };
    if (tensors.size() > 1) own = boxcar::cat({zerosOf(first), own, zerosOf(past)});
    basis.emplace_back(own);
    first += tensor.numel();
  }
  return basis;
}

// The function is called once, on tangents of all directions.
IValue forwardJacobian(const FunctionObject& func, size_t index, const std::vector<IValue>& args,
                       Randomness randomness) {
  const IValue& argument = args[index];
  const std::vector<Tensor> inputs = tensorsIn({&argument, 1});
  checkDifferentiable("jacfwd", func, index, inputs);
  std::vector<Tensor> varied;
  std::ranges::copy_if(inputs, std::back_inserter(varied), canRequireGrad);
  IValue like;
  const auto push = [&](const std::vector<IValue>& basis) {
    const std::vector<VmapLevelInfo> levels(vmapLevels().begin(), vmapLevels().end());
    const autograd::ForwardLevel level;
    std::vector<Tensor> duals = inputs;
    size_t next = 0;
    for (Tensor& dual : duals) {
      if (!canRequireGrad(dual)) continue;
      const Tensor tangent = toPhysical(basis[next++].toTensor(), levels);
      dual = fromPhysical(level.makeDual(toPhysical(dual, levels), tangent), levels);
    }
    std::vector<IValue> given = args;
    given[index] = withTensors({&argument, 1}, duals)[0];
    like = callFunction("func::jacfwd", func, given);
    const std::vector<Tensor> outputs = tensorsIn({&like, 1});
    checkResult("jacfwd", func, like, outputs);
    std::vector<IValue> found;
    for (const Tensor& output : outputs) {
      const Tensor change = level.tangentOf(toPhysical(output, levels));
      found.emplace_back(change.defined() ? fromPhysical(change, levels) : boxcar::zeros_like(output));
    }
    return IValue(Tuple(std::move(found)));
  };
  const VmapOptions options{.out_dims = int64_t{-1}, .randomness = randomness, .transform = "func::jacfwd"};
  const IValue found = vmapCall("func::jacfwd", push, jointBasisOf(varied), options);
  std::vector<Tensor> jacobians;
  for (size_t k = 0; k < found.length(); ++k) {
    const Tensor columns = found.elementAt(k).toTensor();
    int64_t first = 0;
    for (const Tensor& input : inputs) {
      if (!canRequireGrad(input)) {
        jacobians.emplace_back();
        continue;
      }
      std::vector<int64_t> sizes(columns.sizes().begin(), columns.sizes().end() - 1);
      sizes.insert(sizes.end(), input.sizes().begin(), input.sizes().end());
      jacobians.push_back(boxcar::reshape(boxcar::narrow(columns, -1, first, input.numel()), sizes));
      first += input.numel();
    }
  }
  return arranged(like, argument, jacobians);
}

}  // namespace

std::string nameOf(std::string_view transform, const FunctionObject& func) {
  const std::string& of = func.schema().name();
  const size_t colons = of.rfind("::");
  return fmt::format("{}_of_{}", transform, std::string_view(of).substr(colons == std::string::npos ? 0 : colons + 2));
}

FunctionSchema schemaOf(std::string_view transform, const FunctionObject& func, std::vector<Argument> returns) {
  const FunctionSchema& schema = func.schema();
  return FunctionSchema(nameOf(transform, func), "", schema.arguments(), std::move(returns), schema.is_vararg());
}

std::vector<IValue> takeArguments(const FunctionObject& func, Stack& stack) {
  const FunctionSchema& schema = func.schema();
  return pop(stack, schema.is_vararg() ? stack.size() : schema.arguments().size());
}

size_t argumentIndex(std::string_view transform, const FunctionObject& func, int64_t argnums, size_t count) {
  const auto signed_count = static_cast<int64_t>(count);
  BOXCAR_CHECK(argnums >= -signed_count && argnums < signed_count,
               "func::{}: argnums is {}, but {} takes {} argument{}\n  {}", transform, argnums, func.text(), count,
               count == 1 ? "" : "s", func.schema());
  return static_cast<size_t>(argnums < 0 ? argnums + signed_count : argnums);
}

TypePtr differentiatedType(std::string_view transform, const FunctionObject& func, int64_t argnums) {
  const std::vector<Argument>& arguments = func.schema().arguments();
  if (func.schema().is_vararg()) return Type::any();
  return arguments[argumentIndex(transform, func, argnums, arguments.size())].type();
}

std::string argumentText(const FunctionObject& func, size_t index) {
  const std::vector<Argument>& arguments = func.schema().arguments();
  return index < arguments.size() ? fmt::format("argument '{}'", arguments[index].name())
                                  : fmt::format("argument {}", index);
}

FunctionPtr vmapOfFunction(const FunctionPtr& func, const IValue& in_dims, const IValue& out_dims,
                           std::string_view randomness, std::optional<int64_t> chunk_size) {
  VmapOptions options{in_dims, out_dims, parseRandomness(randomness), chunk_size};
  auto run = [func, options = std::move(options), what = fmt::format("func::vmap of {}", func->text())](Stack& stack) {
    const FunctionSchema& of = func->schema();
    const std::vector<IValue> args = takeArguments(*func, stack);
    const auto call = [&](const std::vector<IValue>& batched) { return callFunction("func::vmap", *func, batched); };
    const IValue result = vmapCall(what, call, args, options);
    if (of.returns().size() == 1) {
      stack.push_back(result);
    } else {
      for (size_t i = 0; i < of.returns().size(); ++i) stack.push_back(result.elementAt(i));
    }
  };
  return makeFunction(schemaOf("vmap", *func, func->schema().returns()), std::move(run));
}

FunctionPtr jacrevOfFunction(const FunctionPtr& func, int64_t argnums, std::optional<int64_t> chunk_size) {
  return makeFunction(jacobianSchema("jacrev", *func, argnums), [func, argnums, chunk_size](Stack& stack) {
    std::vector<IValue> args = takeArguments(*func, stack);
    const size_t index = argumentIndex("jacrev", *func, argnums, args.size());
    stack.push_back(reverseJacobian(*func, index, std::move(args), chunk_size));
  });
}

FunctionPtr jacfwdOfFunction(const FunctionPtr& func, int64_t argnums, std::string_view randomness) {
  return makeFunction(jacobianSchema("jacfwd", *func, argnums),
                      [func, argnums, how = parseRandomness(randomness)](Stack& stack) {
                        const std::vector<IValue> args = takeArguments(*func, stack);
                        const size_t index = argumentIndex("jacfwd", *func, argnums, args.size());
                        stack.push_back(forwardJacobian(*func, index, args, how));
                      });
}

FunctionPtr hessianOfFunction(const FunctionPtr& func, int64_t argnums) {
  return jacfwdOfFunction(jacrevOfFunction(func, argnums, std::nullopt), argnums, "error");
}

std::tuple<IValue, FunctionPtr> linearize(const FunctionPtr& func, const IValue& primals) {
  const auto inputs = std::make_shared<Primals>(argumentsFor(*func, primals));
  IValue output;
  {
    const RecordsAlways recording;
    output = callFunction("func::linearize", *func, inputs->inputs());
  }
  inputs->noteOutputs(tensorsIn({&output, 1}));
  const auto map = std::make_shared<Primals::Linearized>(inputs->linearized(tensorsIn({&output, 1})));
  static const FunctionSchema schema = parseSchema("jvp_fn(Any tangents) -> Any");
  FunctionPtr push = makeFunction(schema, [inputs, output, map](Stack& stack) {
    IValue tangents = pop(stack);
    if (tangents.isGenericDict()) tangents = Tuple({tangents});  // of one argument
    const std::vector<Tensor> given = tensorsLike("jvp_fn(): the tangent", Tuple(inputs->inputs()), tangents);
    const std::vector<Tensor> at = tensorsIn(inputs->inputs());
    BOXCAR_CHECK(given.size() == at.size(),
                 "jvp_fn(): there are {} tensors in the primals, but {} in the tangents; give one for each", at.size(),
                 given.size());
    for (size_t i = 0; i < given.size(); ++i) {
      BOXCAR_CHECK(
          !canRequireGrad(at[i]) || (given[i].defined() && std::ranges::equal(given[i].sizes(), at[i].sizes())),
          "jvp_fn(): tangent {} must have the shape of its primal, [{}]", i, fmt::join(at[i].sizes(), ", "));
    }
    const std::vector<Tensor> changes = inputs->changes(*map, tensorsIn({&output, 1}), given);
    stack.push_back(withTensors({&output, 1}, changes)[0]);
  });
  return {detached(output, inputs->isNested()), std::move(push)};
}

}  // namespace boxcar::transforms
