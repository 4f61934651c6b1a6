#pragma once

#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace boxcar::service {

// Returns a line that begins with `#`, without the sign and the blank after it.
inline std::string_view withoutHash(std::string_view line) {
  line.remove_prefix(1);
  if (line.starts_with(' ')) line.remove_prefix(1);
  return line;
}

// Returns the comment directly above the line of [offset]; empty if there is none. An interpreter line, `#!…`, is not a
// comment.
BOXCAR_API std::string commentAbove(const Source& source, uint32_t offset);

// Returns the name that contains [offset] or ends there; empty if there is none.
Span wordAt(std::string_view text, uint32_t offset) noexcept;

// Returns the first place of [word] in [within] where it is not part of a longer word; empty if there is none.
Span findWord(const Source& source, Span within, std::string_view word) noexcept;

}  // namespace boxcar::service
