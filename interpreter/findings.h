#pragma once

#include <boxcar/interpreter/source.h>
#include <boxcar/interpreter/typed_program.h>
#include <boxcar/schema/function_schema.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::interp {

// What inferences find out about a text, in the order in which they find it, for those who are asked about the text.
// Names are views into it; schemas are the declarations'.
struct Findings {
  // An expression's type; nothing of those in which an error was reported.
  struct Value {
    Span span;
    TypePtr type;
    typed::FieldNames fields;
  };
  // A variable is set; [span] is that of its name.
  struct Assignment {
    std::string_view name;
    Span span;
    TypePtr type;
  };
  // A call, under its name's span, means this overload of an operator. Calls that are resolved when they run are not
  // here.
  struct Call {
    Span name_span;
    const FunctionSchema* schema;
  };

  // To be filled before: what the script's statements find set where they begin.
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
  // Forgets all that was found since; types change while loops are gone through.
  void dropFrom(const Mark& mark) {
    values.resize(mark.values);
    assignments.resize(mark.assignments);
    calls.resize(mark.calls);
  }
};

}  // namespace boxcar::interp
