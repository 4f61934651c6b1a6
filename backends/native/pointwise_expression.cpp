#include <boxcar/backends/native/pointwise_expression.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace boxcar::native {
namespace {

// A function of expressions. [kinds] has a letter for each argument: t for a tensor, n for a number, v for either, b
// for either or None. The last arguments have the [defaults].
struct ExpressionFunction {
  std::string_view name;
  Operation operation;
  std::string_view kinds;
  std::string_view parameters;
  std::array<Scalar, 3> defaults = {};
  size_t default_count = 0;
};

// Made when the first expression is read: Scalars cannot be made by the compiler.
std::span<const ExpressionFunction> expressionFunctions() {
  static const ExpressionFunction kFunctions[] = {
#define BOXCAR_EXPRESSION_FUNCTION(name, ...) {#name, Operation::k_##name, "t", "x"},
      BOXCAR_EXPRESSION_UNARY(BOXCAR_EXPRESSION_FUNCTION)
#undef BOXCAR_EXPRESSION_FUNCTION
          {"relu6", Operation::kRelu6, "t", "x"},
      {"selu", Operation::kSelu, "t", "x"},
      {"gelu", Operation::kGelu, "t", "x"},
      {"gelu_tanh", Operation::kGeluTanh, "t", "x"},
      {"elu", Operation::kElu, "tnnn", "x, alpha=1, scale=1, input_scale=1", {1, 1, 1}, 3},
      {"leaky_relu", Operation::kLeakyRelu, "tn", "x, slope=0.01", {0.01}, 1},
      {"hardtanh", Operation::kHardtanh, "tnn", "x, low=-1, high=1", {-1, 1}, 2},
      {"softplus", Operation::kSoftplus, "tnn", "x, beta=1, threshold=20", {1, 20}, 2},
      {"clamp", Operation::kClamp, "tbb", "x, low, high"},
      {"clamp_min", Operation::kClampMin, "tv", "x, low"},
      {"clamp_max", Operation::kClampMax, "tv", "x, high"},
      {"minimum", Operation::kMinimum, "tt", "x, y"},
      {"maximum", Operation::kMaximum, "tt", "x, y"},
      {"pow", Operation::kPow, "vv", "x, y"},
      {"where", Operation::kWhere, "tvv", "condition, x, y"},
      {"masked_fill", Operation::kMaskedFill, "ttv", "x, mask, value"},
  };
  return kFunctions;
}

std::vector<std::string_view> functionNames() {
  std::vector<std::string_view> names;
  for (const ExpressionFunction& function : expressionFunctions()) names.push_back(function.name);
  std::ranges::sort(names);
  return names;
}

Operation operationOf(std::string_view mark) {
  constexpr std::pair<std::string_view, Operation> kMarks[] = {
      {"+", Operation::kAdd},  {"-", Operation::kSub},  {"*", Operation::kMul},  {"/", Operation::kDiv},
      {"**", Operation::kPow}, {"<", Operation::k_lt},  {"<=", Operation::k_le}, {">", Operation::k_gt},
      {">=", Operation::k_ge}, {"==", Operation::k_eq}, {"!=", Operation::k_ne},
  };
  return std::ranges::find(kMarks, mark, &std::pair<std::string_view, Operation>::first)->second;
}

// Raises to a power; false if the result has more than 64 bits.
bool raise(int64_t base, int64_t exponent, int64_t& result) {
  result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 != 0 && __builtin_mul_overflow(result, base, &result)) return false;
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return false;
  }
  return true;
}

// "no inputs", "1 input, a", "3 inputs, a to c"
std::string inputNames(size_t count) {
  if (count == 0) return "no inputs";
  if (count == 1) return "1 input, a";
  return fmt::format("{} inputs, a to {}", count, static_cast<char>('a' + std::min<size_t>(count, 26) - 1));
}

