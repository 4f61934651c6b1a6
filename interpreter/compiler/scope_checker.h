#pragma once

// What `with` opens.

#include <boxcar/interpreter/compiler/builtin_resolver.h>
#include <boxcar/interpreter/compiler/call_checker.h>
#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/syntax/ast.h>
#include <boxcar/ivalue/dispatch_key_set.h>

#include <optional>

namespace boxcar::interp {

// Infers modes, handlers, and the scopes that include or exclude keys.
class ScopeChecker {
 public:
  ScopeChecker(InferenceContext& context, BuiltinResolver& builtins, CallChecker& calls)
      : context_(context), builtins_(builtins), calls_(calls) {}

  // Returns the scope that [expr] opens; nothing if an error was reported.
  std::optional<typed::Scope> scope(const syntax::Expr& expr);

 private:
  // Returns the keys of `include(Tracer, Python)`; nothing if one of them is wrong.
  std::optional<DispatchKeySet> scopeKeys(const syntax::Call& call);

  InferenceContext& context_;
  BuiltinResolver& builtins_;
  CallChecker& calls_;
};

}  // namespace boxcar::interp
