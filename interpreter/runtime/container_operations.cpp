#include <boxcar/interpreter/runtime/container_operations.h>
#include <boxcar/interpreter/runtime/conversion.h>
#include <boxcar/interpreter/runtime/dynamic_call.h>
#include <boxcar/interpreter/runtime/sequence_index.h>
#include <boxcar/interpreter/runtime/tensor_index.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/ivalue/stop_request.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace boxcar::interp {
namespace {

using Tag = IValue::Tag;

// Calls [function] with [list], a list of any kind, as its List<T>.
template <class Function>
decltype(auto) withList(const IValue& list, Function function) {
  switch (list.tag()) {
    case Tag::IntList: return function(list.toIntList());
    case Tag::DoubleList: return function(list.toDoubleList());
    case Tag::BoolList: return function(list.toBoolList());
    case Tag::ComplexDoubleList: return function(list.toComplexDoubleList());
    case Tag::TensorList: return function(list.toTensorList());
    default: return function(list.toList());
  }
}

// Returns the list kind that holds elements of type [element].
Tag listTag(TypePtr element) {
  switch (element->underlying()->kind()) {
    case TypeKind::Int: return Tag::IntList;
    case TypeKind::Float: return Tag::DoubleList;
    case TypeKind::Bool: return Tag::BoolList;
    case TypeKind::Complex: return Tag::ComplexDoubleList;
    case TypeKind::Tensor: return Tag::TensorList;
    default: return Tag::GenericList;
  }
}

IValue emptyList(Tag tag, size_t capacity) {
  IValue list;
  switch (tag) {
    case Tag::IntList: list = List<int64_t>(); break;
    case Tag::DoubleList: list = List<double>(); break;
    case Tag::BoolList: list = List<bool>(); break;
    case Tag::ComplexDoubleList: list = List<std::complex<double>>(); break;
    case Tag::TensorList: list = List<Tensor>(); break;
    default: list = GenericList(); break;
  }
  withList(list, [capacity](const auto& typed) { typed.reserve(capacity); });
  return list;
}

// Returns the type that elements of a list must have; Any for lists of IValues.
TypePtr elementType(const IValue& list) {
  switch (list.tag()) {
    case Tag::IntList: return Type::integer();
    case Tag::DoubleList: return Type::floating();
    case Tag::BoolList: return Type::boolean();
    case Tag::ComplexDoubleList: return Type::complex();
    case Tag::TensorList: return Type::tensor();
    default: return Type::any();
  }
}

std::string_view sequenceName(const IValue& value) {
  return value.isString() ? "str" : value.isTuple() ? "tuple" : "list";
}

int64_t toIndex(const IValue& object, const IValue& index) {
  if (index.isInt()) return index.toInt();
  BOXCAR_CHECK(index.isBool(), "a {} is indexed by int, not by {}", sequenceName(object), kindName(index));
  return index.toBool();
}

[[noreturn]] void failKey(const IValue& dict, const IValue& key) {
  std::string suggestion;
  if (key.isString()) {
    const GenericDict entries = dict.toGenericDict();
    std::vector<std::string_view> names;
    for (size_t i = 0; i < entries.size(); ++i) {
      const IValue& name = entries.object()->keyAt(i);
      if (name.isString()) names.push_back(name.toStringView());
    }
    suggestion = didYouMean(key.toStringRef(), names);
  }
  BOXCAR_FAIL("the dict has no key {}{}{}", repr(key), suggestion.empty() ? "" : ".", suggestion);
}

IValue indexTensor(const IValue& tensor, const IValue& index) {
  if (index.isInt()) {
    BOXCAR_CHECK(tensor.toTensor().dim() > 0, "a Tensor without dimensions cannot be indexed by {}", index);
    const IValue arguments[] = {tensor, int64_t{0}, index};
    return callOperator("aten::select", arguments);
  }
  return elementAt(tensorPlace(tensor, "v", {&index, 1}));
}

}  // namespace

uint64_t rangeCount(int64_t start, int64_t stop, int64_t step) {
  BOXCAR_CHECK(step != 0, "range() arg 3 must not be zero");
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const uint64_t distance = step > 0 ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                                     : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
  return (distance - 1) / stride + 1;
}

