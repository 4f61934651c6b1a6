#include <boxcar/dispatcher/call/dispatch_trace.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/handler_options.h>
#include <boxcar/interpreter/cli/memory_limit.h>
#include <boxcar/interpreter/cli/repl/commands.h>
#include <boxcar/interpreter/cli/repl/completion.h>
#include <boxcar/interpreter/cli/repl/line_editor.h>
#include <boxcar/interpreter/cli/report.h>
#include <boxcar/interpreter/cli/run_script.h>
#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/interpreter/session/session.h>
#include <boxcar/interpreter/syntax/unfinished_input.h>
#include <boxcar/version.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cli {
namespace {

// While it lives, Ctrl-C asks the running input to end.
class Interruptible final {
 public:
  Interruptible() { beginInterruptible(); }
  ~Interruptible() { endInterruptible(); }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
};

bool isBlank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

bool continuesIf(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  for (const std::string_view word : {"elif", "else"}) {
    if (line.starts_with(word) && (line.size() == word.size() || line[word.size()] == ' ' || line[word.size()] == '{'))
      return true;
  }
  return false;
}

class Conversation final {
 public:
  Conversation(Session& session, LineEditor& editor, bool on_terminal)
      : editor_(editor), prompt_{session, editor.edits()}, on_terminal_(on_terminal) {}

  // Returns the exit status.
  int run() {
    editor_.setCompletion([this](std::string_view line, size_t at, size_t& begin) {
      return completionsAtPrompt(prompt_.session, input_, line, at, begin);
    });
    while (!prompt_.is_done) {
      switch (next()) {
        case LineEditor::Outcome::Interrupted:
          if (on_terminal_) continue;
          return kInterrupted;
        case LineEditor::Outcome::End: return kDone;
        case LineEditor::Outcome::Line: break;
      }
      if (isBlank(input_)) continue;
      editor_.remember(input_);
      const int status = answer(input_);
      if (status == kDone) continue;
      if (!on_terminal_) return status;  // nobody is there to correct it
      ahead_.reset();
    }
    return kDone;
  }

 private:
  // Reads the next input: lines up to one that leaves nothing open. Lines that come as one block, pasted or recalled,
  // are one input, up to the first prompt command among them.
  LineEditor::Outcome next() {
    input_.clear();
    UnfinishedInput unfinished;
    std::string block;
    for (;;) {
      const bool is_first = input_.empty();
      const auto outcome = take(is_first ? "> " : ". ", block);
      // Unfinished input at the end is reported as an error.
      if (outcome == LineEditor::Outcome::End && !is_first && !on_terminal_) return LineEditor::Outcome::Line;
      if (outcome != LineEditor::Outcome::Line) return outcome;
      if (isUnfinishedWith(unfinished, block)) continue;
      if (on_terminal_ || isPromptCommand(input_)) return outcome;
      // A piped script may continue with `else` in the next line. No other input waits for another line: whoever writes
      // into the pipe may want the answer first.
      if (!Session::isUnfinished(input_ + "else {")) return outcome;
      std::string following;
      if (take("", following) != LineEditor::Outcome::Line) return outcome;
      ahead_ = following;
      if (!continuesIf(following)) return outcome;
    }
  }

  // Adds the lines of [block] to the input. A line that begins a command, and what follows a command, waits for the
  // next input. Returns whether the input is unfinished.
  bool isUnfinishedWith(UnfinishedInput& unfinished, std::string_view block) {
    bool is_unfinished = !input_.empty();
    while (true) {
      const size_t end = block.find('\n');
      const std::string line(block.substr(0, end));
      const bool is_command = !is_unfinished && isPromptCommand(line);
      if (is_command && !isBlank(input_)) {
        ahead_ = block;
        return false;
      }
      if (is_command) {
        input_ = line;
        if (end != std::string_view::npos) ahead_ = block.substr(end + 1);
        return false;
      }
      input_ += line + "\n";
      is_unfinished = unfinished.add(line + "\n");
      if (end == std::string_view::npos) return is_unfinished;
      block.remove_prefix(end + 1);
    }
  }

