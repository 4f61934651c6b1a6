#pragma once

// Parsers for the grammar, beside Boost.Spirit X3's own: X3 over tokens instead of characters. For grammar.cpp only.

#include <boxcar/interpreter/syntax/tree_builder.h>
#include <fmt/format.h>

#include <boost/spirit/home/x3.hpp>
#include <string>
#include <type_traits>
#include <utility>

namespace boxcar::syntax::x3_tokens {

namespace x3 = boost::spirit::x3;

// The token vector ends with EndOfFile, which no parser consumes, so reading `*first` is always safe.
using Iterator = const Token*;
using Failure = x3::expectation_failure<Iterator>;

struct BuilderTag;

TreeBuilder& builderOf(const auto& context) { return x3::get<BuilderTag>(context); }

// Returns the span of the tokens [first, last), of which there is at least one.
inline Span spanOf(Iterator first, Iterator last) { return {first->span.begin, last[-1].span.end}; }

// ---- Primitive parsers ----

// One token of a kind, without attribute. Messages call it [text], or use its spelling.
struct Sign : x3::parser<Sign> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;

  constexpr explicit Sign(TokenKind sign_kind, const char* sign_text = nullptr) : kind(sign_kind), text(sign_text) {}

  bool parse(Iterator& first, const Iterator&, const auto&, auto&, auto&) const {
    if (first->kind != kind) return false;
    ++first;
    return true;
  }

  TokenKind kind;
  const char* text;
};

// A parser that is a function `bool (Iterator& first, TreeBuilder&, Attribute&)`. Messages call it [text].
template <class Attribute, class Function>
struct Primitive : x3::parser<Primitive<Attribute, Function>> {
  using attribute_type = Attribute;
  static constexpr bool has_attribute = !std::is_same_v<Attribute, x3::unused_type>;

  constexpr Primitive(const char* primitive_text, Function f) : text(primitive_text), function(f) {}

  template <class Actual>
  bool parse(Iterator& first, const Iterator&, const auto& context, auto&, Actual& attribute) const {
    if constexpr (std::is_same_v<Actual, Attribute>) {
      return function(first, builderOf(context), attribute);
    } else {
      Attribute unwanted{};
      return function(first, builderOf(context), unwanted);
    }
  }

  const char* text;
  Function function;
};

template <class Attribute, class Function>
constexpr Primitive<Attribute, Function> primitive(const char* text, Function function) {
  return {text, function};
}

// ---- Directives ----

// [subject] must follow; messages call it [text].
template <class Subject>
struct Required : x3::unary_parser<Subject, Required<Subject>> {
  static constexpr bool is_pass_through_unary = true;

  constexpr Required(const Subject& inner, const char* required_text)
      : x3::unary_parser<Subject, Required<Subject>>(inner), text(required_text) {}

  bool parse(Iterator& first, const Iterator& last, const auto& context, auto& rule_context, auto& attribute) const {
    if (this->subject.parse(first, last, context, rule_context, attribute)) return true;
    throw Failure(first, text);
  }

  const char* text;
};

template <class Subject>
constexpr Required<Subject> required(const Subject& subject, const char* text) {
  return {subject, text};
}

// Builds a [Node], an ExprPtr or a StmtPtr, from the parts that the rule [subject] collects and from its tokens' span.
template <class Node, class Subject>
struct Make : x3::unary_parser<Subject, Make<Node, Subject>> {
  using attribute_type = Node;
  static constexpr bool has_attribute = true;
  static constexpr bool handles_container = false;

  constexpr explicit Make(const Subject& inner) : x3::unary_parser<Subject, Make<Node, Subject>>(inner) {}

  bool parse(Iterator& first, const Iterator& last, const auto& context, auto&, Node& attribute) const {
    const Iterator begin = first;
    typename Subject::attribute_type parts{};
    if (!this->subject.parse(first, last, context, x3::unused, parts)) return false;
    attribute = builderOf(context).build(spanOf(begin, first), std::move(parts));
    return true;
  }
};

template <class Subject>
constexpr Make<ExprPtr, Subject> expr(const Subject& subject) {
  return Make<ExprPtr, Subject>(subject);
}

template <class Subject>
constexpr Make<StmtPtr, Subject> stmt(const Subject& subject) {
  return Make<StmtPtr, Subject>(subject);
}

// Counts a nesting level around [subject]. The depth is limited, so no text can exhaust the stack.
template <class Subject>
struct Nested : x3::unary_parser<Subject, Nested<Subject>> {
  static constexpr bool is_pass_through_unary = true;

  constexpr Nested(const Subject& inner, uint32_t block_levels)
      : x3::unary_parser<Subject, Nested<Subject>>(inner), blocks(block_levels) {}

  bool parse(Iterator& first, const Iterator& last, const auto& context, auto& rule_context, auto& attribute) const {
    const TreeBuilder::Inside inside(builderOf(context), blocks);
    if (inside.tooDeep()) {
      builderOf(context).rejectNesting(first->span);
      throw Failure(first, "");
    }
    return this->subject.parse(first, last, context, rule_context, attribute);
  }

  uint32_t blocks;
};

