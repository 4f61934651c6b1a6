#include <boxcar/interpreter/syntax/grammar.h>
#include <boxcar/interpreter/syntax/syntax_hint.h>
#include <boxcar/interpreter/syntax/tree_builder.h>
#include <boxcar/interpreter/syntax/tree_height.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace boxcar::syntax {
namespace {

namespace variant2 = boost::variant2;
using Kind = TokenKind;

// Returns the word of a declaration that is only allowed at top level; empty for other statements.
struct TopLevelWord {
  std::string_view operator()(const Use&) const { return "use"; }
  std::string_view operator()(const Import&) const { return "import"; }
  std::string_view operator()(const Const&) const { return "const"; }
  std::string_view operator()(const Function&) const { return "fn"; }
  std::string_view operator()(const Struct&) const { return "struct"; }
  std::string_view operator()(const Operator&) const { return "op"; }
  std::string_view operator()(const Mode&) const { return "mode"; }
  template <class Other>
  std::string_view operator()(const Other&) const {
    return {};
  }
};

// Returns the name in messages for an expression that cannot be assigned to.
struct TargetWord {
  std::string_view operator()(const NameRef&) const { return "a name with a namespace"; }
  std::string_view operator()(const Call&) const { return "a call"; }
  std::string_view operator()(const MethodCall&) const { return "a call"; }
  std::string_view operator()(const TupleLiteral&) const { return "a tuple inside of targets"; }
  std::string_view operator()(const ListLiteral&) const { return "a list"; }
  std::string_view operator()(const DictLiteral&) const { return "a dict"; }
  std::string_view operator()(const Comparison&) const { return "a comparison"; }
  std::string_view operator()(const Conditional&) const { return "a conditional"; }
  std::string_view operator()(const Comprehension&) const { return "a comprehension"; }
  std::string_view operator()(const Unary&) const { return "an operation"; }
  std::string_view operator()(const Binary&) const { return "an operation"; }
  std::string_view operator()(const Logical&) const { return "an operation"; }
  template <class Literal>
  std::string_view operator()(const Literal&) const {
    return "a literal";
  }
};

BinaryOp augmentedOp(Kind kind) {
  switch (kind) {
    case Kind::BarAssign: return BinaryOp::Or;
    case Kind::CaretAssign: return BinaryOp::Xor;
    case Kind::AmpersandAssign: return BinaryOp::And;
    case Kind::ShiftLeftAssign: return BinaryOp::ShiftLeft;
    case Kind::ShiftRightAssign: return BinaryOp::ShiftRight;
    case Kind::PlusAssign: return BinaryOp::Add;
    case Kind::MinusAssign: return BinaryOp::Subtract;
    case Kind::StarAssign: return BinaryOp::Multiply;
    case Kind::SlashAssign: return BinaryOp::Divide;
    case Kind::DoubleSlashAssign: return BinaryOp::FloorDivide;
    case Kind::PercentAssign: return BinaryOp::Remainder;
    case Kind::AtAssign: return BinaryOp::MatrixMultiply;
    default: return BinaryOp::Power;
  }
}

}  // namespace

// ---- Expressions ----

ExprPtr TreeBuilder::make(Span span, Expr::Node node) {
  const uint32_t height = heightOfChildren(node) + 1;
  return limitHeight(std::make_unique<Expr>(Expr{span, height, std::move(node)}), height);
}

ExprPtr TreeBuilder::limitHeight(ExprPtr expr, uint32_t height) {
  expr->height = height;
  if (height <= kMaxExpressionHeight) return expr;
  if (!statement_broken) {
    reject(expr->span, fmt::format("this expression is more than {} operations deep; assign a part of it to a variable",
                                   kMaxExpressionHeight));
  }
  return std::make_unique<Expr>(Expr{expr->span, 1, NoneLiteral{}});
}

ExprPtr TreeBuilder::literal(const Token& token) {
  switch (token.kind) {
    case Kind::Int: return make(token.span, IntLiteral{token.integer});
    case Kind::Float: return make(token.span, FloatLiteral{token.real});
    case Kind::Imaginary: return make(token.span, ImaginaryLiteral{token.real});
    case Kind::String: return make(token.span, StringLiteral{string(token)});
    case Kind::KwNone: return make(token.span, NoneLiteral{});
    case Kind::KwInf: return make(token.span, FloatLiteral{std::numeric_limits<double>::infinity()});
    case Kind::KwNan: return make(token.span, FloatLiteral{std::numeric_limits<double>::quiet_NaN()});
    default: return make(token.span, BoolLiteral{token.kind == Kind::KwTrue});
  }
}

