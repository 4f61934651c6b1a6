#include <boxcar/interpreter/import/torchscript/syntax.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <utility>

namespace boxcar::interp::torchscript {
namespace {

constexpr int kMostNesting = 200;

bool isWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDecimal(char c) { return c >= '0' && c <= '9'; }

// Reads characters. Lines are statements; what is in brackets may have several.
class UnitParser final {
 public:
  UnitParser(std::string_view text, const std::string& what) : text_(text), what_(what) {}

  Unit unit() {
    Unit unit;
    while (true) {
      const int indent = beginLine();
      if (indent < 0) return unit;
      if (indent > 0) fail("a line is indented where a class or a function should begin");
      if (takeWord("class")) {
        unit.classes.push_back(classDefinition());
      } else if (takeWord("def")) {
        unit.functions.push_back(function(0));
      } else if (takeWord("import") || takeWord("from")) {
        skipLine();
      } else {
        ExprPtr constant = expression();  // `op_version_set = 1`, of old archives
        take('=');
        expression();
        endLine();
      }
    }
  }

  ExprPtr type() {
    ExprPtr found = expression();
    spaces();
    if (at_ != text_.size()) fail("a type ends too early");
    return found;
  }

 private:
  [[noreturn]] void fail(std::string_view problem) const { BOXCAR_FAIL("{}, line {}: {}", what_, line_, problem); }

  // ---- Lines ----

  // Goes to the next line that is not empty, and returns its indentation; -1 at the end.
  int beginLine() {
    while (at_ < text_.size()) {
      const size_t begin = at_;
      while (at_ < text_.size() && text_[at_] == ' ') ++at_;
      if (at_ == text_.size()) return -1;
      if (text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '#') {
        skipLine();
        continue;
      }
      return static_cast<int>(std::min<size_t>(at_ - begin, 10000));
    }
    return -1;
  }
  // Returns the indentation of the next line, without going there.
  int nextIndent() {
    const size_t at = at_;
    const uint32_t line = line_;
    const int indent = beginLine();
    at_ = at;
    line_ = line;
    return indent;
  }
  void skipLine() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    if (at_ < text_.size()) ++at_, ++line_;
  }
  void endLine() {
    spaces();
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '#') return skipLine();
    if (at_ < text_.size() && text_[at_] != '\n') fail(fmt::format("'{}' was not expected here", text_[at_]));
    skipLine();
  }

  // ---- Words and signs ----

