#pragma once

#include <boxcar/schema/function_schema.h>

#include <string>
#include <vector>

// The operators in .schemas files, as the generators need them. Such a file has one schema per line; the `#` line above
// it is its docstring. Tags follow the schema, then the names of the in-place and out= forms, which are made of it:
//
//   # The sine.
//   aten::sin(Tensor self) -> Tensor [pointwise] autogen: sin_, sin.out
//
// This also declares sin_(Tensor(a!) self) -> Tensor(a!) and sin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!).
// Forms that differ in more, as with several outputs, have lines of their own.

namespace boxcar::codegen {

struct Operator {
  FunctionSchema schema;
  std::string text;
  std::string tags;  // "::boxcar::Tag::io", as C++
  std::string docstring;
  std::string file;
  int line;
  size_t required = 0;  // parameters without a default in C++
};

// All operators of the files [paths], in their order. An Error that names file and line where one cannot be read.
std::vector<Operator> readSchemas(const std::vector<std::string>& paths);

// `add` of aten::add.Tensor, `add_out` of aten::add.out.
std::string functionName(const FunctionSchema& schema);

// `aten` of aten::add.Tensor.
std::string namespaceOf(const FunctionSchema& schema);

// Out arguments come first in C++, as in PyTorch: add_out(out, self, other).
std::vector<const Argument*> parameterOrder(const FunctionSchema& schema);

// The type of its kernels: `Tensor(const Tensor&, double)`.
std::string functionType(const FunctionSchema& schema);

// Writes [text] to [path]. A file that is the same as before is left alone, so that nothing is compiled again for it.
void writeIfChanged(const std::string& path, const std::string& text);

}  // namespace boxcar::codegen
