#pragma once

#include <boxcar/schema/default_value.h>
#include <boxcar/schema/parse_schema.h>
#include <boxcar/schema/schema_builder.h>
#include <boxcar/schema/words.h>

#include <boost/container/small_vector.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace boxcar::detail {

// An annotation while it is being parsed: `(before! -> after)`, or `!`.
struct AliasDraft {
  bool is_write = false;
  boost::container::small_vector<std::string_view, 2> before;
  boost::container::small_vector<std::string_view, 2> after;
};

// A composed type while it is being parsed, or a class with its path. [word] is its name, or a tuple's parenthesis.
struct ComposedType {
  TypeKind kind = TypeKind::Tuple;
  std::string_view word;
  std::string path;
  bool is_qualified = false;  // [word] qualifies one of TypeNames
  boost::container::small_vector<AnnotatedType, 4> members;
};

// The target of the grammar's actions. It checks meaning while the position in the text is known; whatever can fail
// throws SchemaError.
class ParseState {
 public:
  explicit ParseState(std::string_view text, const TypeNames* names = nullptr) : builder_(text), names_(names) {}

  SchemaBuilder& builder() noexcept { return builder_; }

  // Returns the place behind spaces and comments at [first]; newlines count as spaces inside parentheses only.
  const char* skip(const char* first, const char* last) const noexcept {
    while (first != last && isOfClass(*first, kSpace | kNewline | kComment)) {
      if (*first == '#') {
        first = skipComment(first, last);
      } else if (*first == '\n' && depth_ == 0) {
        break;
      } else {
        ++first;
      }
    }
    return first;
  }
  // Returns the place behind spaces, comments and newlines.
  static const char* skipLines(const char* first, const char* last) noexcept;

  // Remembers what was last skipped. If the expected token is absent, the grammar ends behind the skipped spaces, but
  // the schema ends before them.
  void noteSkipped(const char* first, const char* last) noexcept {
    if (first != skipped_end_) skipped_begin_ = first;
    skipped_end_ = last;
  }
  const char* beforeSkipped(const char* end) const noexcept { return end == skipped_end_ ? skipped_begin_ : end; }

  void enter(const char* parenthesis) {
    if (++depth_ > kMaxNesting) failTooDeep(parenthesis);
  }
  void leave() noexcept { --depth_; }

  // Return the ends of tokens, or [first] if there is none.
  const char* numberEnd(const char* first, const char* last) const;
  const char* quotedEnd(const char* first, const char* last) const;

  // Returns the type called [word], or null if that is the name of a composed type.
  TypePtr plainType(std::string_view word) {
    if (word == "Tensor") return Type::tensor();
    last_word_ = word;
    const TypePtr type = baseTypeNamed(word);
    return type != nullptr ? type : unusualType(word);
  }
  void beginComposed(ComposedType& composed) const;
  AnnotatedType compose(const ComposedType& composed) const;

  void beginAlias(std::string_view text) {
    if (first_alias_.empty()) first_alias_ = text;
    alias_.is_write = false;
    alias_.before.clear();
    alias_.after.clear();
  }
  AliasDraft& alias() noexcept { return alias_; }
  // Attaches the annotation that was just read to [type].
  void annotate(AnnotatedType& type) const;
  void makeList(AnnotatedType& type, const char* end) const;
  void makeOptional(AnnotatedType& type, const char* end) const;

  void beginArgument(AnnotatedType type) {
    checkNotBehindVararg();
    builder_.beginArgument(type);
  }
  void beginReturn(AnnotatedType type) {
    if (builder_.isVarret()) failBehindDots();
    builder_.beginReturn(type);
  }
  void beginKwargOnly() {
    checkNotBehindVararg();
    builder_.beginKwargOnly();
  }
  void setVararg(std::string_view dots) {
    checkNotBehindVararg();
    dots_ = dots;
    builder_.setVararg();
  }
  void setVarret(std::string_view dots) {
    if (builder_.isVarret()) failBehindDots();
    dots_ = dots;
    builder_.setVarret();
  }
  void setSize(std::string_view number);

  void beginDefault() noexcept {
    literals_.clear();
    list_begin_ = nullptr;
  }
  void beginListDefault(std::string_view bracket) noexcept { list_begin_ = bracket.data(); }
  void addLiteral(Literal::Kind kind, std::string_view text);
  void endDefault(const char* end);

  void setNameOnly() noexcept { is_name_only_ = true; }
  bool isNameOnly() const noexcept { return is_name_only_; }
  void setWholeType(AnnotatedType type);
  TypePtr wholeType() const noexcept { return whole_type_; }

  // Throws SchemaError: the text at [where] is not [expected].
  [[noreturn]] void failExpected(const char* where, std::string_view expected) const;

 private:
  static constexpr int kMaxNesting = Type::kMaxDepth + 1;

  static const char* skipComment(const char* first, const char* last) noexcept {
    while (first != last && *first != '\n') ++first;
    return first;
  }
  const char* textEnd() const noexcept {
    const std::string_view text = builder_.source().text;
    return text.data() + text.size();
  }
  [[noreturn]] void fail(std::string_view where, std::string reason) const {
    builder_.source().fail(where, std::move(reason));
  }
  [[noreturn]] void failTooDeep(const char* where) const;
  [[noreturn]] void failBehindDots() const { fail(dots_, "'...' must come last"); }
  void checkNotBehindVararg() const {
    if (builder_.isVararg()) failBehindDots();
  }
  TypePtr unusualType(std::string_view word) const;
  TypePtr qualifiedType(const ComposedType& composed) const;
  void checkDepth(const AnnotatedType& type, const char* end) const;

  SchemaBuilder builder_;
  const TypeNames* names_;
  int depth_ = 0;
  const char* skipped_begin_ = nullptr;
  const char* skipped_end_ = nullptr;
  bool is_name_only_ = false;
  std::string_view last_word_;
  std::string_view dots_;
  std::string_view first_alias_;
  AliasDraft alias_;
  const char* list_begin_ = nullptr;
  boost::container::small_vector<Literal, 4> literals_;
  TypePtr whole_type_ = nullptr;
};

}  // namespace boxcar::detail