ExprPtr TreeBuilder::build(Span span, Named&& parts) {
  const QualifiedName& name = parts.name;
  if (!parts.arguments.span.empty()) {
    return make(span, Call{name, std::move(parts.arguments.items), parts.arguments.span});
  }
  return make(span, NameRef{name});
}

ExprPtr TreeBuilder::build(Span span, IsInstance&& parts) {
  Call call{{{}, parts.name, {}, parts.name.span}, {}, parts.span};
  const Span value = parts.value->span;
  call.arguments.push_back({{}, std::move(parts.value), value});
  call.arguments.push_back({{}, make(parts.type, TypeText{}), parts.type});
  return make(span, std::move(call));
}

ExprPtr TreeBuilder::build(Span span, ListItems&& parts) {
  if (parts.clauses.empty()) return make(span, ListLiteral{std::move(parts.items)});
  return make(span, Comprehension{std::move(parts.items.front()), std::move(parts.clauses)});
}

ExprPtr TreeBuilder::build(Span span, SliceItem&& parts) {
  if (!parts.colon) return std::move(parts.start);
  return make(span, Slice{std::move(parts.start), std::move(parts.stop), std::move(parts.step)});
}

ExprPtr TreeBuilder::build(Span, ConditionalChain&& parts) {
  // `a if c else b if d else e` nests to the right.
  ExprPtr otherwise;
  for (size_t i = parts.links.size(); i-- > 0;) {
    ExprPtr last = otherwise ? std::move(otherwise) : std::move(parts.links[i].otherwise);
    ExprPtr& value = i == 0 ? parts.value : parts.links[i - 1].otherwise;
    const Span whole = join(value->span, last->span);
    otherwise = make(whole, Conditional{std::move(parts.links[i].condition), std::move(value), std::move(last)});
  }
  return otherwise ? std::move(otherwise) : std::move(parts.value);
}

ExprPtr TreeBuilder::build(Span span, Items&& items) {
  if (items.items.size() != 1 || items.comma) return make(span, TupleLiteral{std::move(items.items)});
  items.items.front()->span = span;
  return std::move(items.items.front());
}

ExprPtr TreeBuilder::tupleOrItem(Items&& items) {
  if (!items.comma) return std::move(items.items.front());
  const Span span = join(items.items.front()->span, items.items.back()->span);
  return make(span, TupleLiteral{std::move(items.items)});
}

ExprPtr TreeBuilder::member(ExprPtr object, Member&& member, uint32_t end) {
  const Span span = {object->span.begin, end};
  if (member.arguments.span.empty()) return make(span, Attribute{std::move(object), member.name});
  return make(span,
              MethodCall{std::move(object), member.name, std::move(member.arguments.items), member.arguments.span});
}

ExprPtr TreeBuilder::index(ExprPtr object, Items&& items, uint32_t end) {
  const Span span = {object->span.begin, end};
  return make(span, Index{std::move(object), tupleOrItem(std::move(items))});
}

void TreeBuilder::checkArguments(const std::vector<Argument>& arguments) {
  std::vector<const Argument*> keywords;
  for (const Argument& argument : arguments) {
    if (argument.keyword) {
      keywords.push_back(&argument);
    } else if (!keywords.empty()) {
      reject(argument.span, "a positional argument follows a keyword argument")
          .note(fmt::format("`{}` is given here", keywords.back()->keyword.text), source_, keywords.back()->span);
    }
  }
  const auto byName = [](const Argument* a, const Argument* b) { return a->keyword.text < b->keyword.text; };
  std::stable_sort(keywords.begin(), keywords.end(), byName);
  for (size_t i = 1; i < keywords.size(); ++i) {
    if (byName(keywords[i - 1], keywords[i])) continue;
    reject(keywords[i]->span, fmt::format("the argument `{}` is given twice", keywords[i]->keyword.text))
        .note("it is given here", source_, keywords[i - 1]->span);
  }
}

void TreeBuilder::addText(FormattedString& string, const Token& text) {
  string.parts.emplace_back(stream_.strings[text.index]);
}

