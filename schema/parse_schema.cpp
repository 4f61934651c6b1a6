// The grammar of schemas in Boost.Spirit X3, and nothing else, because it takes seconds to compile. Tokens are
// hand-written parsers, so that one loop reads a word; actions write to a ParseState that the skipper carries.

#include <boxcar/schema/parse_schema.h>
#include <boxcar/schema/parse_state.h>

#include <boost/spirit/home/x3.hpp>

namespace boxcar {
namespace {

namespace x3 = boost::spirit::x3;
using detail::ComposedType;
using detail::Literal;
using detail::ParseState;

// Skips spaces and comments, and newlines inside parentheses.
struct Skipper : x3::parser<Skipper> {
  using attribute_type = x3::unused_type;
  [[maybe_unused]] static constexpr bool has_attribute = false;

  explicit Skipper(ParseState& parse_state) : state(&parse_state) {}

  bool parse(const char*& first, const char* last, x3::unused_type, x3::unused_type, x3::unused_type) const {
    const char* const start = first;
    first = state->skip(first, last);
    if (first == start) return false;
    state->noteSkipped(start, first);
    return true;
  }

  ParseState* state;
};

template <class Context>
ParseState& stateOf(const Context& context) {
  return *x3::get<x3::skipper_tag>(context).state;
}

// A token: [Derived]::scan returns the end of the token that starts at a place, or that place if none does. Its member
// `what` names the expected token in errors.
template <class Derived>
struct Token : x3::parser<Derived> {
  using attribute_type = std::string_view;
  static constexpr bool has_attribute = true;

  template <class Context, class RuleContext, class Attribute>
  bool parse(const char*& first, const char* last, const Context& context, RuleContext&, Attribute& attribute) const {
    x3::skip_over(first, last, context);
    const char* const end = this->derived().scan(stateOf(context), first, last);
    if (end == first) return false;
    if constexpr (std::is_same_v<Attribute, std::string_view>) {
      attribute = std::string_view(first, static_cast<std::size_t>(end - first));
    }
    first = end;
    return true;
  }
};

// Any word, including keywords.
struct Word : Token<Word> {
  static const char* scan(ParseState&, const char* first, const char* last) { return detail::wordEnd(first, last); }
  const char* what = "a word";
};

// A word that can be a name.
struct Name : Token<Name> {
  constexpr explicit Name(const char* expected) : what(expected) {}
  static const char* scan(ParseState&, const char* first, const char* last) {
    const char* const end = detail::wordEnd(first, last);
    return detail::isKeyword({first, static_cast<std::size_t>(end - first)}) ? first : end;
  }
  const char* what;
};

struct AliasSet : Token<AliasSet> {
  static const char* scan(ParseState& state, const char* first, const char* last) {
    return first != last && *first == '*' ? first + 1 : Name::scan(state, first, last);
  }
  const char* what = "an alias set or '*'";
};

struct Number : Token<Number> {
  static const char* scan(ParseState& state, const char* first, const char* last) {
    return state.numberEnd(first, last);
  }
  const char* what = "a number";
};

struct Quoted : Token<Quoted> {
  static const char* scan(ParseState& state, const char* first, const char* last) {
    return state.quotedEnd(first, last);
  }
  const char* what = "a string";
};

// Exactly [text].
struct Mark : Token<Mark> {
  constexpr Mark(std::string_view mark, const char* expected) : text(mark), what(expected) {}
  const char* scan(ParseState&, const char* first, const char* last) const {
    const std::string_view rest(first, static_cast<std::size_t>(last - first));
    return rest.starts_with(text) ? first + text.size() : first;
  }
  std::string_view text;
  const char* what;
};

// Parentheses, which the state counts.
struct Open : Token<Open> {
  static const char* scan(ParseState& state, const char* first, const char* last) {
    if (first == last || *first != '(') return first;
    state.enter(first);
    return first + 1;
  }
  const char* what = "'('";
};
struct Close : Token<Close> {
  constexpr explicit Close(const char* expected) : what(expected) {}
  static const char* scan(ParseState& state, const char* first, const char* last) {
    if (first == last || *first != ')') return first;
    state.leave();
    return first + 1;
  }
  const char* what;
};

// The end of the text, after spaces, comments and newlines.
struct End : x3::parser<End> {
  using attribute_type = x3::unused_type;
  [[maybe_unused]] static constexpr bool has_attribute = false;

