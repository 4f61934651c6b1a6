#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/ivalue.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Calls and values as a script writes them, so that running the text makes the same calls with the same values.

namespace boxcar::detail {

// The number of lists and dicts that may contain one another.
inline constexpr int kMostNested = 64;

// A text in which each tensor is a gap; code that knows the tensors' names fills the gaps in.
struct TraceText {
  static constexpr char kGap = '\1';  // occurs in no other text

  std::string text;
  std::vector<Tensor> tensors;  // those of the gaps, in order
  std::vector<bool> written;    // whether the call writes them

  std::string filled(const std::function<std::string(const Tensor&)>& name) const;
};

// "aten::add.Tensor"; "aten::sum.default" if the name has overloads besides the unnamed one. Overloads that scripts
// define do not count, because they do not exist when the text runs.
std::string calleeText(const OperatorHandle& op);

// "aten::add.Tensor(□, 2, alpha=3)": arguments that equal their defaults are left out, and so are generators. A number
// in place of a tensor is written as the number, unless [has_name] says that it is the result of a call. Throws an
// Error that names the argument if a value cannot be written in a script.
TraceText callText(const OperatorHandle& op, std::string_view callee, std::span<const IValue> arguments,
                   const std::function<bool(const Tensor&)>& has_name);

// The arguments as callText() writes them: without generators, and with numbers for tensors that stand for them.
std::vector<IValue> writtenArguments(const FunctionSchema& schema, std::span<const IValue> arguments,
                                     const std::function<bool(const Tensor&)>& has_name);

// "0.1", "-inf", "'text'": a value without tensors in it. [type] is the intended type; null if unknown.
std::string constantText(const IValue& value, TypePtr type = nullptr);

// A value whose tensors all have names. Throws an Error that says what cannot be written, "a value of kind Object".
TraceText valueText(const IValue& value, TypePtr type);

// "[2, 3]".
std::string sizesText(std::span<const int64_t> sizes);

// The elements of a complex128 tensor on the CPU, which files cannot store: "tensor([(1+2j)], dtype=complex128)".
std::string complexTensorText(const Tensor& tensor);

}  // namespace boxcar::detail