  void spaces() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n' && brackets_ > 0) {
        ++line_;
      } else if (c != ' ' && !(c == '\r' && brackets_ > 0)) {
        return;
      }
      ++at_;
    }
  }
  char peek() {
    spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool takeIf(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void take(char c) {
    if (!takeIf(c)) fail(fmt::format("'{}' is missing", c));
  }
  bool takeWord(std::string_view word) {
    spaces();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(word)) return false;
    if (rest.size() > word.size() && (isWordStart(rest[word.size()]) || isDecimal(rest[word.size()]))) return false;
    at_ += word.size();
    return true;
  }
  std::string word() {
    spaces();
    const size_t begin = at_;
    if (at_ < text_.size() && isWordStart(text_[at_])) {
      while (at_ < text_.size() && (isWordStart(text_[at_]) || isDecimal(text_[at_]))) ++at_;
    }
    if (begin == at_) fail("a name is missing");
    return std::string(text_.substr(begin, at_ - begin));
  }

  // ---- Declarations ----

  Class classDefinition() {
    Class found;
    found.line = line_;
    found.name = word();
    if (takeIf('(')) {
      if (!takeIf(')')) {
        found.base = dottedName(*expression());
        take(')');
      }
    }
    take(':');
    endLine();
    int indent = nextIndent();
    const int own = indent;
    for (; indent > 0; indent = nextIndent()) {
      beginLine();
      if (indent != own) fail("a line of a class is indented differently");
      if (takeWord("def")) {
        found.methods.push_back(function(own));
      } else if (takeWord("pass")) {
        endLine();
      } else {
        field(found);
      }
    }
    return found;
  }

  void field(Class& found) {
    Field field;
    if (takeWord("__annotations__")) {  // `__annotations__["0"] = T`, after `__annotations__ = []`
      if (takeIf('=')) {
        expression();
        return endLine();
      }
      take('[');
      field.name = expression()->text;
      take(']');
      take('=');
      field.type = expression();
      endLine();
      found.fields.push_back(std::move(field));
      return;
    }
    field.name = word();
    if (takeIf(':')) field.type = expression();
    if (takeIf('=')) field.default_value = expression();
    endLine();
    // `__parameters__ = […]` and the like
    if (!field.name.starts_with("__") || field.type != nullptr) found.fields.push_back(std::move(field));
  }

  Function function(int indent) {
    Function found;
    found.line = line_;
    found.name = word();
    take('(');
    ++brackets_;
    while (peek() != ')') {
      Parameter parameter;
      parameter.name = word();
      if (takeIf(':')) parameter.type = expression();
      if (takeIf('=')) parameter.default_value = expression();
      found.parameters.push_back(std::move(parameter));
      if (!takeIf(',')) break;
    }
    take(')');
    if (peek() == '-') {
      take('-');
      take('>');
      found.result = expression();
    }
    --brackets_;
    take(':');
    endLine();
    found.body = block(indent);
    return found;
  }

  Block block(int outer) {
    const Nested nested(*this);
    Block found;
    const int own = nextIndent();
    if (own <= outer) fail("a block is empty");
    for (int indent = own; indent > outer; indent = nextIndent()) {
      beginLine();
      if (indent != own) fail("a line of a block is indented differently");
      found.push_back(statement(own));
    }
    return found;
  }

  StmtPtr statement(int indent) {
    auto found = std::make_unique<Stmt>();
    found->line = line_;
    const auto header = [&](Stmt::Kind kind) {
      found->kind = kind;
      found->values.push_back(expression());
    };
    const auto body = [&] {
      take(':');
      endLine();
      return block(indent);
    };
    if (takeWord("pass")) {
      endLine();
    } else if (takeWord("return")) {
      found->kind = Stmt::Kind::Return;
      const char c = peek();
      if (c != '\n' && c != '\0' && c != '\r' && c != '#') found->values.push_back(expressions());
      endLine();
    } else if (takeWord("if")) {
      header(Stmt::Kind::If);
      found->body = body();
      if (nextIndent() == indent) {
        const size_t at = at_;
        const uint32_t line = line_;
        beginLine();
        if (takeWord("else")) {
          found->otherwise = body();
        } else {
          at_ = at;
          line_ = line;
        }
      }
    } else if (takeWord("while")) {
      header(Stmt::Kind::While);
      found->body = body();
    } else if (takeWord("for")) {
      found->kind = Stmt::Kind::For;
      found->targets.push_back(name());
      if (!takeWord("in")) fail("`in` is missing");
      found->values.push_back(expression());
      found->body = body();
    } else if (takeWord("with")) {
      header(Stmt::Kind::With);
      if (takeWord("as")) found->targets.push_back(name());
      found->body = body();
    } else if (takeWord("def")) {
      found->kind = Stmt::Kind::Function;
      Function inner = function(indent);
      found->name = std::move(inner.name);
      found->body = std::move(inner.body);
    } else {
      assignmentOrCall(*found);
    }
    return found;
  }

  void assignmentOrCall(Stmt& found) {
    found.targets.push_back(expression());
    if (takeIf(':')) {
      found.type = expression();
      take('=');
      found.values.push_back(expressions());
    } else if (peek() == ',' || peek() == '=') {
      while (takeIf(',')) {
        found.unpacks = true;
        if (peek() == '=') break;
        found.targets.push_back(expression());
      }
      take('=');
      found.values.push_back(expressions());
    } else {
      found.kind = Stmt::Kind::Evaluate;
      std::swap(found.values, found.targets);
      endLine();
      return;
    }
    found.kind = Stmt::Kind::Assign;
    endLine();
  }

  // ---- Expressions ----

  // Bounds the nesting.
  struct Nested {
    explicit Nested(UnitParser& its) : parser(its) {
      if (++parser.depth_ > kMostNesting) parser.fail(fmt::format("it is nested more than {} deep", kMostNesting));
    }
    ~Nested() { --parser.depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    UnitParser& parser;
  };

  ExprPtr make(Expr::Kind kind) const {
    auto found = std::make_unique<Expr>();
    found->kind = kind;
    found->line = line_;
    return found;
  }
  ExprPtr name() {
    ExprPtr found = make(Expr::Kind::Name);
    found->text = word();
    return found;
  }

  // `a`, or `a, b`, which is a tuple
  ExprPtr expressions() {
    ExprPtr first = expression();
    if (peek() != ',') return first;
    ExprPtr tuple = make(Expr::Kind::Tuple);
    tuple->items.push_back(std::move(first));
    while (takeIf(',')) {
      const char c = peek();
      if (c == '\n' || c == '\0' || c == '\r') break;
      tuple->items.push_back(expression());
    }
    return tuple;
  }

  // A number with its sign, or `1.+2.j`, or what else there is.
  ExprPtr expression() {
    const Nested nested(*this);
    ExprPtr first = postfix();
    const bool is_number = first->kind == Expr::Kind::Float || first->kind == Expr::Kind::Int;
    if (!is_number || (peek() != '+' && peek() != '-')) return first;
    const bool is_arrow = text_.substr(at_).starts_with("->");
    if (is_arrow) return first;
    ExprPtr sum = make(Expr::Kind::Sum);
    sum->items.push_back(std::move(first));
    takeIf('+');
    sum->items.push_back(postfix());
    if (sum->items[1]->kind != Expr::Kind::Imaginary) fail("a sum that is no complex number was not expected here");
    return sum;
  }

  ExprPtr postfix() {
    ExprPtr found = primary();
    // Long chains are nested as deep as they are long.
    for (int length = 0;; ++length) {
      if (length > kMostNesting) fail(fmt::format("it is nested more than {} deep", kMostNesting));
      if (takeIf('.')) {
        ExprPtr outer = make(Expr::Kind::Attribute);
        outer->text = word();
        outer->items.push_back(std::move(found));
        found = std::move(outer);
      } else if (takeIf('(')) {
        ExprPtr outer = make(Expr::Kind::Call);
        outer->items.push_back(std::move(found));
        ++brackets_;
        while (peek() != ')') {
          argument(*outer);
          if (!takeIf(',')) break;
        }
        peek();
        --brackets_;
        take(')');
        found = std::move(outer);
      } else if (takeIf('[')) {
        ExprPtr outer = make(Expr::Kind::Index);
        outer->items.push_back(std::move(found));
        ++brackets_;
        ExprPtr index = expression();
        if (peek() == ',') {  // `Dict[str, int]`
          ExprPtr tuple = make(Expr::Kind::Tuple);
          tuple->items.push_back(std::move(index));
          while (takeIf(',')) {
            if (peek() == ']') break;
            tuple->items.push_back(expression());
          }
          index = std::move(tuple);
        }
        peek();
        --brackets_;
        take(']');
        outer->items.push_back(std::move(index));
        found = std::move(outer);
      } else {
        return found;
      }
    }
  }

  void argument(Expr& call) {
    const size_t at = at_;
    const uint32_t line = line_;
    spaces();
    if (at_ < text_.size() && isWordStart(text_[at_])) {
      std::string keyword = word();
      if (peek() == '=') {
        ++at_;
        call.keywords.push_back({std::move(keyword), expression()});
        return;
      }
      at_ = at;
      line_ = line;
    }
    if (!call.keywords.empty()) fail("an argument by position follows one by name");
    call.items.push_back(expression());
  }

  ExprPtr primary() {
    const char c = peek();
    if (c == '(') return parenthesised();
    if (c == '[') return list();
    if (c == '{') return dict();
    if (c == '"' || c == '\'') return string();
    if (isDecimal(c) || c == '.' || c == '-') return number();
    return name();
  }

  // Reads items up to [end], with an optional last comma; returns whether there was one.
  bool items(Expr& into, char end) {
    const Nested nested(*this);
    bool has_comma = false;
    ++brackets_;
    while (peek() != end) {
      into.items.push_back(expression());
      if (into.kind == Expr::Kind::Dict) {
        take(':');
        into.items.push_back(expression());
      }
      has_comma = takeIf(',');
      if (!has_comma) break;
    }
    peek();
    --brackets_;
    take(end);
    return has_comma;
  }
  ExprPtr parenthesised() {
    take('(');
    ExprPtr tuple = make(Expr::Kind::Tuple);
    const bool has_comma = items(*tuple, ')');
    if (tuple->items.size() == 1 && !has_comma) return std::move(tuple->items[0]);
    return tuple;
  }
  ExprPtr list() {
    take('[');
    ExprPtr found = make(Expr::Kind::List);
    items(*found, ']');
    return found;
  }
  ExprPtr dict() {
    take('{');
    ExprPtr found = make(Expr::Kind::Dict);
    items(*found, '}');
    return found;
  }

  ExprPtr number() {
    const size_t begin = at_;
    if (text_[at_] == '-') ++at_;
    // "-inf", "-nan"
    if (at_ < text_.size() && isWordStart(text_[at_])) {
      ExprPtr found = make(Expr::Kind::Float);
      const std::string text = word();
      if (text == "inf") {
        found->number = -std::numeric_limits<double>::infinity();
      } else if (text == "nan") {
        found->number = std::numeric_limits<double>::quiet_NaN();
      } else {
        fail("a minus sign stands before a name");
      }
      return found;
    }
    bool is_float = false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool is_exponent = c == 'e' || c == 'E';
      if (!isDecimal(c) && c != '.' && !is_exponent) break;
      is_float |= !isDecimal(c);
      ++at_;
      if (is_exponent && at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
    }
    const std::string_view digits = text_.substr(begin, at_ - begin);
    ExprPtr found = make(is_float ? Expr::Kind::Float : Expr::Kind::Int);
    const char* const end = digits.data() + digits.size();
    const auto [rest, error] = is_float ? std::from_chars(digits.data(), end, found->number)
                                        : std::from_chars(digits.data(), end, found->integer);
    if (error != std::errc() || rest != end) fail(fmt::format("'{}' is no number", digits.substr(0, 40)));
    if (at_ < text_.size() && text_[at_] == 'j') {
      ++at_;
      if (!is_float) found->number = static_cast<double>(found->integer);
      found->kind = Expr::Kind::Imaginary;
    }
    return found;
  }

  ExprPtr string() {
    const char quote = text_[at_++];
    ExprPtr found = make(Expr::Kind::String);
    while (true) {
      if (at_ >= text_.size() || text_[at_] == '\n') fail("a string has no end");
      const char c = text_[at_++];
      if (c == quote) return found;
      if (c != '\\') {
        found->text += c;
        continue;
      }
      if (at_ >= text_.size()) fail("a string has no end");
      escape(text_[at_++], found->text);
    }
  }
  void escape(char c, std::string& into) {
    switch (c) {
      case 'n': into += '\n'; return;
      case 't': into += '\t'; return;
      case 'r': into += '\r'; return;
      case 'a': into += '\a'; return;
      case 'b': into += '\b'; return;
      case 'f': into += '\f'; return;
      case 'v': into += '\v'; return;
      case '\\':
      case '\'':
      case '"': into += c; return;
      case 'x': return code(2, 16, into);
      default:
        if (c >= '0' && c <= '7') {
          --at_;
          return code(3, 8, into);
        }
        fail(fmt::format("'\\{}' is no escape that PyTorch writes", c));
    }
  }
  // Reads [digits] of a byte.
  void code(size_t digits, int base, std::string& into) {
    unsigned value = 0;
    const std::string_view text = text_.substr(at_, digits);
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || rest != text.data() + digits || value > 255) fail("an escape has no number of a byte");
    at_ += digits;
    into += static_cast<char>(value);
  }

  const std::string_view text_;
  const std::string& what_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  int brackets_ = 0;
  int depth_ = 0;
};

}  // namespace

Unit parseUnit(std::string_view text, const std::string& what) { return UnitParser(text, what).unit(); }

ExprPtr parseType(std::string_view text, const std::string& what) { return UnitParser(text, what).type(); }

std::string dottedName(const Expr& expr) {
  if (expr.kind == Expr::Kind::Name) return expr.text;
  if (expr.kind != Expr::Kind::Attribute) return {};
  std::string name = dottedName(*expr.items[0]);
  if (!name.empty()) name += "." + expr.text;
  return name;
}

}  // namespace boxcar::interp::torchscript
