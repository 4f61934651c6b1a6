#pragma once

#include <boxcar/dispatcher/handlers/handler.h>

#include <string>

#include "tests/backends/tensor_helpers.h"
#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {

// Returns the Error of a boxed call of [op] under [handler]; "no error" if there is none.
std::string errorUnder(Handler& handler, const OperatorHandle& op, const auto&... args) {
  const HandlerGuard guard(handler);
  return errorOf([&] { callOp(op, args...); });
}

}  // namespace boxcar