int64_t lengthOf(const IValue& value) {
  if (value.isString()) return static_cast<int64_t>(utf8::countCodePoints(value.toStringRef()));
  if (value.isTensor()) {
    const Tensor& tensor = value.toTensor();
    BOXCAR_CHECK(tensor.dim() > 0, "a Tensor without dimensions has no len()");
    return tensor.size(0);
  }
  BOXCAR_CHECK(value.isList() || value.isTuple() || value.isGenericDict(), "{} has no len()", kindName(value));
  return static_cast<int64_t>(value.length());
}

IValue indexValue(const IValue& object, int64_t index) {
  if (object.isList() || object.isTuple()) {
    return object.elementAt(wrapIndex(index, object.length(), sequenceName(object)));
  }
  return indexValue(object, IValue(index));
}

IValue indexValue(const IValue& object, const IValue& index) {
  switch (object.tag()) {
    case Tag::GenericDict: {
      const IValue* value = object.unsafeGet<Tag::GenericDict>()->find(index);
      if (value == nullptr) failKey(object, index);
      return *value;
    }
    case Tag::Tensor: return indexTensor(object, index);
    case Tag::String: {
      const Characters characters(object.toStringView());
      return characters[wrapIndex(toIndex(object, index), characters.size(), "str")];
    }
    default:
      BOXCAR_CHECK(object.isList() || object.isTuple(), "{} cannot be indexed", kindName(object));
      return object.elementAt(wrapIndex(toIndex(object, index), object.length(), sequenceName(object)));
  }
}

void setIndex(const IValue& object, const IValue& index, const IValue& value) {
  if (object.isGenericDict()) {
    object.unsafeGet<Tag::GenericDict>()->insertOrAssign(index, value);
    return;
  }
  if (object.isTensor()) {
    setElementAt(tensorPlace(object, "v", {&index, 1}), value);
    return;
  }
  BOXCAR_CHECK(object.isList(), "the elements of {} cannot be set", kindName(object));
  const size_t place = wrapIndex(toIndex(object, index), object.length(), "list");
  withList(object, [&]<class T>(const List<T>& list) {
    list.set(place, convertValue(value, {elementType(object)}).template to<T>());
  });
}

IValue sliceValue(const IValue& object, const IValue& start, const IValue& stop, const IValue& step) {
  if (object.isTensor()) {
    const IValue arguments[] = {object, int64_t{0}, start, stop, step.isNone() ? IValue(int64_t{1}) : step};
    return callOperator("aten::slice", arguments);
  }
  if (object.isString()) {
    const Characters characters(object.toStringView());
    const SliceRange range = resolveSlice(start, stop, step, characters.size());
    std::string result;
    for (size_t i = 0; i < range.count; ++i) result += characters[range.at(i)];
    return result;
  }
  BOXCAR_CHECK(object.isList() || object.isTuple(), "{} cannot be sliced", kindName(object));
  const SliceRange range = resolveSlice(start, stop, step, object.length());
  std::vector<IValue> elements;
  elements.reserve(range.count);
  for (size_t i = 0; i < range.count; ++i) elements.push_back(object.elementAt(range.at(i)));
  if (object.isTuple()) return Tuple(std::move(elements));
  return makeListLike(object, elements);
}

bool contains(const IValue& container, const IValue& item) {
  if (container.isGenericDict()) return container.unsafeGet<Tag::GenericDict>()->find(item) != nullptr;
  if (container.isString()) {
    BOXCAR_CHECK(item.isString(), "'in' a str needs a str, not {}", kindName(item));
    return container.toStringRef().find(item.toStringRef()) != std::string::npos;
  }
  BOXCAR_CHECK(container.isList() || container.isTuple(), "'in' does not work on {}", kindName(container));
  for (size_t i = 0; i < container.length(); ++i) {
    if (container.elementAt(i) == item) return true;
  }
  return false;
}

IValue makeList(TypePtr type, std::span<const IValue> elements) {
  const TypePtr element = type->element();
  const IValue result = emptyList(listTag(element), elements.size());
  withList(result, [&]<class T>(const List<T>& list) {
    for (const IValue& value : elements) list.push_back(convertValue(value, {element}).template to<T>());
  });
  return result;
}

IValue makeListLike(const IValue& list, std::span<const IValue> elements) {
  const IValue result = emptyList(list.tag(), elements.size());
  withList(result, [&]<class T>(const List<T>& typed) {
    for (const IValue& value : elements) typed.push_back(value.to<T>());
  });
  return result;
}

