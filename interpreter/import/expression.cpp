#include <boxcar/interpreter/import/expression.h>
#include <fmt/format.h>

namespace boxcar::interp {

std::string within(const Expression& expression, Precedence least) {
  return expression.binding < least ? fmt::format("({})", expression.text) : expression.text;
}

Expression binaryExpression(const Expression& left, std::string_view sign, const Expression& right, Precedence binding,
                            TypePtr type) {
  const bool is_power = binding == Precedence::Power;
  const auto tighter = [](Precedence than) { return static_cast<Precedence>(static_cast<int>(than) + 1); };
  // Comparisons can be chained, so that their operands bind tighter on both sides.
  const Precedence least_left = is_power || binding == Precedence::Compare ? tighter(binding) : binding;
  const Precedence least_right = is_power ? Precedence::Unary : tighter(binding);
  return {fmt::format("{} {} {}", within(left, least_left), sign, within(right, least_right)), binding, type};
}

}  // namespace boxcar::interp
