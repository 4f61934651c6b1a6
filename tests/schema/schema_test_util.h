#pragma once

#include <boxcar/schema/parse_schema.h>

#include <string>
#include <string_view>
#include <vector>

namespace boxcar {

// Returns the printed form of what [text] parses to.
inline std::string reprinted(std::string_view text) { return toString(parseSchema(text)); }

// Returns the error of parsing [text], without its place, or that there is none.
inline std::string reasonAgainst(std::string_view text) {
  try {
    return "accepted as " + reprinted(text);
  } catch (const SchemaError& error) {
    return error.reason();
  }
}

// Returns the whole error, with place, text and caret.
inline std::string errorAgainst(std::string_view text) {
  try {
    return "accepted as " + reprinted(text);
  } catch (const SchemaError& error) {
    return error.what();
  }
}

// Returns the schemas of tests/data/aten_schemas.txt.
const std::vector<std::string>& atenSchemas();

}  // namespace boxcar
