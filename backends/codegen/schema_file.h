#pragma once

#include <boxcar/schema/function_schema.h>

#include <string>
#include <vector>

// The operators in .schemas files, in the form that the generators need. Such a file has one schema per line; the `#`
// line above it is its docstring. Tags follow the schema, then the names of the in-place and out= variants to derive
// from it:
//
//   # The sine.
//   aten::sin(Tensor self) -> Tensor [pointwise] autogen: sin_, sin.out
//
// This also declares sin_(Tensor(a!) self) -> Tensor(a!) and sin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!).
// Variants that differ in more than this, such as those with several outputs, have lines of their own.
//
// A view, which returns Tensor(a) or Tensor(a)[], has forms called NAME_copy (the same as a copy) and NAME_scatter (a
// copy of self, in which `Tensor src` is written to what is viewed), and out= variants of them:
//
//   # A view of diagonal [offset].
//   aten::diagonal(Tensor(a) self, int offset=0) -> Tensor(a) autogen: diagonal_copy, diagonal_copy.out,
//   diagonal_scatter
//
// ` manual_cpp_binding` at the end of a line says that the operator's C++ function is written by hand, as PyTorch's
// lists say it.

namespace boxcar::codegen {

// How an operator that is derived from a view uses it.
enum class ViewForm { kNone, kCopy, kScatter };

struct Operator {
  FunctionSchema schema;
  std::string text;
  std::string tags;  // "::boxcar::Tag::io", as C++ code
  std::string docstring;
  std::string file;
  int line;
  ViewForm view_form = ViewForm::kNone;
  OperatorName view = {};    // of a view form: the view
  size_t required = 0;       // number of parameters without a default in C++
  bool has_function = true;  // in <boxcar/ops.h>
};

// Reads all operators of the files [paths], in order. Throws Error naming file and line if one cannot be read.
std::vector<Operator> readSchemas(const std::vector<std::string>& paths);

// Returns the C++ name: `add` for aten::add.Tensor, `add_out` for aten::add.out.
std::string functionName(const FunctionSchema& schema);

// Returns the namespace: `aten` for aten::add.Tensor.
std::string namespaceOf(const FunctionSchema& schema);

// Returns the parameters in C++ order: out arguments come first, as in PyTorch: add_out(out, self, other).
std::vector<const Argument*> parameterOrder(const FunctionSchema& schema);

// Returns the function type of the operator's kernels: `Tensor(const Tensor&, double)`.
std::string functionType(const FunctionSchema& schema);

// Writes [text] to [path]. Leaves a file with the same contents untouched, so that nothing is recompiled.
void writeIfChanged(const std::string& path, const std::string& text);

}  // namespace boxcar::codegen
