#pragma once

#include <boxcar/interpreter/service/workspace.h>
#include <boxcar/interpreter/syntax/source.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace boxcar::service {

// What is known about a name.
struct Hover {
  Span span;
  std::string code;  // schemas, one a line, or `x: Tensor`; may be empty
  std::string text;  // what it does; may be empty
};

// Returns what the name at byte [offset] of [text] is; nullopt if there is nothing to say. [name]: the text's path.
BOXCAR_API std::optional<Hover> hover(std::string_view text, uint32_t offset, const std::string& name = "<input>",
                                      const Workspace& workspace = {});

}  // namespace boxcar::service
