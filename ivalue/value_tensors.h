#pragma once

#include <boxcar/ivalue/ivalue.h>

#include <utility>
#include <vector>

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

// Returns a copy of [value] in which map(const Tensor&) replaces each tensor, undefined ones too, at any place up to a
// nesting of [depth]; lists, tuples and dicts are copied. Maps them in the order of visitTensors().
template <class Map>
IValue mapTensors(const IValue& value, Map&& map, int depth = 8) {
  if (value.isTensor()) return IValue(Tensor(map(value.toTensor())));
  if (depth == 0) return value;
  if (value.isTensorList()) {
    List<Tensor> mapped;
    for (const Tensor& tensor : value.toTensorList().span()) mapped.push_back(map(tensor));
    return mapped;
  }
  if (value.isGenericList() || value.isTuple()) {
    std::vector<IValue> mapped;
    for (size_t i = 0; i < value.length(); ++i) mapped.push_back(mapTensors(value.elementAt(i), map, depth - 1));
    if (value.isTuple()) return Tuple(std::move(mapped));
    return GenericList(makeIntrusive<GenericListObject>(std::move(mapped)));
  }
  if (value.isGenericDict()) {
    const GenericDict dict = value.toGenericDict().copy();
    for (size_t i = 0; i < dict.size(); ++i) {
      const auto [key, element] = dict.entryAt(i);
      dict.insert_or_assign(key, mapTensors(element, map, depth - 1));
    }
    return dict;
  }
  return value;
}

}  // namespace boxcar
