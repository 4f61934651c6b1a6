#pragma once

#include <boxcar/dispatcher/registration_handle.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>

#include <functional>
#include <optional>
#include <span>
#include <string>

namespace boxcar {

// What a call of an operator did, as its boxed kernel took and gave it.
struct FinishedCall {
  std::span<const IValue> arguments;
  std::span<const IValue> results;
};

// How much work it was. What is not told is estimated from the tensors, or stays unknown.
struct OperatorCost {
  std::optional<double> flops;  // a product and a sum are two
  std::optional<double> bytes;  // read and written
};

using CostFunction = std::function<OperatorCost(const FinishedCall&)>;

// Says what calls of an operator cost until the handle is destroyed; the newest one counts. [name] is one overload,
// "aten::add.Tensor", or all that have none of their own, "aten::add". The operator need not be defined. What the
// function throws means that the cost is not known.
//
//   const boxcar::RegistrationHandleRAII kCost = boxcar::registerCost("my::fft", [](const FinishedCall& call) {
//     const double n = static_cast<double>(call.arguments[0].toTensor().numel());
//     return OperatorCost{.flops = 5 * n * std::log2(n), .bytes = {}};
//   });
BOXCAR_API RegistrationHandleRAII registerCost(std::string name, CostFunction cost);

// The function for the operator called [name], with its overload; empty where there is none.
BOXCAR_API CostFunction findCost(const std::string& name);

}  // namespace boxcar
