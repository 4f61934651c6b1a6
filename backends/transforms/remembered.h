#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>

#include <memory>
#include <unordered_map>

namespace boxcar::transforms {

// Returns make(op), which is called once for each operator in a thread.
template <auto make>
const auto& remembered(const OperatorHandle& op) {
  // Behind a pointer: a library has little memory of this kind. A schema stays at its address.
  using Results = std::unordered_map<const FunctionSchema*, decltype(make(op))>;
  thread_local std::unique_ptr<Results> results;
  if (!results) results = std::make_unique<Results>();
  const FunctionSchema* const schema = &op.schema();
  const auto found = results->find(schema);
  return found != results->end() ? found->second : results->emplace(schema, make(op)).first->second;
}

}  // namespace boxcar::transforms
