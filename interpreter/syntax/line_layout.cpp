#include <boxcar/interpreter/syntax/line_layout.h>
#include <boxcar/interpreter/syntax/literals.h>

#include <algorithm>
#include <vector>

namespace boxcar::syntax {
namespace {

using Kind = TokenKind;

// Binary operators by how tightly they bind; None is not an operator.
enum class LayoutLevel : uint8_t { Or, And, Compare, BitOr, BitXor, BitAnd, Shift, Sum, Product, Power, None };

LayoutLevel levelOf(Kind kind) {
  switch (kind) {
    case Kind::KwOr: return LayoutLevel::Or;
    case Kind::KwAnd: return LayoutLevel::And;
    case Kind::Equal:
    case Kind::NotEqual:
    case Kind::Less:
    case Kind::LessEqual:
    case Kind::Greater:
    case Kind::GreaterEqual:
    case Kind::KwIn:
    case Kind::KwIs: return LayoutLevel::Compare;
    case Kind::Bar: return LayoutLevel::BitOr;
    case Kind::Caret: return LayoutLevel::BitXor;
    case Kind::Ampersand: return LayoutLevel::BitAnd;
    case Kind::ShiftLeft:
    case Kind::ShiftRight: return LayoutLevel::Shift;
    case Kind::Plus:
    case Kind::Minus: return LayoutLevel::Sum;
    case Kind::Star:
    case Kind::Slash:
    case Kind::DoubleSlash:
    case Kind::Percent:
    case Kind::At: return LayoutLevel::Product;
    case Kind::DoubleStar: return LayoutLevel::Power;
    default: return LayoutLevel::None;
  }
}

bool isSign(Kind kind) { return kind == Kind::Minus || kind == Kind::Plus || kind == Kind::Tilde; }

bool isAssignment(Kind kind) {
  return kind == Kind::Assign || (kind >= Kind::BarAssign && kind <= Kind::DoubleStarAssign);
}

// Whether two tokens without a blank between them would be read as different tokens.
bool wouldMerge(std::string_view left, std::string_view right) {
  const auto isNumber = [](std::string_view text) {
    return isDigit(text[0]) || (text[0] == '.' && text.size() > 1 && isDigit(text[1]));
  };
  if (isNamePart(left.back()) && (isNamePart(right[0]) || right[0] == '"' || right[0] == '\'')) return true;
  if (left.back() == '.' && isDigit(right[0])) return true;
  if (isNumber(left) && right[0] == '.') return right.size() > 1 || left.back() == '.';
  for (size_t i = static_cast<size_t>(kFirstSpelled); i < static_cast<size_t>(kFirstKeyword); ++i) {
    const std::string_view sign = spelling(static_cast<Kind>(i));
    if (sign.size() > left.size() && sign.starts_with(left) && right.starts_with(sign.substr(left.size()))) return true;
  }
  return false;
}

// How blanks are placed, and whether a trailing comma is allowed.
enum class LayoutMode { Statement, Element, Type };

class LineLayout final {
 public:
  LineLayout(TokenReader& reader, TextLayout& layout) : reader_(reader), layout_(layout) {}

  void line(size_t begin, size_t end) {
    if (kind(begin) == Kind::KwFn || reader_.isContextual(begin, "op", Kind::Name)) {
      sequence(begin, end, LayoutMode::Type);
    } else if (kind(begin) == Kind::Name && begin + 1 < end && kind(begin + 1) == Kind::Colon) {
      const size_t assign = find(Kind::Assign, begin, end);
      sequence(begin, begin + 2, LayoutMode::Statement);
      layout_.text(" ");
      sequence(begin + 2, assign, LayoutMode::Type);
      layout_.text(" ");
      sequence(assign, end, LayoutMode::Statement);
    } else if (const size_t name = fieldName(begin, end); name != end) {
      sequence(begin, name, LayoutMode::Type);
      layout_.text(" ");
      sequence(name, end, LayoutMode::Statement);
    } else if (kind(begin) == Kind::KwFor) {
      const size_t in = find(Kind::KwIn, begin, end);
      sequence(begin, in, LayoutMode::Statement);
      layout_.text(" ");
      sequence(in, end, LayoutMode::Statement);
    } else {
      sequence(begin, end, LayoutMode::Statement);
    }
  }

