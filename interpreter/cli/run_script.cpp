#include <boxcar/backends/cuda/available.h>
#include <boxcar/dispatcher/call/dispatch_trace.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/handler_options.h>
#include <boxcar/interpreter/cli/memory_limit.h>
#include <boxcar/interpreter/cli/number_range.h>
#include <boxcar/interpreter/cli/report.h>
#include <boxcar/interpreter/cli/run_script.h>
#include <boxcar/interpreter/runtime/interrupt.h>
#include <boxcar/interpreter/session/prepared_program.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/output_file.h>
#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace boxcar::cli {
namespace {

// The first Ctrl-C ends the script, the next one the program.
void interruptOnCtrlC() {
  struct sigaction action {};
  action.sa_handler = [](int) { interruptScripts(); };
  action.sa_flags = SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

// Also works for files that do not exist yet.
bool isSameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  if (std::filesystem::equivalent(a, b, error)) return true;
  const std::filesystem::path place = std::filesystem::weakly_canonical(std::filesystem::absolute(a, error), error);
  return place == std::filesystem::weakly_canonical(std::filesystem::absolute(b, error), error);
}

// Returns what is wrong with the sandbox's folders; "" if nothing is.
std::string faultOfFolders(const SandboxFolders& folders) {
  try {
    static_cast<void>(FileAccess::sandboxed("/", folders));
    return {};
  } catch (const Error& error) {
    return error.message();
  }
}

void checkOutputs(const std::string& script, const std::vector<OutputName>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto& [option, path] = outputs[i];
    if (path.empty()) continue;
    if (script != "-" && isSameFile(path, script))
      throw CLI::ValidationError(option, fmt::format("'{}' is the script itself: name another file", path));
    for (size_t other = 0; other < i; ++other) {
      if (!outputs[other].path.empty() && isSameFile(path, outputs[other].path)) {
        throw CLI::ValidationError(
            option, fmt::format("{} writes '{}' already: name another file", outputs[other].option, path));
      }
    }
  }
}

// Compiles the script and runs it under [handlers], the first of which is outermost. Afterwards only [fallbacks] is
// left of the run: what the CPU did for other devices may be needed until the handlers are finished.
void runUnder(const std::vector<Handler*>& handlers, const RunOptions& options,
              std::optional<CpuFallbacks>& fallbacks) {
  applyThreads(*options.machine);
  // The script itself may always be read, wherever its path leads.
  std::string text = options.text.has_value() ? *options.text : interp::readFile(options.file);
  if (options.file != "-") protectFile(options.file);
  std::optional<FileAccessGuard> guard;
  if (options.sandbox) {
    const std::filesystem::path folder = options.file == "-" ? "" : std::filesystem::path(options.file).parent_path();
    guard.emplace(FileAccess::sandboxed(folder, options.folders));
  }
  interp::setPreparesImports(options.prepares_imports);
  const std::string name = options.text.has_value() ? "<call>" : interp::nameOfFile(options.file);
  Program program = options.read(std::move(text), name);
  reportDiagnostics(program.warnings());
  program.setLimits(options.limits);
  interruptOnCtrlC();
  if (!options.max_memory.empty()) limitMemory(options.max_memory);
  // This comes after loading, because it needs the script's operators and plugins.
  fallbacks.emplace(*options.machine);
  checkPatterns(options.handlers);
  // Tracing starts here, because what loading computes ahead is not part of the script's run.
  if (options.dispatch_trace) setDispatchTraceEnabled(true);
  std::vector<std::unique_ptr<HandlerGuard>> guards;
  for (Handler* handler : handlers) guards.push_back(std::make_unique<HandlerGuard>(*handler));
  const auto leave = [&guards] {
    while (!guards.empty()) guards.pop_back();
  };
  try {
    const Progress progress(options.command.c_str(), options.count());
    program.run(options.args);
    options.then(program);
    cuda::finishWork();
  } catch (...) {
    leave();
    throw;
  }
  leave();
}

}  // namespace

