#pragma once

// Operations on lists, tuples, dicts and strings, and on tensors where Python's syntax is the same for them.

#include <boxcar/ivalue/stack.h>
#include <boxcar/schema/type.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace boxcar::interp {

// Returns how many numbers range(start, stop, step) has.
uint64_t rangeCount(int64_t start, int64_t stop, int64_t step);

// len(value): code points for a string, the size of the first dimension for a tensor.
int64_t lengthOf(const IValue& value);
// object[index]
IValue indexValue(const IValue& object, const IValue& index);
// object[index] for lists and tuples; the index, counted from the end if negative, must be in range.
IValue indexValue(const IValue& object, int64_t index);
void setIndex(const IValue& object, const IValue& index, const IValue& value);
// object[start:stop:step]; each may be None.
IValue sliceValue(const IValue& object, const IValue& start, const IValue& stop, const IValue& step);
bool contains(const IValue& container, const IValue& item);

// Returns a list of the list type [type]; the elements must convert to its element type.
IValue makeList(TypePtr type, std::span<const IValue> elements);
// Returns a list of the same kind as [list]; [elements] must be of its element type.
IValue makeListLike(const IValue& list, std::span<const IValue> elements);
// Returns a new list of the same kind with the same elements.
IValue copyOfList(const IValue& list);
// Appends the elements of [other], a list of the same kind, [times] times.
void appendList(const IValue& list, const IValue& other, size_t times = 1);
// Returns a list that holds values of any kind.
IValue makeGenericList(std::vector<IValue> elements);
// Changes a list of any kind; elements are converted to its element type.
void insertElement(const IValue& list, size_t place, const IValue& element);
void eraseElement(const IValue& list, size_t place);
void assignElements(const IValue& list, std::span<const IValue> elements);
// Sorts by Python's <; equal values keep their order.
void sortValues(std::vector<IValue>& values, bool reverse);
IValue makeDict(std::span<const IValue> keys_and_values);
// Pushes the elements of an iterable [value]; throws Error if there are not exactly [count].
void unpack(const IValue& value, size_t count, Stack& stack);

// Returns what a loop over [value] iterates over: a dict's keys, a string's characters, a tensor's first dimension.
IValue iterable(const IValue& value);
// Gets element [position] of an iterable() result; returns false past the end.
bool nextElement(const IValue& iterable, int64_t position, IValue& element);
// Returns all elements that a loop over [value] would visit.
std::vector<IValue> elementsOf(const IValue& value);

}  // namespace boxcar::interp
