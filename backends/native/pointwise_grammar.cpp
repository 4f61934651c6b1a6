// The grammar of fused::pointwise's expressions in Boost.Spirit X3, and nothing else, because it takes seconds to
// compile. Actions write to an ExpressionBuilder that the context carries.

#include <boxcar/backends/native/pointwise_expression.h>

#include <boost/spirit/home/x3.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace boxcar::native::pointwise_grammar {
namespace {

namespace x3 = boost::spirit::x3;

struct BuilderTag;
template <class Context>
ExpressionBuilder& builderOf(const Context& context) {
  return x3::get<BuilderTag>(context).get();
}

constexpr bool isDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// A token: [Derived]::scan returns the end of the token that starts at a place, or that place if none does. Its member
// `what` names the expected token in errors.
template <class Derived>
struct ExpressionToken : x3::parser<Derived> {
  using attribute_type = std::string_view;
  static constexpr bool has_attribute = true;

  template <class Context, class RuleContext, class Attribute>
  bool parse(const char*& first, const char* last, const Context& context, RuleContext&, Attribute& attribute) const {
    x3::skip_over(first, last, context);
    const char* const end = this->derived().scan(first, last);
    if (end == first) return false;
    if constexpr (std::is_same_v<Attribute, std::string_view>)
      attribute = std::string_view(first, static_cast<size_t>(end - first));
    first = end;
    return true;
  }
};

// Digits, a fraction and an exponent, as Python writes them.
struct NumberToken : ExpressionToken<NumberToken> {
  static const char* scan(const char* first, const char* last) {
    const auto digits = [last](const char* from) {
      while (from != last && isDigit(*from)) ++from;
      return from;
    };
    const char* end = digits(first);
    bool has_digits = end != first;
    if (end != last && *end == '.') {
      const char* const fraction = end + 1;
      const char* const past = digits(fraction);
      if (!has_digits && past == fraction) return first;
      has_digits = true;
      end = past;
    }
    if (!has_digits) return first;
    if (end != last && (*end == 'e' || *end == 'E')) {
      const char* exponent = end + 1;
      if (exponent != last && (*exponent == '+' || *exponent == '-')) ++exponent;
      const char* const past = digits(exponent);
      if (past != exponent) end = past;
    }
    return end;
  }
  const char* what = "a number";
};

struct NameToken : ExpressionToken<NameToken> {
  static const char* scan(const char* first, const char* last) {
    if (first == last || !isNameStart(*first)) return first;
    while (first != last && (isNameStart(*first) || isDigit(*first))) ++first;
    return first;
  }
  const char* what = "a name";
};

// One of some marks. Of those that begin alike, the longest is found: * is not found in **.
struct MarkToken : ExpressionToken<MarkToken> {
  constexpr MarkToken(std::initializer_list<std::string_view> texts, const char* expected) : what(expected) {
    for (const std::string_view text : texts) marks[count++] = text;
  }
  const char* scan(const char* first, const char* last) const {
    const std::string_view rest(first, static_cast<size_t>(last - first));
    const std::string_view found =
        rest.starts_with("**") ? rest.substr(0, 2)
        : rest.size() > 1 && rest[1] == '=' && std::string_view("<>=!").find(rest[0]) != std::string_view::npos
            ? rest.substr(0, 2)
            : rest.substr(0, 1);
    const bool matches = std::find(marks.begin(), marks.begin() + count, found) != marks.begin() + count;
    return matches ? first + found.size() : first;
  }
  std::array<std::string_view, 6> marks = {};
  size_t count = 0;
  const char* what;
};

struct EndToken : x3::parser<EndToken> {
  using attribute_type = x3::unused_type;
  [[maybe_unused]] static constexpr bool has_attribute = false;

  template <class Context, class RuleContext, class Attribute>
  bool parse(const char*& first, const char* last, const Context& context, RuleContext&, Attribute&) const {
    x3::skip_over(first, last, context);
    return first == last;
  }
  const char* what = "an operator or the end";
};

}  // namespace
}  // namespace boxcar::native::pointwise_grammar

// The name of the expected token in an x3::expectation_failure.
template <class T>
struct boost::spirit::x3::get_info<T, std::void_t<decltype(std::declval<const T&>().what)>> {
  std::string operator()(const T& token) const { return token.what; }
};
template <class Subject, class Action>
struct boost::spirit::x3::get_info<boost::spirit::x3::action<Subject, Action>> {
  std::string operator()(const action<Subject, Action>& parser) const { return x3::what(parser.subject); }
};

