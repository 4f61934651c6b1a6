#pragma once

#include <boxcar/schema/schema_error.h>

#include <string>
#include <string_view>
#include <utility>

namespace boxcar::detail {

// The text being parsed. The parser keeps only views into it, which also give positions.
struct SourceText {
  std::string_view text;

  [[noreturn]] void fail(std::string_view where, std::string reason) const {
    throw SchemaError(text, static_cast<std::size_t>(where.data() - text.data()), where.size(), std::move(reason));
  }
};

}  // namespace boxcar::detail
