#include <boxcar/dispatcher/handlers/record/recording.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/cli/bench/recorded.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace boxcar::cli {
namespace {

std::optional<BenchCall> rebuild(const Recording& recording, const RecordedCall& recorded) {
  const RecordedOperator& op = recording.operatorOf(recorded);
  const auto handle = Dispatcher::singleton().findSchema(op.schema.operator_name());
  if (!handle.has_value() || op.is_io || op.schema.is_vararg() || recorded.failure.has_value()) return std::nullopt;
  BenchCall call{*handle, {}, {}};
  try {
    call.arguments = recording.rebuildArguments(recorded);
    Stack stack(call.arguments);
    handle->callBoxed(stack);
    // The call may have modified its arguments.
    call.arguments = recording.rebuildArguments(recorded);
  } catch (const Error&) {
    return std::nullopt;
  }
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const std::optional<IValue>& usual = handle->schema().arguments()[i].default_value();
    call.is_written.push_back(!usual.has_value() || !(*usual == call.arguments[i]));
  }
  return call;
}

}  // namespace

std::vector<BenchCall> recordedCalls(const std::string& path, std::span<const std::string> operators) {
  const Recording recording = Recording::open(path);
  std::vector<OperatorHandle> wanted;
  for (const std::string& name : operators) wanted.push_back(findOperatorToCall(name));
  std::vector<BenchCall> calls;
  const auto isThere = [&calls](const OperatorName& name) {
    return std::ranges::any_of(calls, [&](const BenchCall& call) { return call.op.operator_name() == name; });
  };
  for (const RecordedCall& recorded : recording.calls()) {
    const OperatorName& name = recording.operatorOf(recorded).schema.operator_name();
    const bool is_wanted =
        wanted.empty() || std::ranges::any_of(wanted, [&](const auto& op) { return op.operator_name() == name; });
    if (!is_wanted || isThere(name)) continue;
    if (auto call = rebuild(recording, recorded)) calls.push_back(*std::move(call));
  }
  for (const OperatorHandle& op : wanted) {
    BOXCAR_CHECK(isThere(op.operator_name()),
                 "'{}' has no call of {} that can be made again; leave it out, or record a run that makes one", path,
                 op);
  }
  BOXCAR_CHECK(!calls.empty(), "'{}' has no call that can be made again; record another run", path);
  return calls;
}

}  // namespace boxcar::cli
