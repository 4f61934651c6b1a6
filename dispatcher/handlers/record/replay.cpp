#include <boxcar/dispatcher/call/call_site.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/dispatcher/handlers/record/rebuilt_values.h>
#include <boxcar/dispatcher/handlers/record/recorded_text.h>
#include <boxcar/dispatcher/handlers/record/replay.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/default_generators.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace boxcar {
namespace {

constexpr size_t kMostFindingsOfAKind = 5;

const SideNames kSides = {"when recorded", "now"};

// Lets the replay draw from the default generators, and restores their states afterwards.
class GeneratorsGuard final {
 public:
  GeneratorsGuard() = default;
  ~GeneratorsGuard() {
    for (const DrawnFrom& stood : before_) goTo(stood);
  }
  GeneratorsGuard(const GeneratorsGuard&) = delete;
  GeneratorsGuard& operator=(const GeneratorsGuard&) = delete;

  void moveTo(const DrawnFrom& stood) {
    if (std::ranges::find(before_, stood.device, &DrawnFrom::device) == before_.end()) {
      before_.push_back(standOf(defaultGenerator(stood.device)));
    }
    goTo(stood);
  }

 private:
  std::vector<DrawnFrom> before_;
};

// Whether memory is missing that a full recording has of each tensor but fake ones.
bool lacksElements(const RecordedMoment& moment) {
  return std::ranges::any_of(moment.storages, [](const RecordedStorage& storage) {
    return storage.count != 0 && !storage.block && !storage.device.is_meta();
  });
}

class Replayer final {
 public:
  Replayer(const Recording& recording, const ReplayOptions& options) : recording_(recording), options_(options) {
    report_.path = recording.path();
    report_.calls = recording.calls().size();
  }

  ReplayReport run() {
    for (size_t i = 0; i < recording_.calls().size(); ++i) {
      replayCall(i);
      if (options_.calls_made != nullptr) *options_.calls_made = i + 1;
    }
    return std::move(report_);
  }

 private:
  // Counts call [index] and keeps the finding about it, unless there are enough of that kind.
  void find(size_t ReplayReport::*kind, size_t index, std::string_view verdict, std::string_view what) {
    if (++(report_.*kind) > kMostFindingsOfAKind) return;
    report_.findings.push_back(fmt::format("call {} {}: {}\n  {}", index, verdict, lineOf(recording_, index), what));
  }

  void replayCall(size_t index) {
    const RecordedCall& call = recording_.calls()[index];
    const RecordedOperator& recorded = recording_.operatorOf(call);
    const auto op = Dispatcher::singleton().findSchema(recorded.schema.operator_name());
    if (!op || op->schema() != recorded.schema) return noteMissing(recorded, op);
    if (recorded.is_io) {
      ++report_.outside;
    } else if (findOpaque(call.arguments)) {
      ++report_.opaque;
    } else if (lacksElements(call.before) || lacksElements(call.after)) {
      ++report_.fake;
    } else {
      replayCall(index, call, *op);
    }
  }

  // Adds one finding per operator.
  void noteMissing(const RecordedOperator& recorded, const std::optional<OperatorHandle>& op) {
    ++report_.missing;
    if (!missing_.insert(&recorded).second || missing_.size() > kMostFindingsOfAKind) return;
    const std::string remedy =
        recorded.plugin.empty() ? "load the program or plugin that has it"
                                : fmt::format("load the plugin '{}', which brought it, with --plugin", recorded.plugin);
    report_.findings.push_back(op ? fmt::format("{} has another schema now: {}\n  when recorded: {}",
                                                recorded.schema.operator_name(), op->schema(), recorded.schema)
                                  : fmt::format("{} is not registered: {}", recorded.schema.operator_name(), remedy));
  }

  // A recording from one device may be replayed on another, where the first one does not exist.
  bool isThere(Device device) const {
    return device.is_cpu() || !options_.device || options_.device->type() == device.type();
  }