// ---- Statements ----

void TreeBuilder::checkTarget(const Expr& expr) {
  const auto* name = variant2::get_if<NameRef>(&expr.node);
  if ((name != nullptr && !name->name.space) || variant2::holds_alternative<Index>(expr.node) ||
      variant2::holds_alternative<Attribute>(expr.node)) {
    return;
  }
  reject(expr.span, fmt::format("cannot assign to {}; a target is a name, an index or an attribute: `a`, `a[i]`, `a.b`",
                                variant2::visit(TargetWord{}, expr.node)));
}

Targets TreeBuilder::targets(Items&& items) {
  Targets targets;
  targets.span = join(items.items.front()->span, items.items.back()->span);
  targets.unpacks = items.comma;
  targets.items = std::move(items.items);
  if (!targets.unpacks) {
    if (auto* tuple = variant2::get_if<TupleLiteral>(&targets.items.front()->node); tuple && !tuple->items.empty()) {
      std::vector<ExprPtr> inner = std::move(tuple->items);
      targets.items = std::move(inner);
      targets.unpacks = true;
    }
  }
  for (const ExprPtr& item : targets.items) checkTarget(*item);
  return targets;
}

StmtPtr TreeBuilder::build(Span span, SimpleStatement&& parts) {
  if (parts.op == nullptr) return build(span, ExpressionStatement{tupleOrItem(std::move(parts.left))});
  ExprPtr value = tupleOrItem(std::move(parts.right));
  const bool unpacks = parts.left.comma;
  Targets left = targets(std::move(parts.left));
  if (parts.op->kind == Kind::Assign) return build(span, Assign{std::move(left), std::move(value)});
  if (unpacks || left.unpacks) {
    reject(left.span, fmt::format("`{}` takes one target", text(parts.op->span)));
  }
  return build(span, AugmentedAssign{std::move(left.items.front()), augmentedOp(parts.op->kind), parts.op->span,
                                     std::move(value)});
}

void TreeBuilder::checkPlace(const Stmt& stmt, Span begin) {
  if (blocks_ == 0) return;
  const std::string_view word = variant2::visit(TopLevelWord{}, stmt.node);
  if (!word.empty()) reject(begin, fmt::format("`{}` is only allowed at top level", word));
}

// ---- Errors ----

bool TreeBuilder::Inside::tooDeep() const { return builder_.nesting_ > kMaxNesting; }

void TreeBuilder::rejectNesting(Span span) {
  reject(span, fmt::format("this is nested more than {} levels deep", kMaxNesting));
}

void TreeBuilder::reportExpected(const Token* begin, const Token* where, const std::string& expected) {
  if (wasReported(begin, where)) return;
  Diagnostic& diagnostic =
      reject(where->span, fmt::format("expected {}, found {}", expected, describe(*where, *source_)));
  const std::string_view hint = syntaxHint(*source_, begin, where, expected);
  if (!hint.empty()) diagnostic.note(std::string(hint));
}

bool TreeBuilder::wasReported(const Token* begin, const Token* where) const {
  return std::any_of(begin, where + 1, [](const Token& token) { return token.reported; });
}

const Token* TreeBuilder::skipBracket(const Token* open) const {
  switch (open->kind) {
    case Kind::LeftParen:
    case Kind::LeftBracket:
    case Kind::DictOpen:
    case Kind::BlockOpen:
    case Kind::FStringBegin:
    case Kind::FieldBegin: return &stream_.tokens[open->index] + 1;
    default: return open + 1;
  }
}

const Token* TreeBuilder::skipStatement(const Token* begin, const Token* where) const {
  for (const Token* token = begin;; token = skipBracket(token)) {
    const bool ends = token->kind == Kind::Newline || token->kind == Kind::Semicolon;
    if (token->kind == Kind::EndOfFile || token->kind == Kind::BlockClose || (ends && token >= where)) return token;
  }
}

const Token* TreeBuilder::findBlock(const Token* begin) const {
  for (const Token* token = begin;; token = skipBracket(token)) {
    switch (token->kind) {
      case Kind::BlockOpen: return token;
      case Kind::Newline:
      case Kind::Semicolon:
      case Kind::BlockClose:
      case Kind::EndOfFile: return nullptr;
      default: break;
    }
  }
}

}  // namespace boxcar::syntax
