#pragma once

// The syntax tree of a script: plain structs that say what was written and where. Names are views into the source's
// text, which the tree keeps alive. Every node is complete: a member is present unless its comment says that it is
// optional.
//
// A span covers all of a construct's text; the span of a parenthesised expression includes its parentheses. The height
// of a tree is bounded (kMaxExpressionHeight, kMaxNesting in grammar.h), so recursive walks are safe.

#include <boxcar/interpreter/syntax/source.h>

#include <boost/variant2/variant.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::syntax {

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using StmtPtr = std::unique_ptr<Stmt>;

struct Name {
  std::string_view text;  // empty if an optional name is absent
  Span span;

  explicit operator bool() const noexcept { return !text.empty(); }
};

// `name`, `ns::name` or `ns::name.overload`.
struct QualifiedName {
  Name space;  // optional
  Name name;
  Name overload;  // optional, only with a namespace
  Span span;
};

// ---- Operators ----

enum class UnaryOp : uint8_t { Negate, Plus, Invert, Not };
enum class BinaryOp : uint8_t {
  Or,  // |
  Xor,
  And,  // &
  ShiftLeft,
  ShiftRight,
  Add,
  Subtract,
  Multiply,
  Divide,
  FloorDivide,
  Remainder,
  MatrixMultiply,
  Power
};
enum class CompareOp : uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, In, NotIn, Is, IsNot };
enum class LogicalOp : uint8_t { And, Or };

// The operator as written: "-", "//", "not in", "and".
BOXCAR_API std::string_view toString(UnaryOp op);
BOXCAR_API std::string_view toString(BinaryOp op);
BOXCAR_API std::string_view toString(CompareOp op);
BOXCAR_API std::string_view toString(LogicalOp op);

// ---- Expressions ----

struct NoneLiteral {};
struct BoolLiteral {
  bool value;
};
struct IntLiteral {
  int64_t value;  // 9223372036854775808, which only occurs after a minus, is stored as the least integer
};
struct FloatLiteral {
  double value;
};
struct ImaginaryLiteral {
  double value;
};
struct StringLiteral {
  std::string value;  // escapes decoded, UTF-8
};

// `[[fill]<>^][+][0][width][,][.n][dfegxs%]`
struct FormatSpec {
  std::string fill;  // one code point, or empty
  char align = 0;    // '<', '>', '^', or 0
  bool plus = false;
  bool zero = false;
  bool comma = false;
  char type = 0;  // one of "dfegxs%", or 0
  std::optional<uint32_t> width;
  std::optional<uint32_t> precision;
};
// `{e:spec}` in an f-string.
struct FormatField {
  ExprPtr value;
  std::optional<FormatSpec> spec;
  Span span;
};
struct FormattedString {
  std::vector<boost::variant2::variant<std::string, FormatField>> parts;
};

struct ListLiteral {
  std::vector<ExprPtr> items;
};
struct TupleLiteral {
  std::vector<ExprPtr> items;
};
struct DictItem {
  ExprPtr key;
  ExprPtr value;
};
struct DictLiteral {
  std::vector<DictItem> items;
};

// The targets of an assignment or a loop, each a NameRef or an Index.
struct Targets {
  std::vector<ExprPtr> items;
  bool unpacks = false;  // `a, b` and `a,`: the value is unpacked, its length checked
  Span span;
};

// `for x in xs if c if d`
struct ComprehensionClause {
  Targets targets;
  ExprPtr iterable;
  std::vector<ExprPtr> conditions;
};
// `[element for x in xs if c]`; each further clause is nested inside those before it.
struct Comprehension {
  ExprPtr element;
  std::vector<ComprehensionClause> clauses;
};

// A name that is not called: a variable, a constant, a dtype, `math::pi`.
struct NameRef {
  QualifiedName name;
};

struct Unary {
  UnaryOp op;
  ExprPtr operand;
};
struct Binary {
  BinaryOp op;
  Span op_span;
  ExprPtr left;
  ExprPtr right;
};
// `a and b and c`: at least two operands.
struct Logical {
  LogicalOp op;
  std::vector<ExprPtr> operands;
};
// `a < b <= c`: at least one link.
struct ComparisonLink {
  CompareOp op;
  Span op_span;
  ExprPtr operand;
};
struct Comparison {
  ExprPtr first;
  std::vector<ComparisonLink> links;
};
// `value if condition else otherwise`
struct Conditional {
  ExprPtr condition;
  ExprPtr value;
  ExprPtr otherwise;
};

