#pragma once

#include <boxcar/dispatcher/handlers/cost/cost_counter.h>

#include <string>

namespace boxcar {

// Returns the cost of [body] in the operator called [name].
OperatorWork workOf(const std::string& name, auto&& body) {
  CostCounter counter;
  {
    const HandlerGuard on(counter);
    body();
  }
  for (const OperatorWork& work : counter.work()) {
    if (work.name == name) return work;
  }
  return {};
}

}  // namespace boxcar
