#pragma once

#include <boxcar/ivalue/ivalue.h>

#include <utility>

namespace boxcar {

// Calls visit(const Tensor&) for each defined tensor in [value]: itself, or in its lists, tuples and dicts, up to a
// nesting of [depth].
template <class Visit>
void visitTensors(const IValue& value, Visit&& visit, int depth = 8) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (depth == 0) {
    return;
  } else if (value.isTensorList()) {
    for (const Tensor& tensor : value.toTensorList().span()) {
      if (tensor.defined()) visit(tensor);
    }
  } else if (value.isGenericList() || value.isTuple()) {
    for (size_t i = 0; i < value.length(); ++i) visitTensors(value.elementAt(i), visit, depth - 1);
  } else if (value.isGenericDict()) {
    const GenericDict dict = value.toGenericDict();
    for (size_t i = 0; i < dict.size(); ++i) visitTensors(dict.entryAt(i).second, visit, depth - 1);
  }
}

}  // namespace boxcar
