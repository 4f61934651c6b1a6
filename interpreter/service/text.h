#pragma once

#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace boxcar::service {

// A line that begins with `#`, without the sign and the blank behind it.
inline std::string_view withoutHash(std::string_view line) {
  line.remove_prefix(1);
  if (line.starts_with(' ')) line.remove_prefix(1);
  return line;
}

// The comment whose lines stand directly above the line of [offset]; empty where there is none. An interpreter line,
// `#!…`, is no comment.
BOXCAR_API std::string commentAbove(const Source& source, uint32_t offset);

// The name that [offset] stands in, or directly behind; empty where there is none.
Span wordAt(std::string_view text, uint32_t offset) noexcept;

// Where the word [word] first stands in [within], not as a part of a longer one; empty where it does not.
Span findWord(const Source& source, Span within, std::string_view word) noexcept;

}  // namespace boxcar::service
