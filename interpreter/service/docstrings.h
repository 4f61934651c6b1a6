#pragma once

#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>
#include <unordered_map>

namespace boxcar::service {

// What operators written in C++ do, by name and overload: "aten::add.Tensor".
class BOXCAR_API Docstrings {
 public:
  // Adds the docstrings of a text in the format of a .schemas file: the `#` lines directly above a schema are its
  // docstring.
  void add(std::string_view schemas);
  // Returns an empty string if there is none.
  std::string_view find(const std::string& name) const;

 private:
  std::unordered_map<std::string, std::string> texts_;
};

}  // namespace boxcar::service