// Throws the Error of an expression at byte [place] of its [text].
[[noreturn]] void failAt(std::string_view text, size_t place, std::string_view reason) {
  constexpr size_t kShown = 40;
  if (place >= text.size()) BOXCAR_FAIL("fused::pointwise: at the end of the expression: {}", reason);
  std::string_view rest = text.substr(place, kShown);
  // Not within a character.
  while (place + rest.size() < text.size() && (static_cast<unsigned char>(text[place + rest.size()]) & 0xC0) == 0x80)
    rest.remove_suffix(1);
  BOXCAR_FAIL("fused::pointwise: at position {} of the expression, {}{}: {}", place + 1, pythonStringRepr(rest),
              place + rest.size() < text.size() ? "…" : "", reason);
}

}  // namespace

void PointwiseExpression::failInput(size_t count) const {
  size_t first = inputs_ - 1;
  for (size_t i = count; i < inputs_; ++i) {
    if (places_[i] < places_[first]) first = i;
  }
  failAt(
      text_, places_[first],
      fmt::format("there is no input {}, because the call has {}", static_cast<char>('a' + first), inputNames(count)));
}

PointwiseExpression PointwiseExpression::parse(std::string_view text) {
  BOXCAR_CHECK(text.size() <= kMostBytes,
               "fused::pointwise: the expression has {} bytes, but the longest has {}; split it into several calls",
               text.size(), kMostBytes);
  ExpressionBuilder builder(text);
  parsePointwise(text, builder);
  return builder.finish();
}

ExpressionBuilder::ExpressionBuilder(std::string_view text) : text_(text) {
  expression_.text_ = text;
  expression_.places_.fill(std::numeric_limits<uint32_t>::max());
}

void ExpressionBuilder::fail(const char* where, std::string_view reason) const {
  failAt(text_, static_cast<size_t>(where - text_.data()), reason);
}

void ExpressionBuilder::failExpected(const char* where, std::string_view expected) const {
  fail(where, fmt::format("expected {}", expected));
}

void ExpressionBuilder::enter(std::string_view mark) {
  if (++depth_ > PointwiseExpression::kMostNested) {
    fail(mark.data(), fmt::format("more than {} parts are inside each other; split the expression into several calls",
                                  PointwiseExpression::kMostNested));
  }
}

void ExpressionBuilder::push(const Node& node) {
  const bool is_float = node.number.isFloatingPoint();
  const uint64_t bits =
      is_float ? std::bit_cast<uint64_t>(node.number.toDouble()) : static_cast<uint64_t>(node.number.toLong());
  const auto [place, is_new] = alike_.try_emplace({node.operation, node.operands, is_float, bits},
                                                  static_cast<uint32_t>(expression_.nodes_.size()));
  if (is_new) expression_.nodes_.push_back(node);
  operands_.push_back(place->second);
}

uint32_t ExpressionBuilder::pop() {
  const uint32_t top = operands_.back();
  operands_.pop_back();
  return top;
}

void ExpressionBuilder::pushNumber(std::string_view number) {
  const char* const last = number.data() + number.size();
  if (number.find_first_of(".eE") == std::string_view::npos) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), last, value);
    if (error != std::errc() || end != last) fail(number.data(), "this int has more than 64 bits; write it as a float");
    return push({.operation = Operation::kNumber, .number = value});
  }
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), last, value);
  // As in Python, a float that is too large is infinite, one that is too small is 0.
  if (error == std::errc::result_out_of_range) {
    long double wide = 0;
    const bool is_wide = std::from_chars(number.data(), last, wide).ec == std::errc();
    const bool is_small = is_wide ? wide < 1 : number.find('-') != std::string_view::npos;
    value = is_small ? 0 : std::numeric_limits<double>::infinity();
  } else if (error != std::errc() || end != last) {
    fail(number.data(), "this is not a number");
  }
  push({.operation = Operation::kNumber, .number = value});
}

