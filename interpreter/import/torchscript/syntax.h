#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// The source of a TorchScript archive: the part of Python that PyTorch writes there.

namespace boxcar::interp::torchscript {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct Keyword {
  std::string name;
  ExprPtr value;
};

struct Expr {
  enum class Kind : uint8_t {
    Name,       // text
    Attribute,  // items[0].text
    Index,      // items[0][items[1]]
    Call,       // items[0](items[1], …, keywords)
    Int,
    Float,
    Imaginary,
    String,  // text, unescaped
    List,
    Tuple,
    Dict,  // key, value, key, value …
    Sum,   // a complex number as it is written, "1.+2.j": items
  };
  Kind kind = Kind::Name;
  std::string text;
  int64_t integer = 0;
  double number = 0;
  std::vector<ExprPtr> items;
  std::vector<Keyword> keywords;
  uint32_t line = 0;
};

struct Parameter {
  std::string name;
  ExprPtr type;           // null for self without one
  ExprPtr default_value;  // null if there is none
};

struct Stmt;
using StmtPtr = std::unique_ptr<Stmt>;
using Block = std::vector<StmtPtr>;

struct Stmt {
  enum class Kind : uint8_t {
    Assign,    // targets = values[0]; `a, b = c, d` has a Tuple as its value
    Evaluate,  // values[0]
    If,        // values[0], body, otherwise
    While,     // values[0], body
    For,       // targets[0] in values[0], body
    With,      // values[0] as targets, body
    Return,    // values, or none
    Pass,
    Break,     // PyTorch writes none: see counted_loops.h
    Function,  // a function inside, for a fork: name, body
  };
  Kind kind = Kind::Pass;
  std::string name;
  std::vector<ExprPtr> targets;
  bool unpacks = false;  // `a, b, = c`
  ExprPtr type;          // of `a : T = b`; null if it has none
  std::vector<ExprPtr> values;
  Block body;
  Block otherwise;
  uint32_t line = 0;
};

struct Function {
  std::string name;
  std::vector<Parameter> parameters;
  ExprPtr result;  // null if it says none
  Block body;
  uint32_t line = 0;
};

struct Field {
  std::string name;
  ExprPtr type;           // null in an Enum
  ExprPtr default_value;  // of `Final`s and of an Enum's members
};

struct Class {
  std::string name;
  std::string base;  // "Module", "NamedTuple", "Enum", "Interface", "ModuleInterface"; empty if it has none
  std::vector<Field> fields;
  std::vector<Function> methods;
  uint32_t line = 0;
};

struct Unit {
  std::vector<Class> classes;
  std::vector<Function> functions;
};

// Reads the text of one file. [what] names it in errors. Throws Error that names the line for what PyTorch does not
// write there, and for expressions and blocks nested more than 200 deep.
Unit parseUnit(std::string_view text, const std::string& what);

// Reads a type alone, such as "Dict[str, int]".
ExprPtr parseType(std::string_view text, const std::string& what);

// Returns the dotted name that [expr] is, "__torch__.torch.nn.Linear"; empty if it is something else.
std::string dottedName(const Expr& expr);

}  // namespace boxcar::interp::torchscript
