#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/runtime/container_operations.h>
#include <boxcar/interpreter/runtime/dynamic_call.h>
#include <boxcar/interpreter/runtime/tensor_index.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace boxcar::interp {
namespace {

struct Part {
  char letter;
  std::vector<IValue> values;  // one for `v`, three for `:`
};

// Converts a list of indices to a tensor; an empty list has no dtype of its own.
IValue makeTensor(IValue data) {
  static const Builtin& tensor = builtins()[*findBuiltin("tensor")];
  std::array<IValue, 4> arguments = {std::move(data), IValue(), IValue(), IValue()};
  if (arguments[0].length() == 0) arguments[1] = ScalarType::Long;
  return tensor.function(arguments);
}

// Converts a value to an index: int, bool, None or a Tensor with at least one dimension.
IValue asIndex(const IValue& value) {
  IValue index = value.isList() || value.isTuple() ? makeTensor(value) : value;
  BOXCAR_CHECK_INDEX(index.isInt() || index.isBool() || index.isNone() || index.isTensor(),
                     "a Tensor cannot be indexed by {}; use ints, slices, None, ... and Tensors of ints or bools",
                     kindName(value));
  if (!index.isTensor() || index.toTensor().dim() > 0) return index;
  // Inside func::vmap() it is a number for each slice, which stays a tensor.
  const bool is_batched = index.toTensor().key_set().has(DispatchKey::FuncTorchBatched);
  if (is_batched && isIntegralType(index.toTensor().scalar_type(), /*includeBool=*/false)) return index;
  index = callOperator("aten::item", {&index, 1});
  BOXCAR_CHECK_INDEX(index.isInt() || index.isBool(), "a Tensor cannot be indexed by a Tensor of floats");
  return index;
}

// Returns how many values a letter of a form takes.
size_t valueCount(char letter) { return letter == 'v' ? 1 : letter == ':' ? 3 : 0; }

// Handwritten bytecode may pass any form.
void checkForm(std::string_view form, size_t value_count) {
  size_t count = 0;
  for (const char letter : form) count += valueCount(letter);
  BOXCAR_CHECK(form.find_first_not_of("v:.") == std::string_view::npos && std::ranges::count(form, '.') <= 1 &&
                   count == value_count,
               "'{}' is not a form of an index with {} values", form, value_count);
}

std::vector<Part> partsOf(std::string_view form, std::span<const IValue> values) {
  checkForm(form, values.size());
  std::vector<Part> parts;
  if (form == "v" && values[0].isTuple()) {
    for (size_t i = 0; i < values[0].length(); ++i) parts.push_back({'v', {asIndex(values[0].elementAt(i))}});
    return parts;
  }
  for (const char letter : form) {
    Part& part = parts.emplace_back(Part{letter, {}});
    const size_t count = valueCount(letter);
    for (const IValue& value : values.first(count)) part.values.push_back(letter == 'v' ? asIndex(value) : value);
    values = values.subspan(count);
  }
  return parts;
}

// Returns how many of the tensor's dimensions a part takes.
int64_t dimensionsOf(const Part& part) {
  if (part.letter == ':') return 1;
  if (part.letter == '.' || part.values[0].isNone() || part.values[0].isBool()) return 0;
  if (part.values[0].isInt()) return 1;
  const Tensor& tensor = part.values[0].toTensor();
  return tensor.dtype() == ScalarType::Bool ? tensor.dim() : 1;
}

// Applies the parts from the first dimension to the last.
class PlaceFinder {
 public:
  explicit PlaceFinder(IValue view) : view_(std::move(view)) {}

  void add(const Part& part) {
    if (part.letter == ':') {
      addSlice(part.values);
    } else if (part.values[0].isInt()) {
      const IValue arguments[] = {view_, next_, part.values[0]};
      view_ = callOperator("aten::select", arguments);
    } else if (part.values[0].isTensor()) {
      addTensor(part.values[0], dimensionsOf(part));
    } else {
      const IValue arguments[] = {view_, next_};
      view_ = callOperator("aten::unsqueeze", arguments);
      if (part.values[0].isNone()) {
        ++next_;
      } else {
        // True takes the only element of the new dimension, False none.
        std::vector<int64_t> taken(part.values[0].toBool() ? 1 : 0, 0);
        addTensor(makeTensor(std::move(taken)), 1);
      }
    }
  }

  void skip(int64_t count) { next_ += count; }

  TensorPlace take() { return {std::move(view_), indices_.empty() ? IValue() : makeGenericList(std::move(indices_))}; }

 private:
  void addSlice(const std::vector<IValue>& bounds) {
    const bool is_all = std::ranges::all_of(bounds, [](const IValue& bound) { return bound.isNone(); });
    if (!is_all) {
      const IValue step = bounds[2].isNone() ? IValue(int64_t{1}) : bounds[2];
      const IValue arguments[] = {view_, next_, bounds[0], bounds[1], step};
      view_ = callOperator("aten::slice", arguments);
    }
    ++next_;
  }

  void addTensor(IValue tensor, int64_t dimensions) {
    for (; indexed_ < next_; ++indexed_) indices_.emplace_back();
    indices_.push_back(std::move(tensor));
    next_ += dimensions;
    indexed_ = next_;
  }

  IValue view_;
  int64_t next_ = 0;     // current dimension of the view
  int64_t indexed_ = 0;  // dimensions that the indices take
  std::vector<IValue> indices_;
};

}  // namespace

TensorPlace tensorPlace(const IValue& tensor, std::string_view form, std::span<const IValue> values) {
  const std::vector<Part> parts = partsOf(form, values);
  const int64_t dimensions = tensor.toTensor().dim();
  int64_t taken = 0;
  for (const Part& part : parts) taken += dimensionsOf(part);
  BOXCAR_CHECK_INDEX(taken <= dimensions, "an index of {} dimensions is too long for a Tensor of {}", taken,
                     dimensions);
  PlaceFinder finder(tensor);
  for (const Part& part : parts) {
    if (part.letter == '.') {
      finder.skip(dimensions - taken);
    } else {
      finder.add(part);
    }
  }
  return finder.take();
}

IValue elementAt(const TensorPlace& place) {
  if (place.indices.isNone()) return place.view;
  const IValue arguments[] = {place.view, place.indices};
  return callOperator("aten::index", arguments);
}

void setElementAt(const TensorPlace& place, const IValue& value) {
  if (place.indices.isNone()) {
    const IValue arguments[] = {place.view, value};
    callOperator(value.isTensor() ? "aten::copy_" : "aten::fill_", arguments);
    return;
  }
  // A number gets the tensor's dtype.
  const IValue typed[] = {value, place.view};
  const IValue arguments[] = {place.view, place.indices,
                              value.isTensor() ? value : callOperator("aten::type_as", typed)};
  callOperator("aten::index_put_", arguments);
}

}  // namespace boxcar::interp
