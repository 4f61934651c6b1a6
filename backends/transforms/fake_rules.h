#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/dispatcher/values/aliasing.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/ivalue.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

// What calls on fake tensors ask about an operator.

namespace boxcar::transforms {

// Whether the operator takes fake tensors as they are: those that call functions, and those of autograd.
bool passesFakes(const OperatorHandle& op);

// Whether the results, or their sizes, depend on elements of the tensors.
bool needsElements(const OperatorHandle& op, std::span<const IValue> arguments);

// Whether the operator's kernel, which is made of others, may also write memory itself, and so must not see fake
// tensors.
bool writesMemoryItself(const OperatorHandle& op);

// Returns the device that the call names; nothing if it names none.
std::optional<Device> deviceArgument(const FunctionSchema& schema, std::span<const IValue> arguments);

// Returns the device of the results, by PyTorch's rules: the one that is named, or that of the tensors, among which
// those of a CPU without dimensions may mix. Throws Error if there are two.
Device deviceOfResults(const OperatorHandle& op, std::span<const IValue> arguments,
                       const std::vector<PlacedTensor>& tensors);

// Throws the NoElementsError of a call that needs elements; [name]: the operator's, for the message.
[[noreturn]] void failWithoutElements(const OperatorHandle& op, const std::string& name,
                                      const std::vector<PlacedTensor>& tensors);

}  // namespace boxcar::transforms
