#pragma once

#include <boxcar/dispatcher/registry/registration_handle.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace boxcar {

// A finished call of an operator, with its arguments and results as its boxed kernel took and returned them.
struct FinishedCall {
  std::span<const IValue> arguments;
  std::span<const IValue> results;
};

// How much work a call was. A value that is not given is estimated from the tensors, or stays unknown.
struct OperatorCost {
  std::optional<double> flops;  // a multiplication and an addition count as two
  std::optional<double> bytes;  // read and written
};

using CostFunction = std::function<OperatorCost(const FinishedCall&)>;

// Registers the cost of an operator's calls until the handle is destroyed; the newest registration counts. [name] is
// one overload, "aten::add.Tensor", or all overloads without their own registration, "aten::add". The operator need not
// be defined. If the function throws, the cost is unknown.
//
//   const boxcar::RegistrationHandleRAII kCost = boxcar::registerCost("my::fft", [](const FinishedCall& call) {
//     const double n = static_cast<double>(call.arguments[0].toTensor().numel());
//     return OperatorCost{.flops = 5 * n * std::log2(n), .bytes = {}};
//   });
BOXCAR_API RegistrationHandleRAII registerCost(std::string name, CostFunction cost);

// One line of a table of costs.
struct CostRow {
  OperatorCost (*cost)(const FinishedCall&);
  std::string_view operators;  // separated by blanks, without namespace: "mm mm.out bmm"
};

// Registers the costs in [table], which must live as long as the program, for operators of the namespace [ns]. A
// registration by registerCost, even an older one, goes before it. Costs no more than a few instructions, so that a
// library can do it when it is loaded: the table is read when a cost is first looked up.
BOXCAR_API void registerCosts(std::string_view ns, std::span<const CostRow> table);

// Returns the function for the operator [name], which includes the overload; empty if there is none.
BOXCAR_API CostFunction findCost(const std::string& name);

}  // namespace boxcar
