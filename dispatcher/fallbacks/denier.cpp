#include <boxcar/dispatcher/fallbacks/denier.h>
#include <boxcar/dispatcher/fallbacks/name_pattern.h>
#include <boxcar/ivalue/error.h>

namespace boxcar {

void Denier::call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  BOXCAR_CHECK(!matchesPattern(op.operator_name(), pattern_),
               "{} is denied here by the pattern '{}': call another operator, or run without it", op, pattern_);
  op.redispatchBoxed(keys, stack);
}

constinit const HandlerKind kDenyKind = {"deny(str pattern) -> ()",
                                         "Refuse the operators that match a name or a pattern such as 'aten::*_'",
                                         [](std::span<const IValue> arguments) -> std::unique_ptr<Handler> {
                                           return std::make_unique<Denier>(std::string(arguments[0].toStringView()));
                                         }};

}  // namespace boxcar