 private:
  Kind kind(size_t i) const { return reader_.kind(i); }

  // Returns the first token of a kind in [begin, end), outside of brackets that open there; [end] if there is none.
  size_t find(Kind wanted, size_t begin, size_t end) const {
    while (begin < end && kind(begin) != wanted) begin = reader_.next(begin);
    return std::min(begin, end);
  }

  // Returns the name in a struct's field, `TYPE name = default`: only there, a word follows what a value may end with.
  // Returns [end] for other lines.
  size_t fieldName(size_t begin, size_t end) const {
    const size_t behind = find(Kind::Assign, begin, end);
    if (kind(begin) == Kind::KwImport || behind < begin + 2 || !reader_.isWord(behind - 1)) return end;
    return endsOperand(behind - 2) ? behind - 1 : end;
  }

  // ---- Tokens in a row ----

  // Whether a value may end with token [i], which includes a method's name that is a keyword, and a type's `?`.
  bool endsOperand(size_t i) const {
    if (endsValue(kind(i)) || kind(i) == Kind::Question) return true;
    return i > 0 && isKeyword(kind(i)) && (kind(i - 1) == Kind::Dot || kind(i - 1) == Kind::Scope);
  }
  bool isPrefix(size_t i) const { return isSign(kind(i)) && (i == 0 || !endsOperand(i - 1)); }

  // In `a::f(x)`, the two colons of a slice would be read as one sign.
  bool colonsWouldMerge(size_t second) const {
    if (!reader_.isWord(second - 2) || !reader_.isWord(second + 1)) return false;
    const size_t behind = second + 2;
    return kind(behind) == Kind::LeftParen ||
           (kind(behind) == Kind::Dot && reader_.isWord(behind + 1) && kind(behind + 2) == Kind::LeftParen);
  }

  // Whether a blank precedes token [i], which follows another in the same row.
  bool hasBlank(size_t i, LayoutMode mode) const {
    const size_t before = i - 1;
    const Kind left = kind(before), right = kind(i);
    if (left == Kind::Colon && right == Kind::Colon) return colonsWouldMerge(i);
    if (left == Kind::Int && right == Kind::Dot && (reader_.text(i + 1)[0] | 0x20) == 'e')
      return true;  // not an exponent
    if (wouldMerge(reader_.text(before), reader_.text(i))) return true;
    if (left == Kind::Comma || left == Kind::Arrow || right == Kind::Arrow) return right != Kind::Comma;
    switch (right) {
      case Kind::Comma:
      case Kind::Colon:
      case Kind::Question:
      case Kind::Exclamation:
      case Kind::Dot:
      case Kind::Scope: return false;
      case Kind::LeftParen:
      case Kind::LeftBracket:
        if (endsOperand(before)) return false;
        break;
      default: break;
    }
    if (left == Kind::Dot || left == Kind::Scope || isPrefix(before)) return false;
    if (mode == LayoutMode::Type) return reader_.isWord(i) && (endsOperand(before) || left == Kind::Exclamation);
    return true;
  }

  // Adds a possible break before token [i], with the pending comments: all on lines of their own, except the first if
  // it followed code.
  void placeBefore(size_t i, bool has_space) {
    trailingComment(i);
    if (has_space) {
      layout_.breakOrSpace();
    } else {
      layout_.breakOrNothing();
    }
    ownLineComments(i);
  }
  void trailingComment(size_t i) {
    if (reader_.hasComment(i) && !reader_.isOwnLine()) layout_.comment(reader_.takeComment());
  }
  void ownLineComments(size_t i) {
    while (reader_.hasComment(i)) {
      layout_.comment(reader_.takeComment());
      layout_.breakOrNothing();
    }
  }

