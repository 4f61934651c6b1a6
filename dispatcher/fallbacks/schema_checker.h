#pragma once

#include <boxcar/dispatcher/fallbacks/handler.h>
#include <boxcar/dispatcher/fallbacks/handler_kinds.h>
#include <boxcar/ivalue/macros.h>

#include <string>

namespace boxcar {

// Holds every call to what its operator's schema promises, and throws an Error where it breaks it:
// - there are as many results as it says, of its types;
// - arguments that are not marked (a!) have the bits and the shapes that they had;
// - `Tensor(a!)` results are the arguments of that set themselves, `Tensor(a)` ones share memory with them, and all
//   others share none with arguments nor with each other (Tag::maybe_aliasing_or_mutating lets an operator off);
// - the same inputs give the same bits again, but for Tag::nondeterministic_seeded, nondeterministic_bitwise and io.
// For the last the call is made again on copies of its arguments, hidden from other handlers: once, twice where other
// handlers are on, and as part of each call around it. Calls that act outside of the program, or by an operator below,
// are not made again (EffectWatch), nor are those of scripts' operators, whose statements may act on more than their
// arguments; the operators that these call are. A kernel with effects that gives a result must be tagged io. Copies
// cost a call several times its own time.
class BOXCAR_API SchemaChecker final : public Handler {
 public:
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  ModeOptions modeOptions() const override { return {.sees_calls_below = true}; }
  std::string finish(bool) override { return {}; }
};

extern const HandlerKind kCheckSchemaKind;

}  // namespace boxcar
