#pragma once

#include <boxcar/interpreter/bytecode.h>
#include <boxcar/interpreter/environment.h>
#include <boxcar/interpreter/source.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/type.h>

#include <functional>
#include <string>
#include <vector>

namespace boxcar::interp {

// What the compiler is told of earlier inputs when it compiles one of a session.
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
  // Code that has been loaded, and which of its functions and modes go by their names still.
  struct Module {
    const CodeUnit* unit;
    std::vector<std::string> names;
  };

  std::vector<Variable> variables;
  std::vector<Constant> constants;
  std::vector<Module> modules;  // the first ones of the new unit, in this order
  std::vector<std::string> uses;
  // Whether the session defined the operator of that name itself, so that an input may do so anew.
  std::function<bool(const OperatorName&)> defined;
  // Why the operator may not be defined anew with this schema; empty where it may.
  std::function<std::string(const FunctionSchema&)> fault_of;
};

// What is known of an input's statements besides their code. They take the variables, each a Value, and return a tuple
// of what they hold at the end, with the input's value behind them where it has one.
struct InputOutline {
  struct Place {
    Span span;
    Environment environment;  // where the statement begins
  };

  std::vector<std::string> variables;  // by id; "" for those of comprehensions, which end there
  Environment at_end;
  std::vector<Place> places;
  size_t own_constants = 0;  // how many of the unit's are set by the input, the first ones
  bool has_value = false;
  // That the value is the text of a dtype or its like, to be shown without quotes.
  bool value_is_name = false;
};

}  // namespace boxcar::interp