  void token(size_t i) { layout_.text(reader_.text(i)); }

  // Writes tokens without possible breaks outside of their brackets.
  void sequence(size_t begin, size_t end, LayoutMode mode) {
    size_t commas = 0;
    for (size_t i = begin; i < end; i = reader_.next(i)) {
      if (kind(i) == Kind::Comma) {
        // The last comma of `a, b, = e` is redundant; that of `a, = e` is not.
        if (mode == LayoutMode::Statement && ++commas > 1 && endsList(i + 1, end)) continue;
      } else if (endsList(i, end)) {
        commas = 0;
      }
      if (i > begin && hasBlank(i, mode)) layout_.text(" ");
      if (kind(i) == Kind::FStringBegin) {
        layout_.text(reader_.text(join(reader_.span(i), reader_.span(reader_.closer(i)))));
      } else if (reader_.isOpener(i)) {
        bracket(i, mode);
      } else {
        token(i);
      }
    }
  }
  bool endsList(size_t i, size_t end) const { return i == end || isAssignment(kind(i)); }

  // ---- Brackets ----

  struct Element {
    size_t begin;
    size_t end;
  };

  // The contents of a bracket.
  struct Content {
    std::vector<Element> elements;
    bool is_index = false;
    bool is_comprehension = false;
    bool is_type = false;
    bool takes_last_comma = false;  // a redundant one
    bool needs_last_comma = false;  // only the comma makes it a tuple
  };

  Content contentOf(size_t open, LayoutMode mode) const {
    const size_t close = reader_.closer(open);
    const bool follows_value = open > 0 && endsOperand(open - 1) && kind(open) != Kind::DictOpen;
    Content content;
    content.is_index = kind(open) == Kind::LeftBracket && follows_value;
    content.is_type = mode == LayoutMode::Type;
    if (kind(open) == Kind::LeftBracket && find(Kind::KwFor, open + 1, close) != close) {
      content.is_comprehension = true;
      content.elements.push_back({open + 1, close});
      return content;
    }
    bool ends_in_comma = false;
    for (size_t begin = open + 1; begin < close;) {
      const size_t comma = find(Kind::Comma, begin, close);
      content.elements.push_back({begin, comma});
      ends_in_comma = comma + 1 == close;
      begin = comma + 1;
    }
    const bool is_call = kind(open) == Kind::LeftParen && follows_value;
    const bool is_tuple = !is_call && (content.is_index || kind(open) == Kind::LeftParen);
    const bool is_single = content.elements.size() < 2;
    content.needs_last_comma = is_tuple && is_single && ends_in_comma;
    content.takes_last_comma = !content.is_type && !isInstance(open) && !(is_tuple && is_single);
    return content;
  }

  // `isinstance(`, whose second argument is a type.
  bool isInstance(size_t open) const {
    return open > 0 && reader_.isContextual(open - 1, "isinstance", Kind::LeftParen) &&
           (open == 1 || (kind(open - 2) != Kind::Dot && kind(open - 2) != Kind::Scope));
  }

  // A bracket whose only element is another bracket, perhaps of a call, leaves breaking to that one: `print(tensor([[`.
  // A bracket around a text gains nothing from breaking.
  bool leavesBreaking(size_t open, const Content& content) const {
    const size_t close = reader_.closer(open);
    if (content.elements.size() != 1 || content.is_type || content.needs_last_comma) return false;
    if (kind(open + 1) == Kind::String || kind(open + 1) == Kind::FStringBegin) {
      return reader_.next(open + 1) == content.elements[0].end && !reader_.hasComment(close);
    }
    size_t inner = open + 1;
    while (kind(inner) == Kind::Name || kind(inner) == Kind::Dot || kind(inner) == Kind::Scope) ++inner;
    if (!reader_.isOpener(inner) || kind(inner) == Kind::FStringBegin) return false;
    const size_t inner_close = reader_.closer(inner);
    if (inner_close != content.elements[0].end - 1 || inner_close == inner + 1) return false;
    // Comments break it, unless they are inside the other.
    return !reader_.hasComment(open + 1) && !hasCommentBetween(inner_close, close);
  }