void addRunOptions(CLI::App& command, const std::shared_ptr<RunOptions>& options) {
  command.add_option("FILE", options->file, "The script, an .ops file, or - for standard input")->type_name("");
  command.add_option("ARGS", options->args, "The script's `argv`; put options after --")->type_name("");
  addOptionsOfRuns(command, options);
}

void addOptionsOfRuns(CLI::App& command, const std::shared_ptr<RunOptions>& options) {
  command.add_flag("--dispatch-trace", options->dispatch_trace,
                   "Write a line to stderr for every operator call and redispatch");

  command.add_flag("!--no-prepare", options->prepares_imports,
                   "Run imported models as they were exported, operator by operator");
  CLI::Option* sandbox = command.add_flag(
      "--sandbox", options->sandbox, "Let the script read files in its folder and below, and access no other files");
  const auto add_folders = [&](const char* name, std::vector<std::string> SandboxFolders::*names, const char* help) {
    const auto fault = [names](const std::string& folder) {
      SandboxFolders one;
      (one.*names).push_back(folder);
      return faultOfFolders(one);
    };
    command.add_option(name, options->folders.*names, help)
        ->type_name("DIR")
        ->allow_extra_args(false)
        ->needs(sandbox)
        ->check(CLI::Validator(fault, ""));
  };
  add_folders("--allow-read", &SandboxFolders::readable,
              "In the sandbox: another folder that the script may read; can be repeated");
  add_folders("--allow-write", &SandboxFolders::writable,
              "In the sandbox: a folder that the script may write, but not read; can be repeated");

  command.add_option("--max-instructions", options->limits.max_instructions, "End the run after N instructions")
      ->type_name("N")
      ->check(numbersFrom(uint64_t{1}, uint64_t{1} << 62));
  command.add_option("--max-seconds", options->limits.max_seconds, "End the run after N seconds, such as 60 or 0.5")
      ->type_name("N")
      ->check(numbersFrom(0.001, 1e9));
  command.add_option("--max-depth", options->limits.max_depth, "The maximum depth of nested calls (10000)")
      ->type_name("N")
      ->check(numbersFrom(1U, 100'000'000U));
  command.add_option("--max-memory", options->max_memory, "The maximum memory of the run: bytes, or 512M, 2G")
      ->type_name("SIZE")
      ->check(CLI::Validator(faultOfBytes, ""));
  addMachineOptions(command, options->machine);
  addHandlerOptions(command);
}

void readRunOptions(const CLI::App& command, const std::vector<std::string>& rest, RunOptions& options,
                    std::vector<OutputName> outputs) {
  takeRest(rest, options.file, options.args);
  options.command = command.get_name();
  options.handlers = readHandlerOptions(command);
  for (OutputName& output : handlerOutputs(options.handlers)) outputs.push_back(std::move(output));
  checkOutputs(options.file, outputs);
}

void runScript(const RunOptions& options, Handler* innermost, const std::function<void(bool failed)>& afterwards) {
  const std::vector<std::unique_ptr<Handler>> asked = makeHandlers(options.handlers);
  std::vector<Handler*> handlers;
  for (const auto& handler : asked) handlers.push_back(handler.get());
  if (innermost != nullptr) handlers.push_back(innermost);
  // The first failure is the run's result; others are only reported.
  std::exception_ptr failure;
  const auto attempt = [&failure](const auto& action) {
    try {
      action();
    } catch (const CLI::ParseError&) {
      throw;  // nothing has run that handlers could report
    } catch (const std::exception& error) {
      if (failure) {
        reportFailure(error.what());
      } else {
        failure = std::current_exception();
      }
    }
  };
  std::optional<CpuFallbacks> fallbacks;
  attempt([&] { runUnder(handlers, options, fallbacks); });
  const bool failed = failure != nullptr;
  for (size_t i = handlers.size(); i-- > 0;) attempt([&] { printError(handlers[i]->finish(failed)); });
  if (fallbacks.has_value()) attempt([&] { printError(fallbacks->report()); });
  if (afterwards) attempt([&] { afterwards(failed); });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace boxcar::cli
