#include <boxcar/dispatcher/handlers/fault/denier.h>
#include <boxcar/dispatcher/registry/name_pattern.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

namespace boxcar {

void Denier::call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  if (matchesPattern(op.operator_name(), pattern_)) {
    has_denied_ = true;
    BOXCAR_FAIL("{} is denied by the pattern '{}': call another operator, or run without deny", op, pattern_);
  }
  op.redispatchBoxed(keys, stack);
}

std::string Denier::finish(bool) {
  if (has_denied_ || matchesSomeOperator(pattern_)) return {};
  return fmt::format("deny '{}': no operator has such a name\n", pattern_);
}

constinit const HandlerKind kDenyKind = {"deny(str pattern) -> ()",
                                         "Refuse the operators that match a name or a pattern such as 'aten::*_'",
                                         [](std::span<const IValue> arguments) -> std::unique_ptr<Handler> {
                                           return std::make_unique<Denier>(std::string(arguments[0].toStringView()));
                                         }};

}  // namespace boxcar
