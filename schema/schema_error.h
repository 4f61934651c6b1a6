#pragma once

#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace boxcar {

// Why a text is not a schema, and where. what() is the sentence with line and column, the line itself and a caret under
// the offending text:
//   schema, line 1, column 16: expected an argument name, found ')'
//     aten::f(Tensor) -> Tensor
//                   ^
class BOXCAR_API SchemaError : public RuntimeError {
 public:
  // [offset] and [length] select the offending bytes of [text]; [reason] is a sentence without a place.
  SchemaError(std::string_view text, std::size_t offset, std::size_t length, std::string reason);

  const std::string& reason() const noexcept { return reason_; }
  // Bytes from the start of the text.
  std::size_t offset() const noexcept { return offset_; }
  // Bytes of the offending text, 0 at the end of the text.
  std::size_t length() const noexcept { return length_; }
  // Both count from 1; columns count bytes.
  std::size_t line() const noexcept { return line_; }
  std::size_t column() const noexcept { return column_; }
  // The offending line and, on the next line, carets under the offending text; both indented by two spaces.
  const std::string& snippet() const noexcept { return snippet_; }

 private:
  struct Located;
  SchemaError(Located located, std::size_t offset, std::size_t length, std::string reason);

  std::string reason_;
  std::string snippet_;
  std::size_t offset_;
  std::size_t length_;
  std::size_t line_;
  std::size_t column_;
};

}  // namespace boxcar
