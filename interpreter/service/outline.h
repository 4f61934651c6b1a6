#pragma once

#include <boxcar/interpreter/syntax/source.h>

#include <string>
#include <string_view>
#include <vector>

namespace boxcar::service {

enum class SymbolKind : uint8_t {
  Function,
  Operator,
  Kernel,
  Fallback,
  Mode,
  Constant,
  Variable,
  Struct,
  Field,
  Method
};

// A declaration of a script, or a variable that its statements set.
struct Symbol {
  SymbolKind kind;
  std::string name;    // `impl aten::relu @ CPU`, `my::op`, `f`, `Struct.method`
  std::string detail;  // a signature; may be empty
  Span span;           // all of it
  Span name_span;
};

// Returns what a text declares at its top level, in its order; broken declarations are left out.
BOXCAR_API std::vector<Symbol> outline(std::string_view text, const std::string& name = "<input>");

}  // namespace boxcar::service
