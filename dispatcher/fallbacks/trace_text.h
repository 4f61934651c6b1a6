#pragma once

#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/ivalue.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Calls and values as a script writes them, so that what runs the text calls the same with the same.

namespace boxcar::detail {

// A text in which each tensor is a gap: who knows the tensors' names fills them in.
struct TraceText {
  static constexpr char kGap = '\1';  // no text has one of its own

  std::string text;
  std::vector<Tensor> tensors;  // of the gaps, in order
  std::vector<bool> written;    // whether the call writes them

  std::string filled(const std::function<std::string(const Tensor&)>& name) const;
};

// "aten::add.Tensor"; "aten::sum.default" where a name has overloads beside the one without a name. Overloads that
// scripts define do not count: what runs the text does not have them.
std::string calleeText(const OperatorHandle& op);

// "aten::add.Tensor(□, 2, alpha=3)": arguments that equal their defaults are left out, and so are generators. A number
// that stands for a tensor is written as the number, unless [has_name] says that it is the result of a call. An Error
// that names the argument where a value cannot be written in a script.
TraceText callText(const OperatorHandle& op, std::string_view callee, std::span<const IValue> arguments,
                   const std::function<bool(const Tensor&)>& has_name);

// "0.1", "-inf", "'text'": a value without tensors in it.
std::string constantText(const IValue& value);

// "[2, 3]".
std::string sizesText(std::span<const int64_t> sizes);

// The elements of a tensor of complex128 on the CPU, for which files have no place: "tensor([(1+2j)],
// dtype=complex128)".
std::string complexTensorText(const Tensor& tensor);

}  // namespace boxcar::detail
