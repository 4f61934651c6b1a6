#pragma once

#include <boxcar/interpreter/syntax/ast.h>
#include <boxcar/interpreter/syntax/diagnostic.h>
#include <boxcar/interpreter/syntax/operator_fold.h>
#include <boxcar/interpreter/syntax/token.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::syntax {

// ---- What the grammar's rules collect, where it is no node of the tree yet ----

// `a, b, c`; also the contents of parentheses and of an index.
struct Items {
  std::vector<ExprPtr> items;
  bool comma = false;  // `a,` is a tuple
};
struct ListItems {
  std::vector<ExprPtr> items;
  std::vector<ComprehensionClause> clauses;
};
struct Arguments {
  std::vector<Argument> items;
  Span span;
};
// `name` or `name(arguments)`.
struct Named {
  QualifiedName name;
  Arguments arguments;  // not a call if the span is empty
};
// `.name` or `.name(arguments)`.
struct Member {
  Name name;
  Arguments arguments;
};
// `start:stop:step`, or `start` alone.
struct SliceItem {
  ExprPtr start;
  ExprPtr stop;
  ExprPtr step;
  bool colon = false;
};
struct IsInstance {
  Name name;
  ExprPtr value;
  Span type;
  Span span;  // from `(` to `)`
};
// `value if condition else otherwise if condition …`
struct ConditionalChain {
  ExprPtr value;
  struct Link {
    ExprPtr condition;
    ExprPtr otherwise;
  };
  std::vector<Link> links;
};
// An expression statement or an assignment.
struct SimpleStatement {
  Items left;
  const Token* op = nullptr;  // `=`, `+=` …
  Items right;
};

using Level = OperatorToken::Level;

// Builds the nodes, and keeps the state that the grammar's rules share while they run.
class TreeBuilder {
 public:
  TreeBuilder(const SourcePtr& source, const TokenStream& stream, Diagnostics& diagnostics)
      : source_(source), stream_(stream), diagnostics_(diagnostics) {}

  std::string_view text(Span span) const { return source_->text(span); }
  Name name(const Token& token) const { return {text(token.span), token.span}; }

  // ---- Expressions ----

  // Makes every node and computes its height.
  ExprPtr make(Span span, Expr::Node node);

  // Returns [expr] with its height set; an expression that exceeds the maximum height is reported and replaced by a
  // leaf.
  ExprPtr limitHeight(ExprPtr expr, uint32_t height);

  ExprPtr literal(const Token& token);
  ExprPtr build(Span span, Named&& parts);
  ExprPtr build(Span span, IsInstance&& parts);
  ExprPtr build(Span span, ListItems&& parts);
  ExprPtr build(Span span, DictLiteral&& parts) { return make(span, std::move(parts)); }
  ExprPtr build(Span span, FormattedString&& parts) { return make(span, std::move(parts)); }
  ExprPtr build(Span span, SliceItem&& parts);
  ExprPtr build(Span span, ConditionalChain&& parts);
  ExprPtr build(Span, OperatorFold&& parts) { return parts.finish(*this); }
  // `( … )`: the only item, with its span widened, or a tuple.
  ExprPtr build(Span span, Items&& parts);

  // The only item, or the tuple of items with commas.
  ExprPtr tupleOrItem(Items&& items);

  ExprPtr member(ExprPtr object, Member&& member, uint32_t end);
  ExprPtr index(ExprPtr object, Items&& items, uint32_t end);

  // Reports arguments with a wrong order or wrong names.
  void checkArguments(const std::vector<Argument>& arguments);
  void addText(FormattedString& string, const Token& text);
  FormatSpec format(const Token& token) const { return stream_.formats[token.index]; }

  // ---- Statements ----

  template <class T>
  StmtPtr build(Span span, T&& node) {
    return std::make_unique<Stmt>(Stmt{span, std::forward<T>(node)});
  }
  StmtPtr build(Span span, SimpleStatement&& parts);

  // Reports items that cannot be assigned to; a tuple in parentheses counts as its items.
  Targets targets(Items&& items);
  // Reports a declaration in a block that is only allowed at top level; [begin] is its first word.
  void checkPlace(const Stmt& stmt, Span begin);
  std::string string(const Token& token) const { return stream_.strings[token.index]; }

  // ---- Errors ----

  // Reports an error in the current statement, which is left out of the tree.
  Diagnostic& reject(Span span, std::string message) {
    statement_broken = true;
    return diagnostics_.error(source_, span, std::move(message));
  }

  // Does the same for code that nests more than kMaxNesting levels deep.
  void rejectNesting(Span span);

  // Reports that [expected] is missing at [where], in the construct that begins at [begin], unless something there has
  // already been reported.
  void reportExpected(const Token* begin, const Token* where, const std::string& expected);

  // Returns where the next statement may begin after the one that begins at [begin] and is wrong at [where].
  const Token* skipStatement(const Token* begin, const Token* where) const;

  // Returns the `{` of the block after the header that begins at [begin]; null if there is none.
  const Token* findBlock(const Token* begin) const;

  // Returns the token after the bracket that [open] opens, or after [open] if it opens none.
  const Token* skipBracket(const Token* open) const;

  // Adds a nesting level during its lifetime; [blocks] of the levels are blocks.
  class Inside {
   public:
    Inside(TreeBuilder& builder, uint32_t blocks) : builder_(builder), blocks_(blocks) {
      ++builder_.nesting_;
      builder_.blocks_ += blocks_;
    }
    ~Inside() {
      --builder_.nesting_;
      builder_.blocks_ -= blocks_;
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    bool tooDeep() const;

   private:
    TreeBuilder& builder_;
    uint32_t blocks_;
  };

  // The current statement is wrong, has been reported and will be left out.
  bool statement_broken = false;

 private:
  bool wasReported(const Token* begin, const Token* where) const;
  void checkTarget(const Expr& expr);

  const SourcePtr& source_;
  const TokenStream& stream_;
  Diagnostics& diagnostics_;
  uint32_t nesting_ = 0;
  uint32_t blocks_ = 0;
};

}  // namespace boxcar::syntax
