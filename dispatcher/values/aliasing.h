#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/alias_info.h>
#include <boxcar/schema/function_schema.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace boxcar {

// A tensor among a call's arguments or results, and what the schema says about it.
struct PlacedTensor {
  Tensor tensor;
  // "argument 'tensors'[1]", "its result", "its result 1 ('indices')".
  std::string place;
  // Null if there is no annotation.
  AliasInfoPtr alias;
  // The index of the argument or the result.
  size_t index;

  // Whether this call writes to the argument although the schema does not say so.
  bool is_written_undeclared = false;

  bool isWritten() const noexcept { return is_written_undeclared || (alias != nullptr && alias->isWriteHere()); }
};

// Return the defined tensors of a call's arguments or results, in order, including those in lists, optionals, tuples
// and dicts.
BOXCAR_API std::vector<PlacedTensor> tensorsOfArguments(const FunctionSchema& schema, std::span<const IValue> values);
BOXCAR_API std::vector<PlacedTensor> tensorsOfResults(const FunctionSchema& schema, std::span<const IValue> values);

// "argument 'self'".
BOXCAR_API std::string argumentPlace(const FunctionSchema& schema, size_t index);
// "its result"; if there are several, "its result 0 ('values')".
BOXCAR_API std::string resultPlace(const FunctionSchema& schema, size_t index);

// Whether they have the same storage or overlapping memory, for example because the same memory was wrapped twice.
BOXCAR_API bool shareMemory(const Tensor& a, const Tensor& b) noexcept;

// Whether the schema's annotations let [a] and [b] share memory: they have a set in common, before or after the call,
// or one of them is in the wildcard set.
BOXCAR_API bool mayAlias(AliasInfoPtr a, AliasInfoPtr b) noexcept;

}  // namespace boxcar
