#pragma once

#include <boxcar/ivalue/scalar.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

// The texts that fused::pointwise takes, such as "a * sigmoid(b) + 1.0", as graphs of operators.

namespace boxcar::native {

// Functions of one tensor without parameters: X(the operator, its functor in functors/pointwise_table.h).
#define BOXCAR_EXPRESSION_UNARY(X) \
  X(exp, Exp)                      \
  X(expm1, Expm1)                  \
  X(log, Log)                      \
  X(log1p, Log1p)                  \
  X(log2, Log2)                    \
  X(sqrt, Sqrt)                    \
  X(rsqrt, Rsqrt)                  \
  X(square, Square)                \
  X(abs, Abs)                      \
  X(neg, Neg)                      \
  X(sign, Sgn)                     \
  X(reciprocal, Reciprocal)        \
  X(sin, Sin)                      \
  X(cos, Cos)                      \
  X(tanh, Tanh)                    \
  X(sigmoid, Sigmoid)              \
  X(erf, Erf)                      \
  X(relu, Relu)                    \
  X(silu, Silu)                    \
  X(hardswish, Hardswish)          \
  X(hardsigmoid, Hardsigmoid)      \
  X(mish, Mish)                    \
  X(floor, Floor)                  \
  X(ceil, Ceil)                    \
  X(round, Round)                  \
  X(trunc, Trunc)

// Comparisons: X(the operator, its functor, the operator with swapped operands).
#define BOXCAR_EXPRESSION_COMPARISONS(X) \
  X(lt, Lt, gt)                          \
  X(le, Le, ge)                          \
  X(gt, Gt, lt)                          \
  X(ge, Ge, le)                          \
  X(eq, Eq, eq)                          \
  X(ne, Ne, ne)

enum class Operation : uint8_t {
  kInput,
  kNumber,
  kNone,  // an absent bound
  kAdd,
  kSub,
  kMul,
  kDiv,
  kPow,
#define BOXCAR_ENUMERATOR(name, ...) k_##name,
  BOXCAR_EXPRESSION_COMPARISONS(BOXCAR_ENUMERATOR) BOXCAR_EXPRESSION_UNARY(BOXCAR_ENUMERATOR)
#undef BOXCAR_ENUMERATOR
      kRelu6,
  kSelu,
  kGelu,
  kGeluTanh,
  kElu,
  kLeakyRelu,
  kHardtanh,
  kSoftplus,
  kClamp,
  kClampMin,
  kClampMax,
  kMinimum,
  kMaximum,
  kWhere,
  kMaskedFill,
};

// A parsed expression. Equal parts are one node, and operations on numbers alone are computed. Immutable.
class PointwiseExpression final {
 public:
  static constexpr size_t kMostInputs = 26;
  static constexpr size_t kMostOperands = 4;
  // Longer texts are refused, and ones with more nested parts.
  static constexpr size_t kMostBytes = 65536;
  static constexpr int kMostNested = 200;

  struct Node {
    Operation operation;
    uint8_t count = 0;
    // Indices of nodes before this one; of an input, which one it is.
    std::array<uint32_t, kMostOperands> operands = {};
    Scalar number = {};

    bool isTensor() const { return operation != Operation::kNumber && operation != Operation::kNone; }
  };

  // Throws Error for a text that is not an expression, with the position and what is allowed there.
  static PointwiseExpression parse(std::string_view text);

  const std::string& text() const { return text_; }
  // Each after its operands, the value of the expression last.
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const uint32_t> operandsOf(const Node& node) const { return {node.operands.data(), node.count}; }
  // The last node that uses each node.
  std::span<const uint32_t> lastUses() const { return last_uses_; }

  // Throws Error if the expression names an input beyond the first [count].
  void checkInputs(size_t count) const {
    if (count < inputs_) [[unlikely]]
      failInput(count);
  }

 private:
  friend class ExpressionBuilder;

  [[noreturn]] void failInput(size_t count) const;

  std::string text_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> last_uses_;
  size_t inputs_ = 0;                              // one more than the last input that it names
  std::array<uint32_t, kMostInputs> places_ = {};  // where it first names each input
};

// Builds an expression while its text is read: a stack of operands, to which the grammar's actions apply operators.
// Whatever can fail throws Error.
class ExpressionBuilder final {
 public:
  explicit ExpressionBuilder(std::string_view text);

  void enter(std::string_view mark);
  void leave() { --depth_; }

  void pushNumber(std::string_view number);
  // An input, or one of inf, nan and None.
  void pushName(std::string_view name);

  // An operator between two operands: begun before the second one is read, applied after it.
  void beginOperator(std::string_view mark) { marks_.push_back(mark); }
  void applyOperator();
  void negate();

  void beginCall(std::string_view name);
  void endCall();

  PointwiseExpression finish();

  [[noreturn]] void failExpected(const char* where, std::string_view expected) const;

 private:
  using Node = PointwiseExpression::Node;
  struct Call {
    std::string_view name;
    size_t height;  // of the operands before the arguments
  };

  [[noreturn]] void fail(const char* where, std::string_view reason) const;
  void push(const Node& node);
  uint32_t pop();
  const Node& node(uint32_t index) const { return expression_.nodes_[index]; }
  Scalar fold(Operation operation, const Scalar& a, const Scalar& b, std::string_view mark) const;

  PointwiseExpression expression_;
  std::string_view text_;
  std::vector<uint32_t> operands_;
  std::vector<std::string_view> marks_;
  std::vector<Call> calls_;
  // Nodes by their contents: the operation, the operands, and a number's kind and bits.
  using Contents = std::tuple<Operation, std::array<uint32_t, PointwiseExpression::kMostOperands>, bool, uint64_t>;
  std::map<Contents, uint32_t> alike_;
  int depth_ = 0;
};

// Reads [text] into [builder]: the grammar, in a source of its own.
void parsePointwise(std::string_view text, ExpressionBuilder& builder);

}  // namespace boxcar::native
