#pragma once

#include <boxcar/schema/type.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// The numbers in the text of a function. Modules that differ in such numbers alone share a function, which takes as
// parameters those that differ.

namespace boxcar::interp::pt2 {

// A number as a parameter of a function that is called.
struct ParameterOfCall {
  size_t function = 0;
  size_t slot = 0;
};

struct NumberSlot {
  std::string name;    // what the number is for: "stride"
  std::string text;    // "2"
  TypePtr type;        // int or float
  std::string prefix;  // what is before it: ", stride="
  std::string normal;  // the value with which it is left out together with its prefix; empty if it always stands
  std::optional<ParameterOfCall> parameter;  // which argument it is of a call of another function
};

// The slots of a function while its lines are written.
class NumberSlots final {
 public:
  // Returns the mark that stands for the number in the text.
  std::string add(NumberSlot slot);
  // Returns the slots that [lines] have, in the order in which the lines have them, and numbers the marks so.
  std::vector<NumberSlot> take(std::vector<std::string>& lines);

 private:
  std::vector<NumberSlot> slots_;
};

// Returns [line] with [text_of](slot) in place of each mark.
std::string withoutMarks(std::string_view line, const std::function<std::string(size_t slot)>& text_of);

// Returns the names in [line] that a parameter must not have: not those of arguments, `stride=2`, and of methods.
void addNames(std::string_view line, std::set<std::string>& names);

}  // namespace boxcar::interp::pt2