  template <class Context, class RuleContext, class Attribute>
  bool parse(const char*& first, const char* last, const Context&, RuleContext&, Attribute&) const {
    if (ParseState::skipLines(first, last) != last) return false;
    first = last;
    return true;
  }
  const char* what = "the end";
};

}  // namespace
}  // namespace boxcar

// The name of the expected token in an x3::expectation_failure.
template <class T>
struct boost::spirit::x3::get_info<T, std::void_t<decltype(std::declval<const T&>().what)>> {
  std::string operator()(const T& token) const { return token.what; }
};
template <class Subject, class Action>
struct boost::spirit::x3::get_info<boost::spirit::x3::action<Subject, Action>> {
  std::string operator()(const action<Subject, Action>& parser) const { return x3::what(parser.subject); }
};
template <class Left, class Right>
struct boost::spirit::x3::get_info<boost::spirit::x3::alternative<Left, Right>> {
  std::string operator()(const alternative<Left, Right>& parser) const {
    return x3::what(parser.left) + " or " + x3::what(parser.right);
  }
};
template <class Left, class Right>
struct boost::spirit::x3::get_info<boost::spirit::x3::sequence<Left, Right>> {
  std::string operator()(const sequence<Left, Right>& parser) const { return x3::what(parser.left); }
};