  void replayCall(size_t index, const RecordedCall& call, const OperatorHandle& op) {
    RebuiltValues arguments;
    Stack stack;
    std::optional<std::string> failure;
    try {
      arguments = rebuild(recording_, call.before, call.arguments, options_.device);
      for (IValue& value : arguments.values) push(stack, std::move(value));
      if (call.generator && isThere(call.generator->device)) generators_.moveTo(*call.generator);
      // Error messages may depend on the call site.
      const CallSiteGuard from_script(call.site);
      // The calls of backward passes were recorded, too.
      const NoGradGuard no_grad;
      op.callBoxed(stack);
    } catch (const Error& error) {
      failure = error.message();
    }
    if (failure && call.failure) {
      if (firstLine(*failure) == firstLine(*call.failure)) {
        ++report_.equal;
      } else {
        find(&ReplayReport::differing, index, "fails with another message",
             fmt::format("{} {}\n  {} {}", firstLine(*call.failure), kSides.expected, firstLine(*failure),
                         kSides.found));
      }
    } else if (failure) {
      find(&ReplayReport::failing, index, "fails now", firstLine(*failure));
    } else if (call.failure) {
      find(&ReplayReport::differing, index, "does not fail now", "when recorded: " + firstLine(*call.failure));
    } else if (const auto difference = compare(call, stack, arguments.tensors)) {
      find(&ReplayReport::differing, index, "differs", *difference);
    } else {
      ++report_.equal;
    }
  }

  // Compares the results on [stack], and the [tensors] of the arguments after the call.
  std::optional<std::string> compare(const RecordedCall& call, const Stack& stack,
                                     const std::vector<Tensor>& tensors) const {
    const RecordedOperator& op = recording_.operatorOf(call);
    Tolerance tolerance = options_.tolerance;
    tolerance.compares_elements = !op.is_uninitialised;
    if (stack.size() != call.results.size())
      return fmt::format("{} results {}, {} {}", call.results.size(), kSides.expected, stack.size(), kSides.found);
    std::vector<RecordedValue> results = call.results;
    std::erase_if(results, [](const RecordedValue& result) { return findOpaque({&result, 1}).has_value(); });
    const RebuiltValues expected = rebuild(recording_, call.after, results, Device(DeviceType::CPU));
    for (size_t i = 0, known = 0; i < call.results.size(); ++i) {
      if (findOpaque({&call.results[i], 1})) continue;
      if (auto difference = differenceOf(expected.values[known++], stack[i], tolerance, kSides))
        return fmt::format("{}: {}", nameOfResult(op.schema, i), *difference);
    }
    for (const uint32_t i : writtenTensors(call, op.schema)) {
      if (auto difference = differenceOf(expected.tensors[i], tensors[i], tolerance, kSides))
        return fmt::format("{}: {}", nameOfWritten(call, op.schema, i), *difference);
    }
    return std::nullopt;
  }

  const Recording& recording_;
  const ReplayOptions& options_;
  ReplayReport report_;
  GeneratorsGuard generators_;
  std::set<const RecordedOperator*> missing_;
};

}  // namespace

ReplayReport replay(const Recording& recording, const ReplayOptions& options) {
  BOXCAR_CHECK(recording.content() == RecordedContent::Full,
               "the recording '{}' keeps {} of tensors, so that its calls can be {}, but there is nothing to compare a "
               "replay with; record the run in full",
               recording.path(), recording.content() == RecordedContent::Shapes ? "the shapes" : "hashes",
               recording.content() == RecordedContent::Shapes ? "measured" : "compared with another recording's");
  ReplayReport report = Replayer(recording, options).run();
  report.is_on_meta = options.device && options.device->type() == DeviceType::Meta;
  return report;
}

std::string toString(const ReplayReport& report) {
  std::string text = fmt::format("{}: {}, {} equal{}", report.path, callsText(report.calls), report.equal,
                                 report.is_on_meta ? " in dtype and shape" : "");
  const auto count = [&](size_t calls, std::string_view what) {
    if (calls != 0) text += fmt::format(", {} {}", calls, what);
  };
  count(report.differing, report.differing == 1 ? "differs" : "differ");
  count(report.failing, report.failing == 1 ? "fails" : "fail");
  count(report.missing, "of operators that are missing");
  count(report.outside, "not repeated because of effects outside of the program");
  count(report.opaque, "not repeated because an argument could not be recorded");
  count(report.fake, "not repeated because fake tensors have no elements");
  text += '\n';
  for (const std::string& finding : report.findings) text += finding + '\n';
  return text;
}

}  // namespace boxcar