  LineEditor::Outcome take(const std::string& prompt, std::string& block) {
    if (!ahead_) return editor_.read(prompt, block);
    block = *std::exchange(ahead_, std::nullopt);
    return LineEditor::Outcome::Line;
  }

  int answer(const std::string& input) {
    try {
      const Interruptible running;
      if (isPromptCommand(input)) {
        runPromptCommand(prompt_, input);
      } else {
        const Session::Result result = prompt_.session.evaluate(input);
        reportDiagnostics(result.warnings);
        if (result.value && !result.value->isNone()) print(shownResult(result) + "\n");
      }
      std::fflush(stdout);
      return kDone;
    } catch (const CompileError& error) {
      const std::string command = commandMeantBy(prompt_.session, input);
      if (command.empty()) {
        reportError(error);
      } else {
        std::vector<Diagnostic> diagnostics = error.diagnostics();
        diagnostics.back().notes.push_back({command, {}});
        reportDiagnostics(diagnostics);
      }
    } catch (const ScriptError& error) {
      reportError(error);
      reportMemoryLimit(error.reason());
      if (error.cause() == ScriptErrorCause::Interrupt) return kInterrupted;
    } catch (const Error& error) {
      reportSentence(error.message());
      reportMemoryLimit(error.message());
    } catch (const std::bad_alloc&) {
      reportSentence("out of memory");
      reportMemoryLimit("out of memory");
    } catch (const std::exception& error) {
      reportSentence(error.what());
    }
    return kFailed;
  }

  LineEditor& editor_;
  Prompt prompt_;
  const bool on_terminal_;
  std::string input_;                 // the lines so far, without the one being typed
  std::optional<std::string> ahead_;  // what was read after the input
};

int converse(const RunOptions& options) {
  applyThreads(*options.machine);
  std::optional<FileAccessGuard> guard;
  // This comes before the sandbox, which applies only to inputs.
  const bool on_terminal = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  const std::unique_ptr<LineEditor> editor = makeLineEditor(on_terminal, on_terminal ? historyFile() : std::string());
  auto handlers = makeHandlers(options.handlers);  // nor does the sandbox restrict the command line
  if (options.sandbox) guard.emplace(FileAccess::sandboxed("", options.folders));
  if (!options.max_memory.empty()) limitMemory(options.max_memory);
  const CpuFallbacks fallbacks(*options.machine);
  if (options.dispatch_trace) setDispatchTraceEnabled(true);
  Session session(options.args);
  session.setLimits(options.limits);
  for (size_t i = 0; i < handlers.size(); ++i)
    session.switchOn(std::move(handlers[i]), std::string(options.handlers[i].kind->name()));
  catchCtrlC();
  if (on_terminal) print("boxcar " BOXCAR_VERSION "; :help lists the commands\n");
  int status = Conversation(session, *editor, on_terminal).run();
  while (!session.switchedOn().empty()) {
    try {
      printError(session.switchOff(status != kDone));
    } catch (const std::exception& error) {
      reportSentence(error.what());
      if (status == kDone) status = kFailed;
    }
  }
  printError(fallbacks.report());
  return status;
}

}  // namespace

void addRepl(CLI::App& app, const std::vector<std::string>& rest, int& status) {
  CLI::App* command = app.add_subcommand("repl", "Run input line by line and show results; also `boxcar` alone");
  const auto options = std::make_shared<RunOptions>();
  command->add_option("ARGS", options->args, "The inputs' `argv`; put options after --")->type_name("");
  addOptionsOfRuns(*command, options);
  addExamples(*command, {"boxcar repl", "boxcar repl --check-nan", "echo '1 + 2' | boxcar repl"});
  command->callback([command, options, rest, &status] {
    options->args.insert(options->args.end(), rest.begin(), rest.end());
    options->handlers = readHandlerOptions(*command);
    status = converse(*options);
  });
}

}  // namespace boxcar::cli