IValue copyOfList(const IValue& list) {
  return withList(list, [](const auto& typed) { return IValue(typed.copy()); });
}

void appendList(const IValue& list, const IValue& other, size_t times) {
  if (list.is(other)) return appendList(list, copyOfList(other), times);
  withList(list, [&]<class T>(const List<T>& typed) {
    auto& values = typed.object()->values;
    const List<T> appended = other.to<List<T>>();
    const auto& more = appended.object()->values;
    if (times > 1) values.reserve(values.size() + times * more.size());
    StopCounter steps;
    for (size_t i = 0; i < times && !more.empty(); ++i) {
      values.insert(values.end(), more.begin(), more.end());
      steps.add(static_cast<int64_t>(more.size()));
    }
  });
}

IValue makeGenericList(std::vector<IValue> elements) {
  return GenericList(makeIntrusive<GenericListObject>(std::move(elements)));
}

void insertElement(const IValue& list, size_t place, const IValue& element) {
  withList(list, [&]<class T>(const List<T>& typed) {
    auto& values = typed.object()->values;
    values.insert(values.begin() + static_cast<std::ptrdiff_t>(place),
                  convertValue(element, {elementType(list)}).template to<T>());
  });
}

void eraseElement(const IValue& list, size_t place) {
  withList(list, [place](const auto& typed) {
    auto& values = typed.object()->values;
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(place));
  });
}

void assignElements(const IValue& list, std::span<const IValue> elements) {
  withList(list, [elements]<class T>(const List<T>& typed) {
    typed.clear();
    for (const IValue& element : elements) typed.push_back(element.to<T>());
  });
}

void sortValues(std::vector<IValue>& values, bool reverse) {
  StopCounter steps;
  std::ranges::stable_sort(values, [&](const IValue& a, const IValue& b) {
    steps.add(1);
    return (reverse ? orderValues(b, a) : orderValues(a, b)) == -1;
  });
}

IValue makeDict(std::span<const IValue> keys_and_values) {
  const GenericDict dict;
  for (size_t i = 0; i < keys_and_values.size(); i += 2) {
    dict.insert_or_assign(keys_and_values[i], keys_and_values[i + 1]);
  }
  return dict;
}

void unpack(const IValue& value, size_t count, Stack& stack) {
  const std::vector<IValue> elements = elementsOf(value);
  BOXCAR_CHECK(elements.size() == count, "{} names take the values of {}, which has {}", count, kindName(value),
               elements.size());
  stack.insert(stack.end(), elements.begin(), elements.end());
}

IValue iterable(const IValue& value) {
  if (value.isList() || value.isTuple()) return value;
  std::vector<IValue> elements;
  if (value.isGenericDict()) {
    const GenericDict dict = value.toGenericDict();
    for (size_t i = 0; i < dict.size(); ++i) elements.push_back(dict.object()->keyAt(i));
  } else if (value.isString()) {
    const Characters characters(value.toStringView());
    for (size_t i = 0; i < characters.size(); ++i) elements.emplace_back(characters[i]);
  } else if (value.isTensor()) {
    BOXCAR_CHECK(value.toTensor().dim() > 0, "a Tensor without dimensions cannot be iterated over");
    for (int64_t i = 0; i < value.toTensor().size(0); ++i) elements.push_back(indexTensor(value, i));
  } else {
    BOXCAR_FAIL("{} cannot be iterated over; lists, tuples, dicts, strs and tensors can", kindName(value));
  }
  return makeGenericList(std::move(elements));
}

bool nextElement(const IValue& iterable, int64_t position, IValue& element) {
  // Compiled loops have prepared it; assembled ones may not have.
  BOXCAR_CHECK(iterable.isList() || iterable.isTuple(), "a loop cannot continue over {}: it was never started",
               kindName(iterable));
  if (static_cast<uint64_t>(position) >= iterable.length()) return false;
  element = iterable.elementAt(static_cast<size_t>(position));
  return true;
}

std::vector<IValue> elementsOf(const IValue& value) {
  const IValue sequence = iterable(value);
  std::vector<IValue> elements;
  elements.reserve(sequence.length());
  for (size_t i = 0; i < sequence.length(); ++i) elements.push_back(sequence.elementAt(i));
  return elements;
}

}  // namespace boxcar::interp