template <class Subject>
constexpr Nested<Subject> nested(const Subject& subject) {
  return {subject, 0};
}
template <class Subject>
constexpr Nested<Subject> insideBlock(const Subject& subject) {
  return {subject, 1};
}

// A failure without a text was already reported where it was thrown.
inline void report(const Failure& failure, Iterator begin, TreeBuilder& builder) {
  if (!failure.which().empty()) builder.reportExpected(begin, failure.where(), failure.which());
}

// Parses what precedes a block, and checks for the block's `{` without consuming it. If the header is wrong but there
// is a block, possibly on the next line, the block is still parsed.
template <class Subject>
struct Header : x3::unary_parser<Subject, Header<Subject>> {
  static constexpr bool is_pass_through_unary = true;

  constexpr explicit Header(const Subject& inner) : x3::unary_parser<Subject, Header<Subject>>(inner) {}

  bool parse(Iterator& first, const Iterator& last, const auto& context, auto& rule_context, auto& attribute) const {
    const Iterator begin = first;
    try {
      if (!this->subject.parse(first, last, context, rule_context, attribute)) return false;
      if (first->kind != TokenKind::BlockOpen) throw Failure(first, "`{`");
    } catch (const Failure& failure) {
      TreeBuilder& builder = builderOf(context);
      Iterator block = builder.findBlock(begin);
      const Iterator where = failure.where();
      if (block == where && failure.which() != "`{`" && builder.skipBracket(block)->kind == TokenKind::BlockOpen) {
        block = builder.skipBracket(block);  // the first was meant as a dict
      } else if (block == nullptr && where->kind == TokenKind::Newline && where[1].kind == TokenKind::BlockOpen) {
        block = where + 1;
      }
      if (block == nullptr) throw;
      report(failure, begin, builder);
      builder.statement_broken = true;
      first = block;
    }
    return true;
  }
};

template <class Subject>
constexpr Header<Subject> header(const Subject& subject) {
  return Header<Subject>(subject);
}

// [subject] reads one statement and its end. A wrong statement is reported and skipped, and leaves null.
template <class Subject>
struct Recovering : x3::unary_parser<Subject, Recovering<Subject>> {
  using attribute_type = StmtPtr;
  static constexpr bool has_attribute = true;
  static constexpr bool handles_container = false;

  constexpr explicit Recovering(const Subject& inner) : x3::unary_parser<Subject, Recovering<Subject>>(inner) {}

  bool parse(Iterator& first, const Iterator& last, const auto& context, auto&, StmtPtr& attribute) const {
    TreeBuilder& builder = builderOf(context);
    const Iterator begin = first;
    const bool outer_is_broken = std::exchange(builder.statement_broken, false);
    try {
      this->subject.parse(first, last, context, x3::unused, attribute);
      builder.checkPlace(*attribute, begin->span);
    } catch (const Failure& failure) {
      report(failure, begin, builder);
      builder.statement_broken = true;
      first = builder.skipStatement(begin, failure.where());
    }
    if (std::exchange(builder.statement_broken, outer_is_broken)) attribute.reset();
    return true;
  }
};

template <class Subject>
constexpr Recovering<Subject> recovering(const Subject& subject) {
  return Recovering<Subject>(subject);
}

// ---- Actions: what was read becomes a part of what the rule collects ----

template <auto member>
constexpr auto into = [](auto& context) { x3::_val(context).*member = std::move(x3::_attr(context)); };

template <auto member>
constexpr auto append = [](auto& context) { (x3::_val(context).*member).push_back(std::move(x3::_attr(context))); };

template <auto member>
constexpr auto set = [](auto& context) { x3::_val(context).*member = true; };

constexpr auto result = [](auto& context) { x3::_val(context) = std::move(x3::_attr(context)); };

// The end of the last consumed token.
uint32_t endOf(const auto& context) { return x3::_where(context).begin()[-1].span.end; }

constexpr auto beginSpan = [](auto& context) { x3::_val(context).span = x3::_where(context).begin()[-1].span; };
constexpr auto endSpan = [](auto& context) { x3::_val(context).span.end = endOf(context); };

}  // namespace boxcar::syntax::x3_tokens

// The names of expected parsers in messages.
namespace boost::spirit::x3 {

template <>
struct get_info<boxcar::syntax::x3_tokens::Sign> {
  using result_type = std::string;
  std::string operator()(const boxcar::syntax::x3_tokens::Sign& sign) const {
    return sign.text != nullptr ? sign.text : fmt::format("`{}`", boxcar::syntax::spelling(sign.kind));
  }
};

template <class Attribute, class Function>
struct get_info<boxcar::syntax::x3_tokens::Primitive<Attribute, Function>> {
  using result_type = std::string;
  std::string operator()(const boxcar::syntax::x3_tokens::Primitive<Attribute, Function>& parser) const {
    return parser.text;
  }
};

template <class Subject, class Action>
struct get_info<action<Subject, Action>> {
  using result_type = std::string;
  std::string operator()(const action<Subject, Action>& parser) const { return what(parser.subject); }
};

}  // namespace boost::spirit::x3