namespace boxcar {
namespace {

// clang-format off

constexpr Word word{};
constexpr Number number{};
constexpr Quoted quoted{};
constexpr Open open{};
constexpr Close close{"',' or ')'"};
constexpr End end{};
constexpr auto comma = x3::lit(',');

// Actions. `_val` is the attribute of the rule, `_attr` what the token or rule before the action has read.

constexpr auto begin_type = [](auto& context) {
  x3::_val(context).type = stateOf(context).plainType(x3::_attr(context));
};
constexpr auto is_plain = [](auto& context) { x3::_pass(context) = x3::_val(context).type != nullptr; };
constexpr auto set_type = [](auto& context) { x3::_val(context) = stateOf(context).compose(x3::_attr(context)); };
constexpr auto takes_alias = [](auto& context) {
  const TypeKind kind = x3::_val(context).type->kind();
  x3::_pass(context) = kind == TypeKind::Dict || kind == TypeKind::Union;
};
constexpr auto annotate = [](auto& context) { stateOf(context).annotate(x3::_val(context)); };
constexpr auto make_list = [](auto& context) {
  stateOf(context).makeList(x3::_val(context), x3::_where(context).begin());
};
constexpr auto make_optional = [](auto& context) {
  stateOf(context).makeOptional(x3::_val(context), x3::_where(context).begin());
};

constexpr auto begin_tuple = [](auto& context) {
  x3::_val(context).kind = TypeKind::Tuple;
  x3::_val(context).word = x3::_attr(context);
};
constexpr auto begin_composed = [](auto& context) { stateOf(context).beginComposed(x3::_val(context)); };
constexpr auto is_qualified = [](auto& context) { x3::_pass(context) = x3::_val(context).is_qualified; };
constexpr auto is_class = [](auto& context) { x3::_pass(context) = x3::_val(context).kind == TypeKind::Class; };
constexpr auto add_member = [](auto& context) { x3::_val(context).members.push_back(x3::_attr(context)); };
constexpr auto add_step = [](auto& context) { x3::_val(context).path.append(".").append(x3::_attr(context)); };
constexpr auto add_last = [](auto& context) {
  ComposedType& composed = x3::_val(context);
  composed.path.append(".").append(x3::_attr(context));
  const char* const begin = composed.word.data();
  composed.word = {begin, static_cast<std::size_t>(x3::_attr(context).data() + x3::_attr(context).size() - begin)};
};

constexpr auto begin_alias = [](auto& context) { stateOf(context).beginAlias(x3::_attr(context)); };
constexpr auto set_write = [](auto& context) { stateOf(context).alias().is_write = true; };
constexpr auto add_before = [](auto& context) { stateOf(context).alias().before.push_back(x3::_attr(context)); };
constexpr auto add_after = [](auto& context) { stateOf(context).alias().after.push_back(x3::_attr(context)); };

constexpr auto add_word = [](auto& context) { stateOf(context).addLiteral(Literal::Kind::Word, x3::_attr(context)); };
constexpr auto add_number = [](auto& context) {
  stateOf(context).addLiteral(Literal::Kind::Number, x3::_attr(context));
};
constexpr auto add_string = [](auto& context) {
  stateOf(context).addLiteral(Literal::Kind::String, x3::_attr(context));
};
constexpr auto begin_default = [](auto& context) { stateOf(context).beginDefault(); };
constexpr auto begin_list = [](auto& context) { stateOf(context).beginListDefault(x3::_attr(context)); };
constexpr auto end_default = [](auto& context) { stateOf(context).endDefault(x3::_where(context).begin()); };

constexpr auto set_size = [](auto& context) { stateOf(context).setSize(x3::_attr(context)); };
constexpr auto annotate_sized = [](auto& context) {
  stateOf(context).annotate(stateOf(context).builder().current().type);
};
constexpr auto make_sized_optional = [](auto& context) {
  stateOf(context).makeOptional(stateOf(context).builder().current().type, x3::_where(context).begin());
};
constexpr auto begin_argument = [](auto& context) { stateOf(context).beginArgument(x3::_attr(context)); };
constexpr auto begin_return = [](auto& context) { stateOf(context).beginReturn(x3::_attr(context)); };
constexpr auto set_item_name = [](auto& context) { stateOf(context).builder().current().name = x3::_attr(context); };
constexpr auto begin_kwarg_only = [](auto& context) { stateOf(context).beginKwargOnly(); };
constexpr auto set_vararg = [](auto& context) { stateOf(context).setVararg(x3::_attr(context)); };
constexpr auto set_varret = [](auto& context) { stateOf(context).setVarret(x3::_attr(context)); };
constexpr auto set_name = [](auto& context) { stateOf(context).builder().setName(x3::_attr(context)); };
constexpr auto set_namespaced_name = [](auto& context) {
  SchemaBuilder& builder = stateOf(context).builder();
  builder.setNamespace(builder.name());
  builder.setName(x3::_attr(context));
};
constexpr auto set_overload = [](auto& context) { stateOf(context).builder().setOverload(x3::_attr(context)); };
constexpr auto set_name_only = [](auto& context) { stateOf(context).setNameOnly(); };
constexpr auto set_whole_type = [](auto& context) { stateOf(context).setWholeType(x3::_attr(context)); };

// The grammar.

constexpr x3::rule<class AliasRule> alias = "an alias annotation";
constexpr x3::rule<class TupleRule, ComposedType> tuple = "a tuple type";
constexpr x3::rule<class ComposedRule, ComposedType> composed = "a composed type";
constexpr x3::rule<class TypeRule, AnnotatedType> type = "a type";
constexpr x3::rule<class LiteralRule> literal = "a number, a string or a name";
constexpr x3::rule<class DefaultRule> default_value = "a default value";
constexpr x3::rule<class SizeRule> size = "a length";
constexpr x3::rule<class ArgumentRule> argument = "an argument";
constexpr x3::rule<class ArgumentsRule> arguments = "'('";
constexpr x3::rule<class ReturnRule> single_return = "a return type";
constexpr x3::rule<class ReturnsRule> returns = "a return type";
constexpr x3::rule<class NameRule> name = "an operator name";
constexpr x3::rule<class SignatureRule> signature = "'('";

constexpr AliasSet alias_set{};
constexpr auto alias_def =
    Mark{"!", "'!'"}[begin_alias][set_write]
  | ( open[begin_alias] > alias_set[add_before] > *('|' > alias_set[add_before])
      > -x3::lit('!')[set_write]
      > -(Mark{"->", "'->'"} > alias_set[add_after] > *('|' > alias_set[add_after]))
      > Close{"')'"} );

constexpr auto members = type[add_member] > *(comma > type[add_member]) > close;
constexpr auto tuple_def = open[begin_tuple] > (Close{"')'"} | members);
constexpr auto composed_def =
    x3::eps[begin_composed]
  >> ( (x3::eps[is_qualified] > '.' > word[add_last])
     | (x3::eps[is_class] > '.' > word[add_step] > '.' > word[add_step] > '.' > word[add_step] > '.' > word[add_step])
     | (x3::eps > open > members) );

constexpr auto type_def =
     ( word[begin_type] >> ( (x3::eps[is_plain] >> -alias[annotate])
                           | (composed[set_type] >> -(x3::eps[takes_alias] >> alias[annotate])) )
     | tuple[set_type] )
  >> *( (x3::lit('[') >> x3::lit(']')[make_list] >> -alias[annotate])
      | x3::lit('?')[make_optional] );

constexpr auto literal_def = word[add_word] | number[add_number] | quoted[add_string];
constexpr auto list_literals = literal > *(comma > literal) > Mark{"]", "',' or ']'"};
constexpr auto default_value_def =
    x3::eps[begin_default]
  >> ( (Mark{"[", "'['"}[begin_list] > (x3::lit(']') | list_literals))
     | literal )
  >> x3::eps[end_default];

constexpr auto size_def = x3::lit('[') > number[set_size] > ']' > -alias[annotate_sized] > -x3::lit('?')[make_sized_optional];

constexpr auto argument_def =
    (type[begin_argument] > -size > Name{"an argument name"}[set_item_name] > -('=' > default_value))
  | Mark{"*", "'*'"}[begin_kwarg_only]
  | Mark{"...", "'...'"}[set_vararg];
constexpr auto argument_list = argument > *(comma > argument) > close;
constexpr auto arguments_def = open > (Close{"')'"} | argument_list);

constexpr auto single_return_def =
    (type[begin_return] > -size > -Name{"a name"}[set_item_name])
  | Mark{"...", "'...'"}[set_varret];
constexpr auto return_list = single_return > *(comma > single_return) > close;
constexpr auto returns_def =
    (open > (Close{"')'"} | return_list))
  | single_return;

constexpr auto name_def = Name{"an operator name"}[set_name]
  > -(Mark{"::", "'::'"} > Name{"an operator name"}[set_namespaced_name])
  > -('.' > Name{"an overload name"}[set_overload]);
constexpr auto signature_def = arguments > Mark{"->", "'->'"} > returns;
constexpr auto whole_type = type[set_whole_type];

// clang-format on

BOOST_SPIRIT_DEFINE(alias, tuple, composed, type, literal, default_value, size, argument, arguments, single_return,
                    returns, name, signature)

// Parses [grammar] at the start of the text and returns how many bytes it took.
template <class Grammar>
std::size_t parseWith(ParseState& state, const Grammar& grammar) {
  const std::string_view text = state.builder().source().text;
  const char* const last = text.data() + text.size();
  const char* first = ParseState::skipLines(text.data(), last);
  try {
    // The leading eps makes a failure at the first token have a position too.
    const bool is_parsed =
        x3::phrase_parse(first, last, x3::eps > grammar, Skipper(state), x3::skip_flag::dont_post_skip);
    BOXCAR_INTERNAL_ASSERT(is_parsed);
    return static_cast<std::size_t>(state.beforeSkipped(first) - text.data());
  } catch (const x3::expectation_failure<const char*>& failure) {
    state.failExpected(failure.where(), failure.which());
  }
}

}  // namespace

FunctionSchema parseSchema(std::string_view text) {
  ParseState state(text);
  parseWith(state, name > signature > end);
  return state.builder().takeSchema();
}

OperatorName parseName(std::string_view text) {
  ParseState state(text);
  parseWith(state, name > end);
  return state.builder().takeName();
}

std::variant<OperatorName, FunctionSchema> parseSchemaOrName(std::string_view text) {
  ParseState state(text);
  parseWith(state, name > (end[set_name_only] | (x3::eps > signature > end)));
  if (state.isNameOnly()) return state.builder().takeName();
  return state.builder().takeSchema();
}

SchemaPrefix parseSchemaPrefix(std::string_view text, const TypeNames* names) {
  ParseState state(text, names);
  const std::size_t length = parseWith(state, name > signature);
  return {state.builder().takeSchema(), length};
}

TypePtr parseType(std::string_view text, const TypeNames* names) {
  ParseState state(text, names);
  parseWith(state, whole_type > end);
  return state.wholeType();
}

TypePrefix parseTypePrefix(std::string_view text, const TypeNames* names) {
  ParseState state(text, names);
  const std::size_t length = parseWith(state, whole_type);
  return {state.wholeType(), length};
}

}  // namespace boxcar
