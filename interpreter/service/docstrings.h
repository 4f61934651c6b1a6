#pragma once

#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>
#include <unordered_map>

namespace boxcar::service {

// What operators that are written in C++ do, by name and overload: "aten::add.Tensor".
class BOXCAR_API Docstrings {
 public:
  // Takes those of a text in the form of a .schemas file: the `#` lines directly above a schema are its docstring.
  void add(std::string_view schemas);
  // Empty where there is none.
  std::string_view find(const std::string& name) const;

 private:
  std::unordered_map<std::string, std::string> texts_;
};

}  // namespace boxcar::service
