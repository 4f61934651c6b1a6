#pragma once

// What is done with lists, tuples, dicts and strings; with tensors where Python's syntax does the same with them.

#include <boxcar/ivalue/stack.h>
#include <boxcar/schema/type.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace boxcar::interp {

// How many numbers range(start, stop, step) has.
uint64_t rangeCount(int64_t start, int64_t stop, int64_t step);

// len(value); code points for a string, the first dimension for a tensor.
int64_t lengthOf(const IValue& value);
// object[index]
IValue indexValue(const IValue& object, const IValue& index);
// object[index] for lists and tuples, whose index is in range after counting from the end.
IValue indexValue(const IValue& object, int64_t index);
void setIndex(const IValue& object, const IValue& index, const IValue& value);
// object[start:stop:step]; each may be None.
IValue sliceValue(const IValue& object, const IValue& start, const IValue& stop, const IValue& step);
bool contains(const IValue& container, const IValue& item);

// A list of type [type], which is one, of elements that convert to its element type.
IValue makeList(TypePtr type, std::span<const IValue> elements);
// A list of the same kind as [list], which holds such elements.
IValue makeListLike(const IValue& list, std::span<const IValue> elements);
// A new list of the same kind and elements.
IValue copyOfList(const IValue& list);
// Adds the elements of [other], a list of the same kind, [times] times.
void appendList(const IValue& list, const IValue& other, size_t times = 1);
// A list that holds values of any kind.
IValue makeGenericList(std::vector<IValue> elements);
// Changes a list of any kind; elements are converted to its element type.
void insertElement(const IValue& list, size_t place, const IValue& element);
void eraseElement(const IValue& list, size_t place);
void assignElements(const IValue& list, std::span<const IValue> elements);
// By Python's <, equal ones in the order that they have.
void sortValues(std::vector<IValue>& values, bool reverse);
IValue makeDict(std::span<const IValue> keys_and_values);
// Pushes the elements of what a loop could walk over; an Error when they are not [count].
void unpack(const IValue& value, size_t count, Stack& stack);

// What a loop walks over instead of [value]: a dict's keys, a string's characters, a tensor's first dimension.
IValue iterable(const IValue& value);
// Element [position] of what iterable() gave; false past the end.
bool nextElement(const IValue& iterable, int64_t position, IValue& element);
// All elements that a loop would give.
std::vector<IValue> elementsOf(const IValue& value);

}  // namespace boxcar::interp
