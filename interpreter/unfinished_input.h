#pragma once

#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>

namespace boxcar {

// An input that comes line by line, as at a prompt. Statements of a block and elements of a bracket that are complete
// are not read again with each further line.
class BOXCAR_API UnfinishedInput {
 public:
  // Adds a line, its end too; whether the input goes on after it, as Session::isUnfinished tells of the whole text.
  // Only what is wrong beside what was read before, as a second argument of one name is, does not end it early.
  bool add(std::string_view line);

 private:
  std::string text_;  // without what need not be read again
};

}  // namespace boxcar
