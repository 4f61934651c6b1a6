#include <boxcar/dispatcher/boxing/counted_boxed_writes.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/schema/function_schema.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace boxcar::detail {

KernelFunction countingWrites(KernelFunction kernel) {
  return KernelFunction::makeFromBoxedFunctor(
      [kernel = std::move(kernel)](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
        const std::vector<Argument>& arguments = op.schema().arguments();
        std::vector<std::pair<Tensor, uint32_t>> written;  // the call takes its arguments from the stack
        for (size_t i = 0; i < arguments.size(); ++i) {
          if (!arguments[i].is_write()) continue;
          visitTensors(peek(stack, i, arguments.size()),
                       [&](const Tensor& tensor) { written.emplace_back(tensor, tensor.version()); });
        }
        kernel.callBoxed(op, keys, &stack);
        for (const auto& [tensor, before] : written) {
          if (tensor.version() == before) tensor.storage()->bumpVersion();
        }
      });
}

}  // namespace boxcar::detail
