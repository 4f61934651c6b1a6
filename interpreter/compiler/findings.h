#pragma once

#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/schema/function_schema.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::interp {

// What inference finds out about a text, in the order of discovery, for tools that answer questions about the text.
// Names are views into it; schemas belong to the declarations.
struct Findings {
  // An expression's type; expressions with a reported error are left out.
  struct Value {
    Span span;
    TypePtr type;
    typed::FieldNames fields;
  };
  // An assignment to a variable; [span] covers its name.
  struct Assignment {
    std::string_view name;
    Span span;
    TypePtr type;
  };
  // A call, with its name at [name_span], resolves to this overload of an operator. Calls that are resolved at run time
  // are left out.
  struct Call {
    Span name_span;
    const FunctionSchema* schema;
  };

  // To be filled in beforehand: the variables that are set before the script's statements begin.
  std::vector<std::pair<std::string, TypePtr>> known;

  std::vector<Value> values;
  std::vector<Assignment> assignments;
  std::vector<Call> calls;

  struct Mark {
    size_t values = 0;
    size_t assignments = 0;
    size_t calls = 0;
  };
  Mark mark() const noexcept { return {values.size(), assignments.size(), calls.size()}; }
  // Drops everything found since [mark]; types change while the passes over a loop repeat.
  void dropFrom(const Mark& mark) {
    values.resize(mark.values);
    assignments.resize(mark.assignments);
    calls.resize(mark.calls);
  }
};

}  // namespace boxcar::interp
