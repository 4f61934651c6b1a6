#include <boxcar/dispatcher/handlers/call_results.h>
#include <boxcar/dispatcher/handlers/record/call_capture.h>
#include <boxcar/dispatcher/handlers/record/recorded_text.h>
#include <boxcar/dispatcher/handlers/record/recorder.h>
#include <boxcar/dispatcher/handlers/script_kernel.h>
#include <boxcar/dispatcher/plugin/plugin.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/error.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <filesystem>
#include <system_error>

namespace boxcar {
namespace {

// Returns what is wrong with the two flags; empty if nothing is.
std::string faultOf(bool shapes, bool hashes) {
  return shapes && hashes ? "a recording keeps shapes or hashes, not both: ask for hashes, which have the shapes" : "";
}

uint32_t threadNumber() {
  static std::atomic<uint32_t> threads = 0;
  thread_local const uint32_t number = threads.fetch_add(1);
  return number;
}

// Returns the plugin that defines [op]: the one whose file contains the string literal that names the place of the
// definition.
std::string pluginOf(const OperatorHandle& op) {
  Dl_info library{};
  if (::dladdr(op.entry().schemaSite().file, &library) == 0 || library.dli_fname == nullptr) return {};
  std::error_code error;
  const std::string path = std::filesystem::canonical(library.dli_fname, error).string();
  for (const PluginInfo& plugin : Dispatcher::singleton().plugins()) {
    if (plugin.path == path) return plugin.name;
  }
  return {};
}

RecordedOperator describe(const OperatorHandle& op) {
  return {op.schema(), pluginOf(op), op.hasTag(Tag::io), op.hasTag(Tag::nondeterministic_seeded),
          op.hasTag(Tag::nondeterministic_bitwise)};
}

std::string messageOf(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something that is no exception";
  }
}

}  // namespace

Recorder::Recorder(std::string_view path, RecordedContent content)
    : path_(path), content_(content), writer_(std::make_unique<RecordingWriter>(path, content)) {}

Recorder::~Recorder() = default;

void Recorder::call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const FunctionSchema& schema = op.schema();
  // Only the kernel of a vararg operator knows which values are its arguments.
  if (runsScriptKernel(op, keys) || schema.is_vararg() || op.hasTag(Tag::differentiation)) {
    const ModeSeesCallsBelow calls_in_it;
    op.redispatchBoxed(keys, stack);
    return;
  }
  RecordedCall call;
  call.op = writer_->operatorOf(schema, [&] { return describe(op); });
  call.thread = threadNumber();
  call.site = currentCallSite();
  if (op.hasTag(Tag::nondeterministic_seeded)) {
    call.generator = standOf(usualGeneratorOf(last(stack, schema.arguments().size())));
  }
  CallCapture capture(*writer_, content_, call);
  capture.takeArguments(last(stack, schema.arguments().size()), schema);
  const size_t below = stack.size() - schema.arguments().size();
  try {
    op.redispatchBoxed(keys, stack);
  } catch (...) {
    call.failure = messageOf(std::current_exception());
    call.after = call.before;
    try {
      writer_->call(call);
    } catch (const Error&) {
      // The caller must get what the call threw; finish() reports the file error.
    }
    throw;
  }
  capture.takeResults(resultsAbove(stack, below));
  writer_->call(call);
}

std::string Recorder::finish(bool failed) {
  // A script that fails before its first call must not replace an existing recording.
  if (failed && writer_->calls() == 0) return fmt::format("no call was made, so that {} is not written\n", path_);
  const size_t calls = writer_->finish(failed);
  return fmt::format("{} {} recorded in {}\n", callsText(calls), calls == 1 ? "is" : "are", path_);
}

RecordedContent recordedContent(bool shapes, bool hashes) {
  const std::string fault = faultOf(shapes, hashes);
  BOXCAR_CHECK(fault.empty(), "{}", fault);
  return shapes ? RecordedContent::Shapes : hashes ? RecordedContent::Hashes : RecordedContent::Full;
}

constinit const HandlerKind kRecordKind = {
    "record(str path, *, bool shapes=False, bool hashes=False) -> ()",
    "Write every call with its arguments and results to a file, for replay and diff",
    [](std::span<const IValue> arguments) -> std::unique_ptr<Handler> {
      return std::make_unique<Recorder>(arguments[0].toStringView(),
                                        recordedContent(arguments[1].toBool(), arguments[2].toBool()));
    },
    [](std::span<const IValue> arguments) { return faultOf(arguments[1].toBool(), arguments[2].toBool()); }};

}  // namespace boxcar
