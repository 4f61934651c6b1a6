#pragma once

#include <boxcar/interpreter/bytecode/bytecode.h>
#include <boxcar/interpreter/syntax/source.h>

namespace boxcar {

// Returns the unit without source positions, the only difference between two layouts of a script.
inline interp::CodeUnit withoutPlaces(interp::CodeUnit unit) {
  unit.source = Source::create("", "");
  for (interp::CodeFunction& function : unit.functions) {
    function.source = unit.source;
    function.span = {};
    for (Span& span : function.spans) span = {};
  }
  for (auto& part : unit.operators) part.span = {};
  for (auto& part : unit.exports) part.span = {};
  for (auto& part : unit.structs) part.span = {};
  for (auto& part : unit.handlers) part.span = {};
  for (auto& part : unit.modules) part.span = {};
  return unit;
}

}  // namespace boxcar
