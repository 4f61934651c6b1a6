#pragma once

#include <boxcar/backends/transforms/batched_call.h>

#include <string>
#include <vector>

// How calls on batched tensors are made: by the rules that backends/ops/aten.batching names, and otherwise by what an
// operator is.

namespace boxcar::transforms {

struct BatchingPlan {
  enum class Kind : uint8_t {
    kRule,
    kDecompose,  // the operator is made of others, which are called on the batched tensors
    kLoop,       // it is called for each slice
    kRefuse,     // it is an Error
  };

  Kind kind = Kind::kLoop;
  BatchingRule rule = nullptr;
  std::string family;
  std::vector<std::string> words;
  std::string reason;        // why it is refused
  bool writes_self = false;  // it returns its first argument, which it writes
  // It is pointwise, writes nothing, and returns one tensor.
  bool is_of_elements = false;
  // Its rule takes sizes apart by the number of slices, of which there must be some.
  bool needs_slices = false;
};

// Returns that of a defined operator. What is returned lives as long as the thread.
const BatchingPlan& batchingPlan(const OperatorHandle& op);

// Whether a derivative of the operator's own was registered, which its decomposition does not have: it is not
// decomposed.
bool hasOwnGradient(const OperatorHandle& op);

// Says so as a clause: "by the rule 'pointwise'", "by its decomposition", "by a loop over the slices".
BOXCAR_API std::string describeBatching(const OperatorHandle& op);

// The names in aten.batching.
std::vector<std::string> operatorsOfTable();

}  // namespace boxcar::transforms
