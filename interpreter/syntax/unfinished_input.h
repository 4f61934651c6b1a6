#pragma once

#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>

namespace boxcar {

// An input that arrives line by line, as at a prompt. Complete statements of a block and complete elements of a bracket
// are not parsed again with each further line.
class BOXCAR_API UnfinishedInput {
 public:
  // Adds a line, including its end; returns whether the input continues after it, as Session::isUnfinished does for the
  // whole text. One difference: an error that involves text from earlier lines, such as a second argument of one name,
  // does not end the input early.
  bool add(std::string_view line);

 private:
  std::string text_;  // without what need not be parsed again
};

}  // namespace boxcar