namespace boxcar::native::pointwise_grammar {
namespace {

constexpr auto push_number = [](auto& context) { builderOf(context).pushNumber(x3::_attr(context)); };
constexpr auto push_name = [](auto& context) { builderOf(context).pushName(x3::_attr(context)); };
constexpr auto begin_call = [](auto& context) { builderOf(context).beginCall(x3::_attr(context)); };
constexpr auto end_call = [](auto& context) { builderOf(context).endCall(); };
constexpr auto enter = [](auto& context) { builderOf(context).enter(x3::_attr(context)); };
constexpr auto leave = [](auto& context) { builderOf(context).leave(); };
constexpr auto begin_operator = [](auto& context) { builderOf(context).beginOperator(x3::_attr(context)); };
constexpr auto begin_nested = [](auto& context) {
  builderOf(context).enter(x3::_attr(context));
  builderOf(context).beginOperator(x3::_attr(context));
};
constexpr auto apply_operator = [](auto& context) { builderOf(context).applyOperator(); };
constexpr auto apply_nested = [](auto& context) {
  builderOf(context).leave();
  builderOf(context).applyOperator();
};
constexpr auto negate = [](auto& context) {
  builderOf(context).leave();
  builderOf(context).negate();
};

constexpr const char* kValue = "a number, an input, a function's call, '-' or '('";

constexpr MarkToken open{{"("}, "'('"};
constexpr MarkToken close{{")"}, "an operator or ')'"};
constexpr MarkToken close_call{{")"}, "an operator, ',' or ')'"};
constexpr MarkToken minus{{"-"}, "'-'"};
constexpr MarkToken power{{"**"}, "'**'"};
constexpr MarkToken times{{"*", "/"}, "an operator"};
constexpr MarkToken plus{{"+", "-"}, "an operator"};
constexpr MarkToken comparison{{"<", "<=", ">", ">=", "==", "!="}, "an operator"};

constexpr x3::rule<class ExpressionRule> expression = kValue;
constexpr x3::rule<class SumRule> sum = kValue;
constexpr x3::rule<class ProductRule> product = kValue;
constexpr x3::rule<class UnaryRule> unary = kValue;
constexpr x3::rule<class AtomRule> atom = kValue;

// clang-format off

// A name before '(' is a function's.
constexpr auto atom_def =
    NumberToken{}[push_number]
  | (x3::lexeme[&(NameToken{} >> x3::omit[*x3::ascii::space] >> '(')]
      >> NameToken{}[begin_call] > '(' > expression > *(',' > expression) > close_call[end_call])
  | NameToken{}[push_name]
  | (open[enter] > expression > close[leave]);
// As in Python, ** binds closer than a minus before it, less close than one behind it, and from the right.
constexpr auto unary_def =
    (minus[begin_nested] > unary[negate])
  | (atom >> -(power[begin_nested] > unary[apply_nested]));
constexpr auto product_def = unary >> *(times[begin_operator] > unary[apply_operator]);
constexpr auto sum_def = product >> *(plus[begin_operator] > product[apply_operator]);
constexpr auto expression_def = sum >> -(comparison[begin_operator] > sum[apply_operator]);

// clang-format on

BOOST_SPIRIT_DEFINE(expression, sum, product, unary, atom)

// Parses [text] as a whole.
void parse(std::string_view text, ExpressionBuilder& builder) {
  const char* first = text.data();
  const char* const last = first + text.size();
  const auto grammar = x3::with<BuilderTag>(std::ref(builder))[x3::eps > expression > EndToken{}];
  try {
    x3::phrase_parse(first, last, grammar, x3::ascii::space);
  } catch (const x3::expectation_failure<const char*>& failure) {
    const char* where = failure.where();
    while (where != last && (*where == ' ' || *where == '\n' || *where == '\t')) ++where;
    builder.failExpected(where, failure.which());
  }
}

}  // namespace
}  // namespace boxcar::native::pointwise_grammar

namespace boxcar::native {

void parsePointwise(std::string_view text, ExpressionBuilder& builder) { pointwise_grammar::parse(text, builder); }

}  // namespace boxcar::native
