#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/operator_name.h>
#include <boxcar/schema/schema_error.h>  // IWYU pragma: export
#include <boxcar/schema/type.h>

#include <cstddef>
#include <string_view>
#include <variant>

namespace boxcar {

// Each of these throws SchemaError if the text violates the grammar or a rule of schemas.

// `aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`
BOXCAR_API FunctionSchema parseSchema(std::string_view text);

// `aten::add.Tensor`
BOXCAR_API OperatorName parseName(std::string_view text);

// Parses either; what follows the name decides which.
BOXCAR_API std::variant<OperatorName, FunctionSchema> parseSchemaOrName(std::string_view text);

// `Dict(str, Tensor?[])`; no alias annotations.
BOXCAR_API TypePtr parseType(std::string_view text);

// A schema at the start of a longer text.
struct SchemaPrefix {
  FunctionSchema schema;
  // The bytes of the schema, without the spaces and comments behind it.
  std::size_t length;
};

// Parses a schema and stops behind its last return: anything may follow. Newlines count as spaces inside parentheses
// only, so that a schema ends with its line.
BOXCAR_API SchemaPrefix parseSchemaPrefix(std::string_view text);

// The same for a type: `Dict(str, int) = {}`.
struct TypePrefix {
  TypePtr type;
  std::size_t length;
};
BOXCAR_API TypePrefix parseTypePrefix(std::string_view text);

}  // namespace boxcar