  // Whether a comment that was not taken yet lies between tokens [first] and [last].
  bool hasCommentBetween(size_t first, size_t last) const {
    const std::vector<Span>& comments = reader_.stream().comments;
    const auto next = std::lower_bound(comments.begin() + static_cast<std::ptrdiff_t>(reader_.next_comment()),
                                       comments.end(), reader_.span(first).begin,
                                       [](Span comment, uint32_t offset) { return comment.begin < offset; });
    return next != comments.end() && next->begin < reader_.span(last).begin;
  }

  void bracket(size_t open, LayoutMode mode) {
    const size_t close = reader_.closer(open);
    token(open);
    const Content content = contentOf(open, mode);
    if (leavesBreaking(open, content)) {
      sequence(content.elements[0].begin, content.elements[0].end, LayoutMode::Element);
    } else if (close > open + 1 || hasCommentBetween(open, close)) {
      layout_.beginGroup();
      layout_.indent();
      elements(open, content);
      trailingComment(close);
      if (reader_.hasComment(close)) {
        layout_.breakOrNothing();
        ownLineComments(close);
      }
      layout_.dedent();
      layout_.breakOrNothing();
      layout_.text(reader_.text(close));
      layout_.endGroup();
      return;
    }
    token(close);
  }

  void elements(size_t open, const Content& content) {
    for (size_t i = 0; i < content.elements.size(); ++i) {
      const Element& element = content.elements[i];
      const bool is_last = i + 1 == content.elements.size();
      placeBefore(element.begin, i > 0);
      if (content.is_type || (i == 1 && isInstance(open))) {
        sequence(element.begin, element.end, LayoutMode::Type);
      } else if (content.is_comprehension) {
        comprehension(element);
      } else {
        this->element(element, content.is_index, content.elements.size() > 1);
      }
      if (!is_last || content.needs_last_comma) {
        layout_.text(",");
      } else if (content.takes_last_comma) {
        layout_.textIfBroken(",");
      }
    }
  }

  void element(Element element, bool is_index, bool is_indented) {
    auto [begin, end] = element;
    if (is_index) return slice(element, is_indented);
    if (reader_.isWord(begin) && begin + 1 < end && kind(begin + 1) == Kind::Assign) {
      token(begin);
      token(begin + 1);
      return expression({begin + 2, end}, true);
    }
    if (const size_t colon = find(Kind::Colon, begin, end); colon != end) {
      expression({begin, colon}, true);
      token(colon);
      layout_.text(" ");
      return expression({colon + 1, end}, true);
    }
    expression(element, is_indented);
  }

  void slice(Element element, bool is_indented) {
    size_t begin = element.begin;
    const size_t first_colon = find(Kind::Colon, begin, element.end);
    while (begin < element.end) {
      const size_t colon = find(Kind::Colon, begin, element.end);
      if (begin < colon) expression({begin, colon}, is_indented || first_colon < element.end);
      if (colon < element.end) {
        if (colon > element.begin && kind(colon - 1) == Kind::Colon && hasBlank(colon, LayoutMode::Element))
          layout_.text(" ");
        token(colon);
      }
      begin = colon + 1;
    }
  }

  // ---- Expressions in brackets, which may break at their loosest operators ----