// `object.name`
struct Attribute {
  ExprPtr object;
  Name name;
};
struct Argument {
  Name keyword;  // optional; positional arguments come first, no keyword occurs twice
  ExprPtr value;
  Span span;
};
// `callee(arguments)`; [arguments_span] reaches from `(` to `)`.
struct Call {
  QualifiedName callee;
  std::vector<Argument> arguments;
  Span arguments_span;
};
// `object.method(arguments)`; also the parse of `name.overload(arguments)` when the name has no namespace.
struct MethodCall {
  ExprPtr object;
  Name method;
  std::vector<Argument> arguments;
  Span arguments_span;
};

// `object[index]`; [index], or a tuple in it, may contain Slice and Ellipsis.
struct Index {
  ExprPtr object;
  ExprPtr index;
};
// `start:stop:step`, each optional.
struct Slice {
  ExprPtr start;
  ExprPtr stop;
  ExprPtr step;
};
struct Ellipsis {};

// The second argument of `isinstance(value, T)`: the text at the node's span is the type.
struct TypeText {};

struct Expr {
  using Node = boost::variant2::variant<NoneLiteral, BoolLiteral, IntLiteral, FloatLiteral, ImaginaryLiteral,
                                        StringLiteral, FormattedString, ListLiteral, TupleLiteral, DictLiteral,
                                        Comprehension, NameRef, Unary, Binary, Logical, Comparison, Conditional,
                                        Attribute, Call, MethodCall, Index, Slice, Ellipsis, TypeText>;

  Span span;
  uint32_t height;  // 1 for a leaf
  Node node;
};

// ---- Statements ----

// `{ … }`; the span includes the braces.
struct Block {
  std::vector<StmtPtr> statements;
  Span span;
};

struct ExpressionStatement {
  ExprPtr value;
};
// `a = e`, `x[i] = e`, `a, b = e`
struct Assign {
  Targets targets;
  ExprPtr value;
};
// `name: T = e`; the text at [type] is the type.
struct TypedAssign {
  Name name;
  Span type;
  ExprPtr value;
};
// `a += e` and similar; [op_span] covers the `+=`.
struct AugmentedAssign {
  ExprPtr target;
  BinaryOp op;
  Span op_span;
  ExprPtr value;
};
struct If {
  struct Branch {
    ExprPtr condition;
    Block body;
  };
  std::vector<Branch> branches;  // the `if`, then each `elif`
  std::optional<Block> otherwise;
};
struct While {
  ExprPtr condition;
  Block body;
};
struct For {
  Targets targets;
  ExprPtr iterable;
  Block body;
};
struct Break {};
struct Continue {};
struct Return {
  ExprPtr value;  // optional
};
struct Assert {
  ExprPtr condition;
  ExprPtr message;  // optional
};
struct Raise {
  ExprPtr message;
};
struct With {
  std::vector<ExprPtr> scopes;
  Block body;
};

// ---- Declarations ----
// Use, Import, Const, Function, Operator, Mode and Struct occur at top level only; the body of a Struct has Fields and
// Functions, its methods.

struct Use {
  Name space;
};
struct Import {
  std::string path;
  Span path_span;
  Name alias;  // optional: `import "file" as alias`
};
struct Const {
  Name name;
  ExprPtr value;
};
// `fn name(…) -> … { … }`; the text at [signature] is the schema, from the name to the end of the returns.
struct Function {
  Name name;
  Span signature;
  Block body;
};
// `TYPE name = default`, in a struct; the text at [type] is the type.
struct Field {
  Span type;
  Name name;
  ExprPtr initial;  // optional
};
// `struct name { … }`
struct Struct {
  Name name;
  Block body;
};
// `op ns::name.overload(…) -> … { … }`
struct Operator {
  QualifiedName name;
  Span signature;
  std::optional<Block> body;  // absent if the operator is only declared
};
// `impl ns::name.overload @ KEY { … }`
struct Impl {
  QualifiedName name;
  Name key;
  Block body;
};
// `fallback @ KEY { … }`
struct Fallback {
  Name key;
  Block body;
};
// `mode name @ Python { … } exit { … }`
struct Mode {
  Name name;
  Name key;  // optional
  Block body;
  std::optional<Block> exit;
};

struct Stmt {
  using Node = boost::variant2::variant<ExpressionStatement, Assign, TypedAssign, AugmentedAssign, If, While, For,
                                        Break, Continue, Return, Assert, Raise, With, Use, Import, Const, Function,
                                        Field, Struct, Operator, Impl, Fallback, Mode>;

  Span span;
  Node node;
};

struct SyntaxTree {
  SourcePtr source;
  std::vector<StmtPtr> statements;
};

}  // namespace boxcar::syntax
