#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/operator_name.h>
#include <boxcar/schema/schema_error.h>  // IWYU pragma: export
#include <boxcar/schema/type.h>

#include <cstddef>
#include <string_view>
#include <variant>
#include <vector>

namespace boxcar {

// Each of these throws SchemaError if the text violates the grammar or a rule of schemas.

// Names of types besides those of schemas, for texts that can have more: `Linear`, `m.Linear`.
class BOXCAR_API TypeNames {
 public:
  virtual ~TypeNames() = default;
  // Returns the type called [name]; null if there is none.
  virtual TypePtr find(std::string_view name) const = 0;
  // Whether [word] is the part of names before the point.
  virtual bool qualifies(std::string_view word) const = 0;
  // Returns the names, as candidates for suggestions.
  virtual std::vector<std::string_view> candidates() const = 0;
};

// `aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`
BOXCAR_API FunctionSchema parseSchema(std::string_view text);

// `aten::add.Tensor`
BOXCAR_API OperatorName parseName(std::string_view text);

// Parses either; what follows the name decides which.
BOXCAR_API std::variant<OperatorName, FunctionSchema> parseSchemaOrName(std::string_view text);

// `Dict(str, Tensor?[])`; no alias annotations.
BOXCAR_API TypePtr parseType(std::string_view text, const TypeNames* names = nullptr);

// A schema at the start of a longer text.
struct SchemaPrefix {
  FunctionSchema schema;
  // The bytes of the schema, without the spaces and comments behind it.
  std::size_t length;
};

// Parses a schema and stops behind its last return: anything may follow. Newlines count as spaces inside parentheses
// only, so that a schema ends with its line.
BOXCAR_API SchemaPrefix parseSchemaPrefix(std::string_view text, const TypeNames* names = nullptr);

// The same for a type: `Dict(str, int) = {}`.
struct TypePrefix {
  TypePtr type;
  std::size_t length;
};
BOXCAR_API TypePrefix parseTypePrefix(std::string_view text, const TypeNames* names = nullptr);

}  // namespace boxcar
