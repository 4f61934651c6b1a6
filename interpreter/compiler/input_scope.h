#pragma once

#include <boxcar/interpreter/bytecode/bytecode.h>
#include <boxcar/interpreter/compiler/environment.h>
#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/type.h>

#include <functional>
#include <string>
#include <vector>

namespace boxcar::interp {

// What the compiler knows about earlier inputs when it compiles one of a session.
struct EarlierInputs {
  struct Variable {
    std::string name;
    TypePtr type;
    typed::FieldNames fields;
  };
  struct Constant {
    std::string name;
    TypePtr type;
  };
  // Loaded code, and which of its functions and modes still have their names.
  struct Module {
    const CodeUnit* unit;
    std::vector<std::string> names;
    std::vector<std::string> aliases;  // by which the session imported it
  };

  std::vector<Variable> variables;
  std::vector<Constant> constants;
  std::vector<Module> modules;  // the first modules of the new unit, in this order
  std::vector<std::string> uses;
  // Whether the session itself defined the operator of that name, so that an input may redefine it.
  std::function<bool(const OperatorName&)> defined;
  // Why the operator may not be redefined with this schema; empty if it may.
  std::function<std::string(const FunctionSchema&)> fault_of;
};

// What is known about an input's statements besides their code. They take the variables, each a Value, and return a
// tuple of their values at the end, followed by the input's value if it has one.
struct InputOutline {
  struct Place {
    Span span;
    Environment environment;  // where the statement begins
  };

  std::vector<std::string> variables;  // by id; "" for those of comprehensions, which end with them
  Environment at_end;
  std::vector<Place> places;
  size_t own_constants = 0;  // how many of the unit's constants the input sets; they come first
  bool has_value = false;
  // The value is the name of a dtype or similar, to be shown without quotes.
  bool value_is_name = false;
};

}  // namespace boxcar::interp