  void comprehension(Element element) {
    size_t begin = element.begin;
    size_t at = find(Kind::KwFor, begin, element.end);
    expression({begin, at}, true);
    // The element may have a conditional's `if`; after its `for` there is none.
    while (at < element.end) {
      begin = at;
      at = reader_.next(at);
      while (at < element.end && kind(at) != Kind::KwFor && kind(at) != Kind::KwIf) at = reader_.next(at);
      placeBefore(begin, true);
      token(begin);
      layout_.text(" ");
      if (kind(begin) == Kind::KwFor) {
        const size_t in = find(Kind::KwIn, begin, at);
        sequence(begin + 1, in, LayoutMode::Statement);
        layout_.text(" in ");
        begin = in;
      }
      operators({begin + 1, at}, true);
    }
  }

  // A conditional breaks before `if` and `else`.
  void expression(Element element, bool is_indented) {
    const size_t first = nextBranch(element.begin, element.end);
    if (first == element.end) return operators(element, is_indented);
    layout_.beginGroup();
    operators({element.begin, first}, true);
    // The begin of the group is at the group's own indentation.
    if (is_indented) layout_.indent();
    for (size_t at = first; at < element.end;) {
      const size_t next = nextBranch(at + 1, element.end);
      placeBefore(at, true);
      token(at);
      layout_.text(" ");
      operators({at + 1, next}, true);
      at = next;
    }
    if (is_indented) layout_.dedent();
    layout_.endGroup();
  }
  size_t nextBranch(size_t begin, size_t end) const {
    return std::min(find(Kind::KwIf, begin, end), find(Kind::KwElse, begin, end));
  }

  LayoutLevel levelAt(size_t i, size_t begin) const {
    // `not in` is one sign.
    if (kind(i) == Kind::KwNot && i > begin && kind(i + 1) == Kind::KwIn && endsOperand(i - 1))
      return LayoutLevel::Compare;
    if (i == begin || !endsOperand(i - 1)) return LayoutLevel::None;
    return levelOf(kind(i));
  }

  void operators(Element element, bool is_indented) {
    LayoutLevel loosest = LayoutLevel::None;
    for (size_t i = element.begin; i < element.end; i = reader_.next(i)) {
      loosest = std::min(loosest, levelAt(i, element.begin));
    }
    if (loosest == LayoutLevel::None) return sequence(element.begin, element.end, LayoutMode::Element);
    layout_.beginGroup();
    size_t begin = element.begin;
    for (size_t i = element.begin; i < element.end; i = reader_.next(i)) {
      if (levelAt(i, element.begin) != loosest) continue;
      operators({begin, i}, true);
      layout_.text(" ");
      token(i);
      if (kind(i) == Kind::KwNot || (kind(i) == Kind::KwIs && kind(i + 1) == Kind::KwNot)) {
        layout_.text(" ");
        token(++i);
      }
      if (begin == element.begin && is_indented) layout_.indent();
      begin = i + 1;
      placeBefore(begin, true);
    }
    operators({begin, element.end}, true);
    if (is_indented) layout_.dedent();
    layout_.endGroup();
  }

  TokenReader& reader_;
  TextLayout& layout_;
};

}  // namespace

bool TokenReader::isOpener(size_t i) const {
  const Kind opener = kind(i);
  return opener == Kind::LeftParen || opener == Kind::LeftBracket || opener == Kind::DictOpen ||
         opener == Kind::FStringBegin;
}

bool TokenReader::isOwnLine(Span comment) const {
  std::string_view before = source_.text().substr(0, comment.begin);
  const size_t last = before.find_last_not_of(" \t\r\f");
  return last == std::string_view::npos || before[last] == '\n' || before.substr(0, last + 1) == "\xEF\xBB\xBF";
}

std::string_view TokenReader::commentText(Span comment) const {
  const std::string_view text = source_.text(comment);
  return text.substr(0, text.find_last_not_of(" \t\r\f") + 1);
}

void layOutLine(TokenReader& reader, size_t begin, size_t end, TextLayout& layout) {
  LineLayout(reader, layout).line(begin, end);
}

}  // namespace boxcar::syntax
