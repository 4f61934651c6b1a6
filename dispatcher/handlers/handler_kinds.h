#pragma once

#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/function_schema.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace boxcar {

// A kind of handler that scripts and command lines know by name: `with check_nan() { … }`, `boxcar run --check-nan
// FILE`.
struct HandlerKind {
  // Its name and parameters: "trace(str path) -> ()". The types are those that the command line can write: str, int,
  // float, bool.
  std::string_view schema;
  // One line for the help of the command line.
  std::string_view help;
  // Called by make().
  std::unique_ptr<Handler> (*create)(std::span<const IValue> arguments);
  // Returns what is wrong with values of the right types, without the kind's name; "" if nothing is. Null if nothing
  // can be wrong.
  std::string (*fault)(std::span<const IValue> arguments) = nullptr;

  // Parsed once, on first use.
  BOXCAR_API const FunctionSchema& parsedSchema() const;

  // Returns what is wrong with [arguments] as the values of the schema's arguments, without the kind's name; "" if
  // nothing is.
  BOXCAR_API std::string faultOf(std::span<const IValue> arguments) const;

  // Makes a handler from the values of all of the schema's arguments, and opens the files that it will write. Throws
  // Error with the kind's name and faultOf(), or if a file cannot be written.
  BOXCAR_API std::unique_ptr<Handler> make(std::span<const IValue> arguments) const;

  // "check_nan".
  std::string_view name() const noexcept { return schema.substr(0, schema.find('(')); }
};

// Returns all kinds, in the order of the README.
BOXCAR_API std::span<const HandlerKind* const> handlerKinds() noexcept;

// Returns null if there is none of that name.
BOXCAR_API const HandlerKind* findHandlerKind(std::string_view name) noexcept;

}  // namespace boxcar
