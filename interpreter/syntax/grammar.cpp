// The grammar of .ops, in Boost.Spirit X3 over tokens: `a >> b` is a sequence, `a > b` a sequence in which b must
// follow (else X3 throws, and the statement is abandoned), `a | b` a choice, `*a` any number, `-a` an option, `!a` a
// negative lookahead.
//
// A rule named …_parts collects a struct, member by member; expr(…) and stmt(…) make nodes from such structs.

#include <boxcar/interpreter/syntax/grammar.h>
#include <boxcar/interpreter/syntax/lexer.h>
#include <boxcar/interpreter/syntax/operator_fold.h>
#include <boxcar/interpreter/syntax/token_parsers.h>

namespace boxcar::syntax {
namespace {

using namespace x3_tokens;
using Kind = TokenKind;

// ---- Tokens ----

constexpr Sign comma(Kind::Comma);
constexpr Sign colon(Kind::Colon);
constexpr Sign assign(Kind::Assign);
constexpr Sign at(Kind::At);
constexpr Sign left_paren(Kind::LeftParen);
constexpr Sign right_paren(Kind::RightParen, "`,` or `)`");
constexpr Sign left_bracket(Kind::LeftBracket);
constexpr Sign right_bracket(Kind::RightBracket, "`,` or `]`");
constexpr Sign dict_close(Kind::DictClose, "`,` or `}`");

bool isWord(Iterator token) { return token->kind == Kind::Name || isKeyword(token->kind); }

bool takeName(Iterator& first, TreeBuilder& builder, Name& attribute) {
  attribute = builder.name(*first++);
  return true;
}

constexpr auto name = primitive<Name>("a name", [](Iterator& first, TreeBuilder& builder, Name& attribute) {
  return first->kind == Kind::Name && takeName(first, builder, attribute);
});

// A keyword counts as a name where only a name is possible: `x.mode()`, `aten::mode`.
constexpr auto word = primitive<Name>("a name", [](Iterator& first, TreeBuilder& builder, Name& attribute) {
  return isWord(first) && takeName(first, builder, attribute);
});

// `name` before `:`, in `name: T = e`.
constexpr auto typed_name = primitive<Name>("a name", [](Iterator& first, TreeBuilder& builder, Name& attribute) {
  return first->kind == Kind::Name && first[1].kind == Kind::Colon && takeName(first, builder, attribute);
});

// `name=` before an argument.
constexpr auto argument_name = primitive<Name>("a name", [](Iterator& first, TreeBuilder& builder, Name& attribute) {
  if (!isWord(first) || first[1].kind != Kind::Assign) return false;
  takeName(first, builder, attribute);
  ++first;
  return true;
});

// `.overload` before `(`; elsewhere the point begins an attribute.
constexpr auto overload_name = primitive<Name>("a name", [](Iterator& first, TreeBuilder& builder, Name& attribute) {
  if (first->kind != Kind::Dot || !isWord(first + 1) || first[2].kind != Kind::LeftParen) return false;
  ++first;
  return takeName(first, builder, attribute);
});

bool isContextual(Iterator token, TreeBuilder& builder, std::string_view text, Kind next) {
  return token->kind == Kind::Name && token[1].kind == next && builder.text(token->span) == text;
}

constexpr auto op_word = primitive<Name>("`op`", [](Iterator& first, TreeBuilder& builder, Name& attribute) {
  return isContextual(first, builder, "op", Kind::Name) && takeName(first, builder, attribute);
});

constexpr auto isinstance_word =
    primitive<Name>("isinstance", [](Iterator& first, TreeBuilder& builder, Name& attribute) {
      return isContextual(first, builder, "isinstance", Kind::LeftParen) && takeName(first, builder, attribute);
    });

constexpr auto as_word = primitive<Name>("`as`", [](Iterator& first, TreeBuilder& builder, Name& attribute) {
  return isContextual(first, builder, "as", Kind::Name) && takeName(first, builder, attribute);
});

// `exit`, which may begin the line after the mode's block.
constexpr auto exit_word = primitive<Name>("`exit`", [](Iterator& first, TreeBuilder& builder, Name& attribute) {
  const Iterator exit = first->kind == Kind::Newline ? first + 1 : first;
  if (!isContextual(exit, builder, "exit", Kind::BlockOpen)) return false;
  first = exit;
  return takeName(first, builder, attribute);
});

constexpr auto token(auto... kinds) {
  return primitive<Iterator>("a token", [kinds...](Iterator& first, TreeBuilder&, Iterator& attribute) {
    if (((first->kind != kinds) && ...)) return false;
    attribute = first++;
    return true;
  });
}

constexpr auto literal = primitive<ExprPtr>("a literal", [](Iterator& first, TreeBuilder& builder, ExprPtr& attribute) {
  switch (first->kind) {
    case Kind::Int:
    case Kind::Float:
    case Kind::Imaginary:
    case Kind::String:
    case Kind::KwNone:
    case Kind::KwTrue:
    case Kind::KwFalse:
    case Kind::KwInf:
    case Kind::KwNan: attribute = builder.literal(*first++); return true;
    default: return false;
  }
});

constexpr auto ellipsis = primitive<ExprPtr>("`...`", [](Iterator& first, TreeBuilder& builder, ExprPtr& attribute) {
  if (first->kind != Kind::Ellipsis) return false;
  attribute = builder.make(first->span, Ellipsis{});
  ++first;
  return true;
});

constexpr auto path = primitive<Import>("a path in quotes", [](Iterator& first, TreeBuilder& builder, Import& import) {
  if (first->kind != Kind::String) return false;
  import = {builder.string(*first), first->span, {}};
  ++first;
  return true;
});

// Code that reads the text by its brackets, such as the formatter, recurses as deep as they nest.
void checkNesting(Iterator begin, Iterator end, TreeBuilder& builder) {
  std::vector<Iterator> closed;
  for (Iterator token = begin; token != end; ++token) {
    while (!closed.empty() && token >= closed.back()) closed.pop_back();
    const Iterator behind = builder.skipBracket(token);
    if (behind == token + 1) continue;
    closed.push_back(behind);
    if (closed.size() <= kMaxNesting) continue;
    builder.rejectNesting(token->span);
    throw Failure(token, "");
  }
}

// Takes the text for the schema's parser: up to the block, a sign of kind [end], or the statement's end.
bool takeText(Iterator& first, TreeBuilder& builder, Kind end, Span& attribute) {
  const Iterator begin = first;
  const auto ends = [end](Kind kind) {
    return kind == end || kind == Kind::BlockOpen || kind == Kind::BlockClose || kind == Kind::Newline ||
           kind == Kind::Semicolon || kind == Kind::EndOfFile;
  };
  while (!ends(first->kind)) first = builder.skipBracket(first);
  if (first == begin) return false;
  checkNesting(begin, first, builder);
  attribute = spanOf(begin, first);
  return true;
}

constexpr auto signature = primitive<Span>("`(`", [](Iterator& first, TreeBuilder& builder, Span& attribute) {
  return first->kind == Kind::LeftParen && takeText(first, builder, Kind::EndOfFile, attribute);
});
constexpr auto assigned_type = primitive<Span>("a type", [](Iterator& first, TreeBuilder& builder, Span& attribute) {
  return takeText(first, builder, Kind::Assign, attribute);
});
// The type before a field's name, which is the last word before `=` or the end of the field.
constexpr auto field_type = primitive<Span>("a field", [](Iterator& first, TreeBuilder& builder, Span& attribute) {
  Iterator end = first;
  Span whole;
  if (!takeText(end, builder, Kind::Assign, whole)) return false;
  if (end == first + 1 || !isWord(end - 1)) {
    builder.reject(whole, "a field has a type and a name: `Tensor weight`, `int[] sizes = []`");
    throw Failure(first, "");
  }
  attribute = spanOf(first, end - 1);
  first = end - 1;
  return true;
});
constexpr auto argument_type = primitive<Span>("a type", [](Iterator& first, TreeBuilder& builder, Span& attribute) {
  return takeText(first, builder, Kind::RightParen, attribute);
});

// ---- Operators ----

template <class Op>
constexpr OperatorToken operatorToken(Level level, Op op, bool is_prefix = false) {
  return {level, static_cast<uint8_t>(op), is_prefix, {}};
}

OperatorToken prefixOperator(Kind kind) {
  switch (kind) {
    case Kind::KwNot: return operatorToken(Level::Not, UnaryOp::Not, true);
    case Kind::Minus: return operatorToken(Level::Sign, UnaryOp::Negate, true);
    case Kind::Plus: return operatorToken(Level::Sign, UnaryOp::Plus, true);
    case Kind::Tilde: return operatorToken(Level::Sign, UnaryOp::Invert, true);
    default: return {};
  }
}

OperatorToken infixOperator(Iterator token) {
  const auto nextIs = [token](Kind kind) { return token[1].kind == kind; };
  switch (token->kind) {
    case Kind::KwOr: return operatorToken(Level::Or, LogicalOp::Or);
    case Kind::KwAnd: return operatorToken(Level::And, LogicalOp::And);
    case Kind::Equal: return operatorToken(Level::Compare, CompareOp::Equal);
    case Kind::NotEqual: return operatorToken(Level::Compare, CompareOp::NotEqual);
    case Kind::Less: return operatorToken(Level::Compare, CompareOp::Less);
    case Kind::LessEqual: return operatorToken(Level::Compare, CompareOp::LessEqual);
    case Kind::Greater: return operatorToken(Level::Compare, CompareOp::Greater);
    case Kind::GreaterEqual: return operatorToken(Level::Compare, CompareOp::GreaterEqual);
    case Kind::KwIn: return operatorToken(Level::Compare, CompareOp::In);
    case Kind::KwNot: return nextIs(Kind::KwIn) ? operatorToken(Level::Compare, CompareOp::NotIn) : OperatorToken{};
    case Kind::KwIs: return operatorToken(Level::Compare, nextIs(Kind::KwNot) ? CompareOp::IsNot : CompareOp::Is);
    case Kind::Bar: return operatorToken(Level::BitOr, BinaryOp::Or);
    case Kind::Caret: return operatorToken(Level::BitXor, BinaryOp::Xor);
    case Kind::Ampersand: return operatorToken(Level::BitAnd, BinaryOp::And);
    case Kind::ShiftLeft: return operatorToken(Level::Shift, BinaryOp::ShiftLeft);
    case Kind::ShiftRight: return operatorToken(Level::Shift, BinaryOp::ShiftRight);
    case Kind::Plus: return operatorToken(Level::Sum, BinaryOp::Add);
    case Kind::Minus: return operatorToken(Level::Sum, BinaryOp::Subtract);
    case Kind::Star: return operatorToken(Level::Product, BinaryOp::Multiply);
    case Kind::Slash: return operatorToken(Level::Product, BinaryOp::Divide);
    case Kind::DoubleSlash: return operatorToken(Level::Product, BinaryOp::FloorDivide);
    case Kind::Percent: return operatorToken(Level::Product, BinaryOp::Remainder);
    case Kind::At: return operatorToken(Level::Product, BinaryOp::MatrixMultiply);
    case Kind::DoubleStar: return operatorToken(Level::Power, BinaryOp::Power);
    default: return {};
  }
}

constexpr auto prefix_operator =
    primitive<OperatorToken>("an operator", [](Iterator& first, TreeBuilder&, OperatorToken& attribute) {
      attribute = prefixOperator(first->kind);
      if (attribute.level == Level::None) return false;
      attribute.span = first->span;
      ++first;
      return true;
    });

constexpr auto infix_operator =
    primitive<OperatorToken>("an operator", [](Iterator& first, TreeBuilder&, OperatorToken& attribute) {
      attribute = infixOperator(first);
      if (attribute.level == Level::None) return false;
      const Iterator begin = first++;
      if (begin->kind == Kind::KwNot || (begin->kind == Kind::KwIs && first->kind == Kind::KwNot)) ++first;
      attribute.span = spanOf(begin, first);
      return true;
    });

constexpr auto assign_operator =
    token(Kind::Assign, Kind::BarAssign, Kind::CaretAssign, Kind::AmpersandAssign, Kind::ShiftLeftAssign,
          Kind::ShiftRightAssign, Kind::PlusAssign, Kind::MinusAssign, Kind::StarAssign, Kind::SlashAssign,
          Kind::DoubleSlashAssign, Kind::PercentAssign, Kind::AtAssign, Kind::DoubleStarAssign);

// ---- Expressions ----

template <class Id, class Attribute>
using Rule = x3::rule<Id, Attribute>;

const Rule<struct ExpressionId, ExprPtr> expression = "an expression";
const Rule<struct ConditionalPartsId, ConditionalChain> conditional_parts = "an expression";
const Rule<struct ConditionalLinkId, ConditionalChain::Link> conditional_link = "`if`";
const Rule<struct DisjunctionId, ExprPtr> disjunction = "an expression";
const Rule<struct FoldPartsId, OperatorFold> fold_parts = "an expression";
const Rule<struct PostfixId, ExprPtr> postfix = "an expression";
const Rule<struct AtomId, ExprPtr> atom = "an expression";
const Rule<struct CalleeId, QualifiedName> callee = "a name";
const Rule<struct NamedPartsId, Named> named_parts = "a name";
const Rule<struct IsInstancePartsId, IsInstance> isinstance_parts = "isinstance";
const Rule<struct ArgumentId, Argument> argument = "an argument";
const Rule<struct ArgumentsId, Arguments> arguments = "arguments";
const Rule<struct MemberPartsId, Member> member_parts = "a name";
const Rule<struct SlicePartsId, SliceItem> slice_parts = "an index";
const Rule<struct IndexItemId, ExprPtr> index_item = "an index";
const Rule<struct IndexPartsId, Items> index_parts = "an index";
const Rule<struct ParenthesesId, Items> parentheses = "`(`";
const Rule<struct ListPartsId, ListItems> list_parts = "a list";
const Rule<struct ClauseId, ComprehensionClause> clause = "`for`";
const Rule<struct DictItemId, DictItem> dict_item = "an expression";
const Rule<struct DictPartsId, DictLiteral> dict_parts = "a dict";
const Rule<struct FieldId, FormatField> field = "a field";
const Rule<struct FStringPartsId, FormattedString> fstring_parts = "an f-string";
const Rule<struct ExpressionListId, Items> expression_list = "an expression";
const Rule<struct ValueId, ExprPtr> value = "an expression";
const Rule<struct TargetItemsId, Items> target_items = "a target";
const Rule<struct TargetListId, Targets> target_list = "a target";

constexpr auto addPrefix = [](auto& context) { x3::_val(context).prefix(x3::_attr(context), builderOf(context)); };
constexpr auto addInfix = [](auto& context) { x3::_val(context).infix(x3::_attr(context), builderOf(context)); };
constexpr auto addOperand = [](auto& context) { x3::_val(context).operand(std::move(x3::_attr(context))); };

constexpr auto checkArguments = [](auto& context) { builderOf(context).checkArguments(x3::_val(context).items); };
constexpr auto setArgumentValue = [](auto& context) {
  Argument& made = x3::_val(context);
  made.value = std::move(x3::_attr(context));
  made.span = made.keyword ? join(made.keyword.span, made.value->span) : made.value->span;
};
constexpr auto addMember = [](auto& context) {
  ExprPtr& object = x3::_val(context);
  object = builderOf(context).member(std::move(object), std::move(x3::_attr(context)), endOf(context));
};
constexpr auto addIndex = [](auto& context) {
  ExprPtr& object = x3::_val(context);
  object = builderOf(context).index(std::move(object), std::move(x3::_attr(context)), endOf(context));
};
constexpr auto addText = [](auto& context) { builderOf(context).addText(x3::_val(context), *x3::_attr(context)); };
constexpr auto addField = [](auto& context) { x3::_val(context).parts.emplace_back(std::move(x3::_attr(context))); };
constexpr auto setFormat = [](auto& context) {
  x3::_val(context).spec = builderOf(context).format(*x3::_attr(context));
};
constexpr auto toValue = [](auto& context) {
  x3::_val(context) = builderOf(context).tupleOrItem(std::move(x3::_attr(context)));
};
constexpr auto toTargets = [](auto& context) {
  x3::_val(context) = builderOf(context).targets(std::move(x3::_attr(context)));
};

// `name`, then `::name` and `.overload`; each of these shifts the name one place to the left.
constexpr auto setName = [](auto& context) {
  x3::_val(context).name = x3::_attr(context);
  x3::_val(context).span = x3::_attr(context).span;
};
constexpr auto setScopedName = [](auto& context) {
  QualifiedName& made = x3::_val(context);
  made.space = std::exchange(made.name, x3::_attr(context));
  made.span = join(made.span, made.name.span);
};
constexpr auto setOverload = [](auto& context) {
  QualifiedName& made = x3::_val(context);
  made.overload = x3::_attr(context);
  made.span = join(made.span, made.overload.span);
};

// A `(` here follows something that is not a name.
constexpr auto no_call = primitive<x3::unused_type>("", [](Iterator& first, TreeBuilder& builder, const auto&) {
  if (first->kind != Kind::LeftParen) return false;
  builder.reject(first->span,
                 "only functions, operators and methods can be called, each by its name; give what stands before the "
                 "parenthesis a name, as in `f = …`, and call `f(…)`");
  throw Failure(first, "");
});

const auto expression_def = expr(conditional_parts);
const auto conditional_parts_def = disjunction[into<&ConditionalChain::value>] >>
                                   *(conditional_link[append<&ConditionalChain::links>]);
const auto conditional_link_def = Sign(Kind::KwIf) > disjunction[into<&ConditionalChain::Link::condition>] >
                                  Sign(Kind::KwElse) > disjunction[into<&ConditionalChain::Link::otherwise>];

// All operators; OperatorFold handles precedence.
const auto disjunction_def = nested(expr(fold_parts));
const auto operand = (+prefix_operator[addPrefix] > postfix[addOperand]) | postfix[addOperand];
const auto fold_parts_def = operand >> *(infix_operator[addInfix] >> required(operand, "an expression"));

const auto postfix_def = atom[result] >> *(member_parts[addMember] | index_parts[addIndex] | no_call);
const auto atom_def = literal | expr(isinstance_parts) | expr(named_parts) | expr(parentheses) | expr(list_parts) |
                      expr(dict_parts) | expr(fstring_parts);

const auto callee_def = name[setName] >> -((Sign(Kind::Scope) > word[setScopedName]) >> -overload_name[setOverload]);
const auto named_parts_def = callee[into<&Named::name>] >> -arguments[into<&Named::arguments>];
const auto member_parts_def = (Sign(Kind::Dot) > word[into<&Member::name>]) >> -arguments[into<&Member::arguments>];

const auto argument_def =
    (argument_name[into<&Argument::keyword>] > expression[setArgumentValue]) | expression[setArgumentValue];
const auto arguments_def = (left_paren[beginSpan] > (Sign(Kind::RightParen) |
                                                     (x3::eps > argument[append<&Arguments::items>] >
                                                      *((comma >> !right_paren) > argument[append<&Arguments::items>]) >
                                                      -comma > right_paren))) >>
                           x3::eps[endSpan][checkArguments];
const auto isinstance_parts_def = isinstance_word[into<&IsInstance::name>] > left_paren[beginSpan] >
                                  expression[into<&IsInstance::value>] > comma >
                                  argument_type[into<&IsInstance::type>] > Sign(Kind::RightParen)[endSpan];

const auto slice_tail = colon[set<&SliceItem::colon>] >> -expression[into<&SliceItem::stop>] >>
                        -(colon >> -expression[into<&SliceItem::step>]);
const auto slice_parts_def = (expression[into<&SliceItem::start>] >> -slice_tail) | slice_tail;
const auto index_item_def = expr(slice_parts) | ellipsis;
const auto index_parts_def = left_bracket > index_item[append<&Items::items>] >
                             *((comma[set<&Items::comma>] >> !right_bracket) > index_item[append<&Items::items>]) >
                             -comma > right_bracket;

const auto parentheses_def = left_paren >
                             (Sign(Kind::RightParen) | (x3::eps > expression[append<&Items::items>] >
                                                        *((comma[set<&Items::comma>] >> !right_paren) >
                                                          expression[append<&Items::items>]) > -comma > right_paren));
const auto list_parts_def = left_bracket >
                            (Sign(Kind::RightBracket) |
                             (x3::eps > expression[append<&ListItems::items>] >
                              (+clause[append<&ListItems::clauses>] |
                               (*((comma >> !right_bracket) > expression[append<&ListItems::items>]) >> -comma)) >
                              right_bracket));
const auto clause_def = (Sign(Kind::KwFor) > target_list[into<&ComprehensionClause::targets>] > Sign(Kind::KwIn) >
                         disjunction[into<&ComprehensionClause::iterable>]) >>
                        *(Sign(Kind::KwIf) > disjunction[append<&ComprehensionClause::conditions>]);
const auto dict_item_def = expression[into<&DictItem::key>] > colon > expression[into<&DictItem::value>];
const auto dict_parts_def = Sign(Kind::DictOpen) >
                            (Sign(Kind::DictClose) | (x3::eps > dict_item[append<&DictLiteral::items>] >
                                                      *((comma >> !dict_close) >
                                                        dict_item[append<&DictLiteral::items>]) > -comma > dict_close));

const auto field_def = Sign(Kind::FieldBegin)[beginSpan] > expression[into<&FormatField::value>] >
                       -token(Kind::FieldSpec)[setFormat] > Sign(Kind::FieldEnd, "`:` or `}`")[endSpan];
const auto fstring_parts_def = Sign(Kind::FStringBegin) > *(token(Kind::FStringText)[addText] | field[addField]) >
                               Sign(Kind::FStringEnd, "the end of the f-string");

// `a, b` without parentheses, and `a,`.
const auto expression_list_def = expression[append<&Items::items>] >>
                                 *(comma[set<&Items::comma>] >> expression[append<&Items::items>]) >> -comma;
const auto value_def = expression_list[toValue];
const auto target_items_def = postfix[append<&Items::items>] >>
                              *(comma[set<&Items::comma>] >> postfix[append<&Items::items>]) >> -comma;
const auto target_list_def = target_items[toTargets];

BOOST_SPIRIT_DEFINE(expression, conditional_parts, conditional_link, disjunction, fold_parts, postfix, atom, callee,
                    named_parts, isinstance_parts, argument, arguments, member_parts, slice_parts, index_item,
                    index_parts, parentheses, list_parts, clause, dict_item, dict_parts, field, fstring_parts,
                    expression_list, value, target_items, target_list)

// ---- Statements ----

const Rule<struct BlockId, Block> block = "`{`";
const Rule<struct StatementId, StmtPtr> statement = "a statement";
const Rule<struct SimplePartsId, SimpleStatement> simple_parts = "a statement";
const Rule<struct TypedPartsId, TypedAssign> typed_parts = "a statement";
const Rule<struct BranchId, If::Branch> branch = "a condition";
const Rule<struct IfPartsId, If> if_parts = "`if`";
const Rule<struct WhilePartsId, While> while_parts = "`while`";
const Rule<struct ForPartsId, For> for_parts = "`for`";
const Rule<struct BreakPartsId, Break> break_parts = "`break`";
const Rule<struct ContinuePartsId, Continue> continue_parts = "`continue`";
const Rule<struct ReturnPartsId, Return> return_parts = "`return`";
const Rule<struct AssertPartsId, Assert> assert_parts = "`assert`";
const Rule<struct RaisePartsId, Raise> raise_parts = "`raise`";
const Rule<struct WithPartsId, With> with_parts = "`with`";
const Rule<struct UsePartsId, Use> use_parts = "`use`";
const Rule<struct ImportPartsId, Import> import_parts = "`import`";
const Rule<struct ConstPartsId, Const> const_parts = "`const`";
const Rule<struct OperatorNameId, QualifiedName> operator_name = "a name";
const Rule<struct FunctionPartsId, Function> function_parts = "`fn`";
const Rule<struct MethodPartsId, Function> method_parts = "`fn`";
const Rule<struct FieldPartsId, Field> field_parts = "a field";
const Rule<struct MemberId, StmtPtr> member = "a field or a method";
const Rule<struct StructBodyId, Block> struct_body = "`{`";
const Rule<struct StructPartsId, Struct> struct_parts = "`struct`";
const Rule<struct OperatorPartsId, Operator> operator_parts = "`op`";
const Rule<struct ImplPartsId, Impl> impl_parts = "`impl`";
const Rule<struct FallbackPartsId, Fallback> fallback_parts = "`fallback`";
const Rule<struct ModePartsId, Mode> mode_parts = "`mode`";
const Rule<struct ScriptId, SyntaxTree> script = "a script";

// A statement with an error is null.
constexpr auto addStatement = [](auto& context) {
  if (x3::_attr(context)) x3::_val(context).statements.push_back(std::move(x3::_attr(context)));
};
// The schema's text includes the name.
constexpr auto setSignature = [](auto& context) {
  x3::_val(context).signature = join(x3::_val(context).name.span, x3::_attr(context));
};

constexpr auto end_of_statement =
    primitive<x3::unused_type>("end of line", [](Iterator& first, TreeBuilder&, const auto&) {
      return first->kind == Kind::Newline || first->kind == Kind::Semicolon || first->kind == Kind::BlockClose ||
             first->kind == Kind::EndOfFile;
    });
constexpr auto end_of_block = primitive<x3::unused_type>("`}`", [](Iterator& first, TreeBuilder&, const auto&) {
  return first->kind == Kind::BlockClose || first->kind == Kind::EndOfFile;
});

const auto separators = *(Sign(Kind::Newline) | Sign(Kind::Semicolon));
const auto statements = separators >> *(!end_of_block >>
                                        recovering(x3::eps > statement > end_of_statement)[addStatement] >> separators);
const auto block_def = Sign(Kind::BlockOpen, "`{`")[beginSpan] > insideBlock(statements) >
                       Sign(Kind::BlockClose, "`}`")[endSpan];
const auto script_def = statements;

const auto statement_def = stmt(operator_parts) | stmt(typed_parts) | stmt(simple_parts) | stmt(if_parts) |
                           stmt(while_parts) | stmt(for_parts) | stmt(return_parts) | stmt(break_parts) |
                           stmt(continue_parts) | stmt(assert_parts) | stmt(raise_parts) | stmt(with_parts) |
                           stmt(function_parts) | stmt(struct_parts) | stmt(const_parts) | stmt(use_parts) |
                           stmt(import_parts) | stmt(impl_parts) | stmt(fallback_parts) | stmt(mode_parts);

const auto simple_parts_def = expression_list[into<&SimpleStatement::left>] >>
                              -(assign_operator[into<&SimpleStatement::op>] >
                                expression_list[into<&SimpleStatement::right>]);
const auto typed_parts_def = typed_name[into<&TypedAssign::name>] > colon > assigned_type[into<&TypedAssign::type>] >
                             assign > value[into<&TypedAssign::value>];

const auto branch_def = header(x3::eps > expression[into<&If::Branch::condition>]) > block[into<&If::Branch::body>];
const auto if_parts_def = Sign(Kind::KwIf) > branch[append<&If::branches>] >
                          *(Sign(Kind::KwElif) > branch[append<&If::branches>]) >
                          -(Sign(Kind::KwElse) > block[into<&If::otherwise>]);
const auto while_parts_def = Sign(Kind::KwWhile) >
                             header(x3::eps > expression[into<&While::condition>]) > block[into<&While::body>];
const auto for_parts_def = Sign(Kind::KwFor) > header(x3::eps > target_list[into<&For::targets>] > Sign(Kind::KwIn) >
                                                      value[into<&For::iterable>]) > block[into<&For::body>];
const auto break_parts_def = Sign(Kind::KwBreak);
const auto continue_parts_def = Sign(Kind::KwContinue);
const auto return_parts_def = Sign(Kind::KwReturn) >> -value[into<&Return::value>];
const auto assert_parts_def = Sign(Kind::KwAssert) > expression[into<&Assert::condition>] >
                              -(comma > expression[into<&Assert::message>]);
const auto raise_parts_def = Sign(Kind::KwRaise) > expression[into<&Raise::message>];
const auto with_parts_def = Sign(Kind::KwWith) >
                            header(x3::eps > expression[append<&With::scopes>] >
                                   *(comma > expression[append<&With::scopes>])) > block[into<&With::body>];

// ---- Declarations ----

const auto use_parts_def = Sign(Kind::KwUse) > name[into<&Use::space>];
const auto import_parts_def = Sign(Kind::KwImport) > path[result] > -(as_word > name[into<&Import::alias>]);
const auto const_parts_def = Sign(Kind::KwConst) > name[into<&Const::name>] > assign > value[into<&Const::value>];
const auto operator_name_def = name[setName] >> -(Sign(Kind::Scope) > word[setScopedName]) >>
                               -(Sign(Kind::Dot) > word[setOverload]);
const auto function_parts_def = Sign(Kind::KwFn) > header(x3::eps > name[into<&Function::name>] >
                                                          signature[setSignature]) > block[into<&Function::body>];
const auto field_parts_def = field_type[into<&Field::type>] > word[into<&Field::name>] >
                             -(assign > value[into<&Field::initial>]);
// Members are named after a point, where a keyword is a name, too.
const auto method_parts_def = Sign(Kind::KwFn) > header(x3::eps > word[into<&Function::name>] >
                                                        signature[setSignature]) > block[into<&Function::body>];
const auto member_def = stmt(method_parts) | stmt(field_parts);
const auto members = separators >>
                     *(!end_of_block >> recovering(x3::eps > member > end_of_statement)[addStatement] >> separators);
const auto struct_body_def = Sign(Kind::BlockOpen, "`{`")[beginSpan] > nested(members) >
                             Sign(Kind::BlockClose, "`}`")[endSpan];
const auto struct_parts_def = Sign(Kind::KwStruct) >
                              header(x3::eps > name[into<&Struct::name>]) > struct_body[into<&Struct::body>];
const auto operator_parts_def =
    op_word > operator_name[into<&Operator::name>] > signature[setSignature] > -block[into<&Operator::body>];
const auto impl_parts_def = Sign(Kind::KwImpl) > header(x3::eps > operator_name[into<&Impl::name>] > at >
                                                        name[into<&Impl::key>]) > block[into<&Impl::body>];
const auto fallback_parts_def = Sign(Kind::KwFallback) >
                                header(x3::eps > at > name[into<&Fallback::key>]) > block[into<&Fallback::body>];
const auto mode_parts_def = Sign(Kind::KwMode) > header(x3::eps > name[into<&Mode::name>] >
                                                        -(at > name[into<&Mode::key>])) > block[into<&Mode::body>] >
                            -(exit_word > block[into<&Mode::exit>]);

BOOST_SPIRIT_DEFINE(block, statement, simple_parts, typed_parts, branch, if_parts, while_parts, for_parts, break_parts,
                    continue_parts, return_parts, assert_parts, raise_parts, with_parts, use_parts, import_parts,
                    const_parts, operator_name, function_parts, method_parts, field_parts, member, struct_body,
                    struct_parts, operator_parts, impl_parts, fallback_parts, mode_parts, script)

}  // namespace

SyntaxTree parse(const SourcePtr& source, Diagnostics& diagnostics) {
  const size_t first_diagnostic = diagnostics.size();
  const TokenStream stream = lex(source, diagnostics);
  TreeBuilder builder(source, stream, diagnostics);
  SyntaxTree tree;
  tree.source = source;
  Iterator first = stream.tokens.data();
  const Iterator last = first + stream.tokens.size();
  x3::parse(first, last, x3::with<BuilderTag>(builder)[script], tree);
  BOXCAR_INTERNAL_ASSERT(first->kind == Kind::EndOfFile);
  diagnostics.sortFrom(first_diagnostic);
  return tree;
}

bool isUnfinished(const SourcePtr& source) { return settledPartOfUnfinished(source).has_value(); }

std::optional<Span> settledPartOfUnfinished(const SourcePtr& source) {
  Diagnostics diagnostics;
  const TokenStream stream = lex(source, diagnostics);
  if (!stream.ends_open) return std::nullopt;
  parse(source, diagnostics);
  // Errors about missing text are reported at the end.
  const size_t end = source->text().find_last_not_of(" \t\r\n") + 1;
  const bool is_right_before =
      std::ranges::all_of(diagnostics.all(), [end](const Diagnostic& each) { return each.span.begin >= end; });
  if (!is_right_before) return std::nullopt;
  return stream.settled;
}

}  // namespace boxcar::syntax