void ExpressionBuilder::pushName(std::string_view name) {
  using Limits = std::numeric_limits<double>;
  if (name == "inf") return push({.operation = Operation::kNumber, .number = Limits::infinity()});
  if (name == "nan") return push({.operation = Operation::kNumber, .number = Limits::quiet_NaN()});
  if (name == "None") return push({.operation = Operation::kNone});
  if (name.size() != 1 || name[0] < 'a' || name[0] > 'z') {
    const auto names = functionNames();
    const bool is_function = std::ranges::binary_search(names, name);
    fail(name.data(), is_function ? fmt::format("the function {} needs arguments in parentheses", name)
                                  : fmt::format("there is no input {}; inputs are called a to z", name));
  }
  const size_t index = static_cast<size_t>(name[0] - 'a');
  const auto place = static_cast<uint32_t>(name.data() - text_.data());
  expression_.places_[index] = std::min(expression_.places_[index], place);
  expression_.inputs_ = std::max(expression_.inputs_, index + 1);
  push({.operation = Operation::kInput, .operands = {static_cast<uint32_t>(index)}});
}

Scalar ExpressionBuilder::fold(Operation operation, const Scalar& a, const Scalar& b, std::string_view mark) const {
  const bool are_ints = a.isIntegral(false) && b.isIntegral(false);
  if (operation == Operation::kDiv) {
    if (b.toDouble() == 0) fail(mark.data(), "a number is divided by zero");
    return a.toDouble() / b.toDouble();
  }
  if (operation == Operation::kPow && !(are_ints && b.toLong() >= 0)) return std::pow(a.toDouble(), b.toDouble());
  if (are_ints) {
    int64_t result = 0;
    const int64_t x = a.toLong();
    const int64_t y = b.toLong();
    const bool fits = operation == Operation::kAdd   ? !__builtin_add_overflow(x, y, &result)
                      : operation == Operation::kSub ? !__builtin_sub_overflow(x, y, &result)
                      : operation == Operation::kMul ? !__builtin_mul_overflow(x, y, &result)
                                                     : raise(x, y, result);
    if (!fits) fail(mark.data(), "the result of these ints has more than 64 bits; write them as floats");
    return result;
  }
  const double x = a.toDouble();
  const double y = b.toDouble();
  return operation == Operation::kAdd ? x + y : operation == Operation::kSub ? x - y : x * y;
}

void ExpressionBuilder::applyOperator() {
  const std::string_view mark = marks_.back();
  marks_.pop_back();
  const uint32_t b = pop();
  const uint32_t a = pop();
  const Operation operation = operationOf(mark);
  if (node(a).operation == Operation::kNone || node(b).operation == Operation::kNone)
    fail(mark.data(), fmt::format("{} takes tensors and numbers, not None, which can be a bound of clamp only", mark));
  if (node(a).isTensor() || node(b).isTensor()) return push({operation, 2, {a, b}});
  if (operation >= Operation::k_lt)
    fail(mark.data(), fmt::format("{} compares two numbers; one of them must depend on an input", mark));
  push({.operation = Operation::kNumber, .number = fold(operation, node(a).number, node(b).number, mark)});
}

void ExpressionBuilder::negate() {
  const std::string_view mark = marks_.back();
  marks_.pop_back();
  const uint32_t a = pop();
  if (node(a).operation == Operation::kNone) fail(mark.data(), "- takes a tensor or a number, not None");
  if (node(a).isTensor()) return push({Operation::k_neg, 1, {a}});
  const Scalar& number = node(a).number;
  if (number.isFloatingPoint()) return push({.operation = Operation::kNumber, .number = -number.toDouble()});
  push({.operation = Operation::kNumber, .number = fold(Operation::kSub, 0, number, mark)});
}

void ExpressionBuilder::beginCall(std::string_view name) {
  enter(name);
  calls_.push_back({name, operands_.size()});
}

