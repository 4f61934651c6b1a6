#pragma once

#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/type.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace boxcar::fuzz {

// Writes whole programs, choice by choice: all kinds of declarations, statements, handlers, files, and calls of every
// operator. Arguments have the types of the schema, with ordinary and extreme values. Most programs compile; they may
// do anything when they run. If every choice is 0, the program ends soon.
//
//   fuzz.ops:  fn f0(Tensor a0) -> int { … }
//              v1 = aten::tril(ones(2, 3), -1)
class ProgramText final {
 public:
  // [below](n) chooses a number below n.
  explicit ProgramText(std::function<size_t(size_t)> below) : below_(std::move(below)) {}

  // Returns the declarations and statements, in order.
  std::vector<std::string> write();

 private:
  enum class Kind : uint8_t { Int, Float, Bool, Str, Tensor, Ints, Tensors, Dict, Any };
  static constexpr size_t kKinds = 9;

  struct Name {
    std::string text;
    Kind kind;
  };

  // ---- choices ----
  bool oneIn(size_t n) { return below_(n) == n - 1; }
  Kind anyKind() { return static_cast<Kind>(below_(kKinds)); }
  template <class Texts>
  std::string oneOf(const Texts& texts) {
    return std::string(texts[below_(std::size(texts))]);
  }

  // ---- declarations ----
  void declaration();
  void signatureAndBody(const std::string& head);
  void handlerBody();

  // ---- statements ----
  void block(size_t depth);
  void statement(size_t depth);
  void assignment();
  void loop(size_t depth);
  void scoped(size_t depth);
  void line(const std::string& text);

  // ---- expressions ----
  std::string expression(Kind kind, size_t depth);
  // An expression whose kind the compiler does not know.
  std::string hidden(size_t depth);
  std::string number(size_t depth);
  std::string text(size_t depth);
  std::string tensor(size_t depth);
  std::string variable(Kind kind);
  std::string ints(size_t depth);
  std::string index(size_t depth);
  std::string file(size_t depth);
  std::string functionCall(Kind kind, size_t depth);
  // A call of an operator, with arguments for its schema.
  std::string operatorCall(size_t depth);
  std::string argument(TypePtr type, size_t depth);

  std::function<size_t(size_t)> below_;
  std::string text_;
  size_t indent_ = 0;
  size_t statements_ = 0;
  size_t names_ = 0;
  size_t loops_ = 0;
  std::vector<Name> variables_;  // the variables that are readable here
  std::vector<std::pair<std::string, std::vector<Kind>>> functions_;
  std::vector<std::string> modes_;
};

}  // namespace boxcar::fuzz
