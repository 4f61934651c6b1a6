#pragma once

#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/ivalue/macros.h>

#include <string>

namespace boxcar {

// Checks every call against what its operator's schema promises, and throws Error if the call breaks it:
// - the number of results and their types are those of the schema;
// - arguments that are not marked (a!) keep their bits and shapes;
// - `Tensor(a!)` results are the arguments of that set themselves, `Tensor(a)` results share memory with them, and all
//   others share none with arguments or with each other (Tag::maybe_aliasing_or_mutating exempts an operator);
// - the same inputs give the same bits again, except with Tag::nondeterministic_seeded, nondeterministic_bitwise and
// io. For the last promise the call is repeated on copies of its arguments, hidden from other handlers: once, twice if
// other handlers are on, and as part of each call around it. Not repeated are: calls that act outside of the program,
// by themselves or by an operator below (EffectWatch); and calls of scripts' operators, whose statements may affect
// more than their arguments, but the operators that these call are. A kernel with effects that returns a result must be
// tagged io. The copies make a call take several times as long.
class BOXCAR_API SchemaChecker final : public Handler {
 public:
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  ModeOptions modeOptions() const override { return {.sees_calls_below = true}; }
  std::string finish(bool) override { return {}; }
};

extern const HandlerKind kCheckSchemaKind;

}  // namespace boxcar