void ExpressionBuilder::endCall() {
  leave();
  const auto [name, height] = calls_.back();
  calls_.pop_back();
  const std::span<const ExpressionFunction> functions = expressionFunctions();
  const auto function = std::ranges::find(functions, name, &ExpressionFunction::name);
  if (function == functions.end()) {
    const auto names = functionNames();
    fail(name.data(), fmt::format("there is no function {}.{} The functions are {}", name, didYouMean(name, names),
                                  fmt::join(names, ", ")));
  }
  const size_t count = operands_.size() - height;
  const size_t most = function->kinds.size();
  if (count > most || count < most - function->default_count) {
    fail(name.data(),
         fmt::format("{}({}) got {} argument{}", name, function->parameters, count, count == 1 ? "" : "s"));
  }
  Node call{function->operation, static_cast<uint8_t>(most)};
  for (size_t i = 0; i < count; ++i) {
    const uint32_t operand = operands_[height + i];
    const char kind = function->kinds[i];
    const Operation given = node(operand).operation;
    const bool suits = given == Operation::kNone     ? kind == 'b'
                       : given == Operation::kNumber ? kind != 't'
                                                     : kind != 'n';
    if (!suits) {
      fail(name.data(),
           fmt::format("argument {} of {}({}) must be {}, not {}", i + 1, name, function->parameters,
                       kind == 't'   ? "a tensor"
                       : kind == 'n' ? "a number"
                                     : "a tensor or a number",
                       given == Operation::kNone     ? "None"
                       : given == Operation::kNumber ? "the number " + boxcar::toString(node(operand).number)
                                                     : "a tensor"));
    }
    call.operands[i] = operand;
  }
  for (size_t i = count; i < most; ++i) {
    push({.operation = Operation::kNumber, .number = function->defaults[i - (most - function->default_count)]});
    call.operands[i] = operands_.back();
  }
  const auto is_tensor = [&](size_t i) { return node(call.operands[i]).isTensor(); };
  if (call.operation == Operation::kPow && !is_tensor(0) && !is_tensor(1))
    fail(name.data(), "pow has two numbers; one of them must depend on an input");
  if (call.operation == Operation::kClamp) {
    const auto is_number = [&](size_t i) { return node(call.operands[i]).operation == Operation::kNumber; };
    if ((is_tensor(1) && is_number(2)) || (is_number(1) && is_tensor(2)))
      fail(name.data(), "the bounds of clamp must be two tensors or two numbers, not one of each");
  }
  operands_.resize(height);
  push(call);
}

PointwiseExpression ExpressionBuilder::finish() {
  const uint32_t root = pop();
  auto& nodes = expression_.nodes_;
  if (nodes[root].operation <= Operation::kNone)
    BOXCAR_FAIL("fused::pointwise: the expression '{}' has no operator on an input, such as \"a + 1.0\"", text_);
  // The nodes that it needs, in their order: folded numbers are left out.
  std::vector<uint32_t> new_index(nodes.size(), 0);
  new_index[root] = 1;
  for (size_t i = root + 1; i-- > 0;) {
    if (new_index[i] == 0 || nodes[i].operation == Operation::kInput) continue;
    for (const uint32_t operand : expression_.operandsOf(nodes[i])) new_index[operand] = 1;
  }
  size_t kept = 0;
  for (size_t i = 0; i <= root; ++i) {
    if (new_index[i] == 0) continue;
    Node moved = nodes[i];
    for (size_t k = 0; k < moved.count; ++k) moved.operands[k] = new_index[moved.operands[k]];
    new_index[i] = static_cast<uint32_t>(kept);
    nodes[kept++] = moved;
  }
  nodes.resize(kept);
  expression_.last_uses_.assign(kept, 0);
  for (size_t i = 0; i < kept; ++i) {
    for (const uint32_t operand : expression_.operandsOf(nodes[i]))
      expression_.last_uses_[operand] = static_cast<uint32_t>(i);
  }
  return std::move(expression_);
}

}  // namespace boxcar::native
