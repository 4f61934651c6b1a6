#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/tensor.h>
#include <boxcar/schema/type.h>

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

// Values as the JSON of a program has them: torch/_export/serde/schema.py of PyTorch, version 8.

namespace boxcar::interp::exported {

using Json = nlohmann::ordered_json;

// Bytes that are not UTF-8, which a script may have, become U+FFFD.
std::string textOf(const Json& json);

// {"as_tensor": {"name": "x"}}.
Json tensorArgument(const std::string& name);

// What a tensor is, apart from its elements: a TensorMeta. Throws Error for dtypes that PyTorch does not write.
Json tensorMeta(const Tensor& tensor, std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset,
                bool requires_grad);
Json tensorMeta(const Tensor& tensor);

// Returns an argument of an operator. [type] is what the schema says, [nameOf] gives the names of tensors. Throws Error
// that says what the value is, "a value of kind Object", if a program has no such arguments.
Json operatorArgument(const IValue& value, TypePtr type, const std::function<std::string(const Tensor&)>& nameOf);

// Returns a number, a text or None as an argument. Throws Error as above.
Json constantArgument(const IValue& value);

// How the parts of a value nest, and its parts in order.
struct Flattened {
  Json tree;  // a TreeSpec of torch.utils._pytree
  std::vector<IValue> leaves;
  std::vector<std::string> names;  // of the leaves: the path from [name], "pair_0"
};
Flattened flatten(const IValue& value, const std::string& name);

Json treeOf(const char* type, const Json& context, Json children);
// The text in which a program holds a tree.
std::string treeText(const Json& tree);

}  // namespace boxcar::interp::exported
