#pragma once

#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/tensor.h>

#include <span>
#include <string_view>

// Kernels of operators that are derived from views: permute_copy, permute_copy.out, diagonal_scatter … The generator of
// operators lists them.

namespace boxcar::composite {

enum class ViewForm {
  kCopy,     // copies of what the view returns
  kScatter,  // a copy of self, in which the argument after it is written to what the view returns
};

struct DerivedFromView {
  std::string_view name;  // without namespace
  const char* view;
  const char* overload;  // of the view
  ViewForm form;
  bool is_out;  // the last argument is out=, which the result is written to
};

// Registers a kernel for each of [forms], which must live as long as the program.
void implViewForms(Library& library, std::span<const DerivedFromView> forms);

// Returns a copy of [self] with its strides and its offset, or a contiguous one if its elements overlap.
Tensor cloneWithStrides(const Tensor& self);

}  // namespace boxcar::composite
