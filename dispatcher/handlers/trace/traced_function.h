#pragma once

#include <boxcar/dispatcher/call/script_view.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/schema/function_schema.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace boxcar {

// One call of a function as the operator calls that it made, for those who write it in another form than a script.
// Tensors are identified by their TensorImpl; all of them are held.
struct TracedFunction {
  struct Call {
    OperatorHandle op;
    // A value for each argument of the schema. A number that stands for a tensor is the number; generators are None.
    std::vector<IValue> arguments;
    std::vector<IValue> results;
    CallFrame place;  // the innermost line of the script
  };

  // A tensor that the function neither took nor made by an operator.
  struct Weight {
    Tensor tensor;
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
    int64_t offset = 0;  // in elements, like the strides
    std::string key;     // "fc1.weight"; "" if it has no name in the script
    // The elements of its whole storage before the call, on the CPU; undefined if a weight before it has the storage,
    // and on the meta device.
    Tensor elements;
  };

  FunctionSchema schema;
  std::vector<IValue> arguments;
  std::vector<IValue> results;
  std::vector<Call> calls;
  std::vector<Weight> weights;
  // The calls before which something that is no operator wrote to a tensor.
  std::vector<size_t> rewritten_before;
};

}  // namespace boxcar
