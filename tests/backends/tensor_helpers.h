#pragma once

#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/array_ref.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/ivalue/tensor.h>
#include <boxcar/ops.h>
#include <boxcar/schema/parse_schema.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tests/test_support.h"

namespace boxcar {

// Returns a contiguous tensor of [sizes] with [values]; 1-D if no sizes are given.
template <class T>
Tensor tensorOf(std::initializer_list<T> values, IntArrayRef sizes) {
  const Tensor result = Tensor::allocate(sizes, scalarTypeOf<T>);
  std::copy(values.begin(), values.end(), result.data_ptr<T>());
  return result;
}
template <class T>
Tensor tensorOf(std::initializer_list<T> values) {
  return tensorOf<T>(values, {static_cast<int64_t>(values.size())});
}
inline Tensor floats(std::initializer_list<float> values, IntArrayRef sizes) { return tensorOf<float>(values, sizes); }
inline Tensor floats(std::initializer_list<float> values) { return tensorOf<float>(values); }
inline Tensor ints(std::initializer_list<int64_t> values, IntArrayRef sizes) {
  return tensorOf<int64_t>(values, sizes);
}
inline Tensor ints(std::initializer_list<int64_t> values) { return tensorOf<int64_t>(values); }
inline Tensor bools(std::initializer_list<bool> values) { return tensorOf<bool>(values); }

// Returns the numbers 0, 1, 2 … as [dtype] in [sizes].
inline Tensor counting(IntArrayRef sizes, ScalarType dtype = ScalarType::Float) {
  return view(arange(numelOf(sizes), dtype), sizes);
}

// Returns the elements in order, whatever the strides.
template <class T>
std::vector<T> elements(const Tensor& tensor) {
  const Tensor flat = contiguous(resolved(tensor));
  const T* data = flat.data_ptr<T>();
  return std::vector<T>(data, data + flat.numel());
}

inline std::vector<int64_t> sizesOf(const Tensor& tensor) { return {tensor.sizes().begin(), tensor.sizes().end()}; }
inline std::vector<int64_t> stridesOf(const Tensor& tensor) {
  return {tensor.strides().begin(), tensor.strides().end()};
}

// Returns the dtype and the sizes: "float32[2, 3]".
inline std::string shapeText(const Tensor& tensor) {
  return fmt::format("{}[{}]", dtypeName(tensor.scalar_type()), fmt::join(tensor.sizes(), ", "));
}

// Returns the result of a boxed call of [name], such as "aten::add.Tensor", with [args].
template <class... Args>
IValue callBoxed(const std::string& name, Args&&... args) {
  const OperatorName wanted = parseName(name);
  const OperatorHandle op =
      Dispatcher::singleton().findSchemaOrThrow(wanted.name.c_str(), wanted.overload_name.c_str());
  Stack stack;
  push(stack, std::forward<Args>(args)...);
  op.callBoxed(stack);
  EXPECT_EQ(stack.size(), 1u);
  return pop(stack);
}

}  // namespace boxcar
