#pragma once

// A script after inference: every name resolved, every expression with its type, every conversion explicit. Inference
// builds it from the syntax tree, liveness marks it, codegen turns it into bytecode.

#include <boxcar/interpreter/bytecode/bytecode.h>
#include <boxcar/interpreter/bytecode/opcodes.h>
#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/schema/type.h>

#include <boost/variant2/variant.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace boxcar::interp::typed {

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using StmtPtr = std::unique_ptr<Stmt>;
using Block = std::vector<StmtPtr>;
using VariableId = uint32_t;

// The names of a tuple's elements, if an operator's schema gives them: `values`, `indices`.
using FieldNames = std::shared_ptr<const std::vector<std::string>>;

// A variable has a slot for each kind in which it is held; its type may change from place to place. Variables that the
// script names come first; those that the compiler makes have ids from here on.
inline constexpr VariableId kFirstMadeVariable = 1u << 31;

struct Target {
  VariableId variable;
  SlotKind kind;
};

// ---- Expressions ----

struct Constant {
  IValue value;
};
struct ReadVariable {
  VariableId variable;
  SlotKind kind;
  bool is_last_use = false;  // set by markLastUses
};
struct ReadGlobal {
  uint32_t global;
};
// An instruction with its result in field a and its operands in the other fields, as in the opcode table.
struct Operate {
  Opcode op;
  ExprPtr left;
  ExprPtr right;                // null if the opcode has one operand
  TypePtr parameter = nullptr;  // of an opcode with a type
};
// Operands are bool.
struct Logical {
  bool is_and;
  std::vector<ExprPtr> operands;
};
struct Conditional {
  ExprPtr condition;  // bool
  ExprPtr value;
  ExprPtr otherwise;
};
// One argument per parameter of the schema, in its order.
struct CallOperator {
  OperatorName name;
  std::vector<ExprPtr> arguments;
  uint16_t results;
};
// Arguments as written.
struct CallDynamic {
  std::string name;
  std::optional<std::string> overload;
  std::vector<ExprPtr> arguments;
  std::vector<std::string> keywords;  // of the last arguments
};
struct CallFunction {
  uint32_t function;  // index in the unit's functions or its imports
  std::vector<ExprPtr> arguments;
  bool is_imported = false;
};
// A function as a value.
struct FunctionValue {
  uint32_t function;  // as in CallFunction
  bool is_imported = false;
};
struct CallBuiltin {
  uint16_t builtin;
  std::vector<ExprPtr> arguments;
};
struct MakeList {
  std::vector<ExprPtr> items;
};
struct MakeTuple {
  std::vector<ExprPtr> items;
};
struct MakeDict {
  std::vector<ExprPtr> items;  // key, value, key, value …
};
// A value of struct [structure] of the unit, with the values of its fields in their order.
struct MakeStruct {
  uint16_t structure;
  std::vector<ExprPtr> fields;
};
struct GetField {
  ExprPtr object;
  CodeField field;
  SlotKind kind;
};
struct MakeSlice {
  ExprPtr object;
  ExprPtr start;  // the bounds are int or None
  ExprPtr stop;
  ExprPtr step;
};
// Runs [statements], then evaluates to [value].
struct Sequence {
  Block statements;
  ExprPtr value;
};

struct Expr {
  using Node = boost::variant2::variant<Constant, ReadVariable, ReadGlobal, Operate, Logical, Conditional, CallOperator,
                                        CallDynamic, CallFunction, FunctionValue, CallBuiltin, MakeList, MakeTuple,
                                        MakeDict, MakeStruct, GetField, MakeSlice, Sequence>;
  TypePtr type;
  Span span;
  Node node;
  FieldNames fields;
};

// ---- Statements ----

// Moves a variable to its slot of another kind, where paths with different types meet.
struct Recast {
  VariableId variable;
  SlotKind from;
  SlotKind to;
};
using Recasts = std::vector<Recast>;

struct Evaluate {
  ExprPtr value;
};
struct SetVariable {
  Target target;
  ExprPtr value;
};
// Done once for all runs of the program.
struct SetGlobal {
  uint32_t global;
  ExprPtr value;
};
// For lists and dicts.
struct SetIndex {
  ExprPtr object;
  ExprPtr index;
  ExprPtr value;
};
struct SetField {
  ExprPtr object;
  CodeField field;
  ExprPtr value;
};
// Unpacks a tuple or list of the same length, or a str.
struct Unpack {
  ExprPtr value;
  std::vector<Target> targets;
};
struct If {
  struct Branch {
    ExprPtr condition;  // bool
    Block body;
  };
  std::vector<Branch> branches;  // the first one whose condition holds runs
  Block otherwise;
};
// In each loop, [at_end] runs unless a break ends the loop.
struct While {
  ExprPtr condition;  // bool
  Block body;
  Block at_end;
};
struct ForRange {
  ExprPtr start;  // all three int
  ExprPtr stop;
  ExprPtr step;
  VariableId variable;  // of kind Int
  Block body;
  Block at_end;
};
struct ForEach {
  ExprPtr iterable;
  VariableId variable;  // of kind Value
  TypePtr element;      // its type
  Block body;
  Block at_end;
};
struct RecastAll {
  Recasts recasts;
};
// Of the innermost loop.
struct Break {};
struct Continue {};
struct Return {
  ExprPtr value;  // null if the function has no result
};
// Ends the run with an error; the value of [message] is its text.
struct Fail {
  ExprPtr message;
};
// The scopes begin in order. They end in reverse order, however the body is left.
struct Scope {
  CodeScope scope;
  ExprPtr handler;  // null if [scope] is enough
};
struct With {
  std::vector<Scope> scopes;
  Block body;
};
// Registers an `impl` or a `fallback`.
struct Register {
  uint32_t handler;
};
// Runs the statements of a module, once for all runs.
struct RunModule {
  uint32_t module;
  uint32_t import;  // the import that calls them
};

struct Stmt {
  using Node =
      boost::variant2::variant<Evaluate, SetVariable, SetGlobal, SetIndex, SetField, Unpack, If, While, ForRange,
                               ForEach, RecastAll, Break, Continue, Return, Fail, With, Register, RunModule>;
  Span span;
  Node node;
};

struct Function {
  std::string name;  // its name in call stacks
  Span span;
  std::vector<std::string> names;  // of its variables by id, arguments first
  std::vector<SlotKind> arguments;
  SlotKind result = SlotKind::Value;
  Block body;
};

}  // namespace boxcar::interp::typed
