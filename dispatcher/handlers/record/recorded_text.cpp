#include <boxcar/dispatcher/handlers/record/recorded_text.h>
#include <fmt/format.h>

namespace boxcar {
namespace {

bool holds(const RecordedValue& value, uint32_t tensor) {
  if (value.kind == RecordedValue::Kind::Tensor) return value.index == tensor;
  for (const RecordedValue& element : value.elements) {
    if (holds(element, tensor)) return true;
  }
  return false;
}

// Returns the index of the value in [values] that contains the tensor.
std::optional<size_t> findHolder(const std::vector<RecordedValue>& values, uint32_t tensor) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (holds(values[i], tensor)) return i;
  }
  return std::nullopt;
}

// Checks the index, because a recording may be damaged in ways that only show here.
const Argument* argumentAt(const FunctionSchema& schema, size_t index) {
  return index < schema.arguments().size() ? &schema.arguments()[index] : nullptr;
}

bool isWritten(const RecordedCall& call, const FunctionSchema& schema, uint32_t tensor) {
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument* argument = argumentAt(schema, i);
    if (argument != nullptr && argument->is_write() && holds(call.arguments[i], tensor)) return true;
  }
  const RecordedTensor& before = call.before.tensors[tensor];
  const RecordedTensor& after = call.after.tensors[tensor];
  return !(before == after) || !(call.before.storages[before.storage] == call.after.storages[after.storage]);
}

}  // namespace

std::string lineOf(const Recording& recording, size_t call) {
  const RecordedCall& recorded = recording.calls()[call];
  std::string line = toString(recording.operatorOf(recorded).schema.operator_name());
  if (recorded.site) line += fmt::format(" at {}: {}", *recorded.site, recorded.site->text);
  return line;
}

std::string callsText(size_t count) { return fmt::format("{} call{}", count, count == 1 ? "" : "s"); }

std::string nameOfResult(const FunctionSchema& schema, size_t index) {
  if (index < schema.returns().size() && !schema.returns()[index].name().empty())
    return fmt::format("result `{}`", schema.returns()[index].name());
  return schema.returns().size() == 1 ? "result" : fmt::format("result {}", index);
}

std::vector<uint32_t> writtenTensors(const RecordedCall& call, const FunctionSchema& schema) {
  std::vector<uint32_t> written;
  for (uint32_t i = 0; i < call.before.tensors.size(); ++i) {
    if (!findHolder(call.results, i) && isWritten(call, schema, i)) written.push_back(i);
  }
  return written;
}

std::string nameOfWritten(const RecordedCall& call, const FunctionSchema& schema, uint32_t tensor) {
  const auto holder = findHolder(call.arguments, tensor);
  const Argument* argument = holder ? argumentAt(schema, *holder) : nullptr;
  return argument == nullptr ? fmt::format("tensor {} after the call", tensor)
                             : fmt::format("`{}` after the call", argument->name());
}

std::string firstLine(const std::string& message) { return message.substr(0, message.find('\n')); }

}  // namespace boxcar
