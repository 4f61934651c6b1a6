#pragma once

#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>
#include <utility>

namespace boxcar {

// An Error of the system's, with its number: a file that is not there or may not be read.
class BOXCAR_API FileError : public RuntimeError {
 public:
  FileError(std::string message, int code) : RuntimeError(std::move(message)), code_(code) {}

  // The system's number of the error (errno), such as ENOENT.
  int code() const noexcept { return code_; }

 private:
  int code_;
};

// Throws the FileError of what the system said with [code]: "cannot open 'x': No such file or directory".
[[noreturn]] BOXCAR_API void throwFileError(int code, std::string_view what);

}  // namespace boxcar
