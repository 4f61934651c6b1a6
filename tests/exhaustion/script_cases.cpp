// Scripts: compiling, running, stopping with an error, and formatting that error.

#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/dispatcher/handlers/record/recording.h>
#include <boxcar/dispatcher/handlers/record/replay.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/session/session.h>
#include <boxcar/schema/function_schema.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/dispatcher/handlers/unwinding_samples.h"
#include "tests/exhaustion/cases.h"
#include "tests/exhaustion/script_samples.h"
#include "tests/handler_arguments.h"

namespace boxcar::exhaustion {
namespace {

// Collects the output of a script without allocating memory.
class Printed final {
 public:
  void run(const Program& program) {
    text_.clear();
    const ModeGuard collect([this](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
      if (op.operator_name().name != "aten::_print") return op.redispatchBoxed(keys, stack);
      const std::string_view line = stack.back().toStringView();
      if (text_.size() + line.size() <= text_.capacity()) text_ += line;
      pop(stack);
    });
    program.run();
  }
  // Returns the difference from the first output.
  std::optional<std::string> compare() {
    if (!first_) {
      first_ = text_;
    } else if (text_ != *first_) {
      return "it prints '" + text_ + "' instead of '" + *first_ + "'";
    }
    return std::nullopt;
  }

 private:
  std::string text_ = std::string(1 << 12, ' ');
  std::optional<std::string> first_;
};

ExhaustedCase runOf(const std::string& name, const char* text, const std::string& file) {
  const auto program = std::make_shared<Program>(Program::compile(text, file));
  const auto printed = std::make_shared<Printed>();
  return {name, [=] { printed->run(*program); }, [=](bool ended) { return ended ? printed->compare() : std::nullopt; }};
}

// Makes a handler of [kind]; if it writes a file, it writes to [path].
// Returns what is wrong with the file: if it exists, it must be complete. It must exist if the run [ended] normally.
std::optional<std::string> problemOfFile(std::string_view kind, const std::string& path, bool ended) {
  if (!std::filesystem::exists(path)) {
    const bool writes = kind == "record" || kind == "trace" || kind == "profile";
    return ended && writes ? std::optional<std::string>("no file was written") : std::nullopt;
  }
  try {
    if (kind == "record") Recording::open(path).checkBlocks();
    if (kind == "trace") Program::load(path).run();
  } catch (const Error& error) {
    return "what was written is wrong: " + error.message();
  }
  if (kind == "profile" && std::filesystem::file_size(path) == 0) return "an empty file was written";
  return std::nullopt;
}

ExhaustedCase runUnder(const HandlerKind& kind, const std::string& name, const char* text, const std::string& folder) {
  const auto program = std::make_shared<Program>(Program::compile(text, folder + "/sample.ops"));
  const std::string kind_name(kind.name());
  const std::string path = folder + "/written_by_" + kind_name + (kind_name == "profile" ? ".json" : ".ops");
  return {name + " with " + kind_name,
          [=, &kind] {
            std::filesystem::remove(path);
            const std::unique_ptr<Handler> handler = kind.make(harmlessArguments(kind, path));
            struct Finish {
              Handler& handler;
              bool failed = true;
            } finish{*handler};
            std::exception_ptr failure;
            try {
              const HandlerGuard on(*handler);
              program->run();
              finish.failed = false;
            } catch (...) {
              failure = std::current_exception();
            }
            handler->finish(finish.failed);
            if (failure) std::rethrow_exception(failure);
          },
          [=](bool ended) { return problemOfFile(kind_name, path, ended); }};
}

// Makes a recording at [path] by a run under a handler, and keeps it.
std::string recordedAt(const std::string& path) {
  const Program program = Program::compile(kHandledSample, path + ".ops");
  const HandlerKind& kind = *findHandlerKind("record");
  const std::unique_ptr<Handler> recorder = kind.make(harmlessArguments(kind, path));
  {
    const HandlerGuard on(*recorder);
    program.run();
  }
  recorder->finish(false);
  return path;
}

// Inputs at a prompt that use results of earlier ones.
void converse() {
  Session session;
  session.evaluate("const seen = {}\nfn twice(int n) -> int { return 2 * n }");
  session.evaluate("x = ones([2]) + twice(3)");
  session.evaluate("seen['x'] = x.sum().item()\nseen");
}

std::string scriptWithImport(const std::string& folder) {
  std::ofstream(folder + "/imported.ops") << "const started = [1]\nfn f(int n) -> int { return n + len(started) }\n";
  std::ofstream(folder + "/importing.ops") << "import \"imported.ops\"\nprint(f(2))\n";
  return folder + "/importing.ops";
}

// Compiles a script, or formats its errors if it is wrong.
ExhaustedCase compilationOf(const ScriptSample& sample, const std::string& file) {
  return {std::string("compiling ") + sample.name, [&sample, file] {
            try {
              const Program program = Program::compile(sample.text, file);
              if (!sample.is_wrong) return;
            } catch (const CompileError& error) {
              if (!sample.is_wrong) throw;
              static_cast<void>(toString(error.diagnostics()));
              return;
            }
            throw RuntimeError("what is wrong was compiled");
          }};
}

// A run that the script itself makes fail.
ExhaustedCase failureOf(const ScriptSample& sample, const std::string& file) {
  const auto program = std::make_shared<Program>(Program::compile(sample.text, file));
  return {std::string("failing in ") + sample.name, [&sample, program] {
            try {
              program->run();
            } catch (const ScriptError& error) {
              static_cast<void>(toString(error));
              if (error.reason().find(sample.failure) == std::string::npos) throw;
              return;
            }
            throw RuntimeError("what fails went well");
          }};
}

}  // namespace

void addScriptCases(std::vector<CaseMaker>& cases, const std::string& folder) {
  const std::string file = folder + "/sample.ops";
  for (const UnwindingSample& sample : kUnwindingSamples) {
    cases.push_back([=, &sample] { return runOf(sample.name, sample.text, file); });
  }
  for (const ScriptSample& sample : kScriptSamples) {
    cases.push_back([=, &sample] { return compilationOf(sample, file); });
    if (sample.is_wrong) continue;
    cases.push_back([=, &sample] {
      return sample.failure.empty() ? runOf(sample.name, sample.text, file) : failureOf(sample, file);
    });
  }
  for (const HandlerKind* kind : handlerKinds())
    cases.push_back([=] { return runUnder(*kind, "tensors", kHandledSample, folder); });
  const std::string recorded = recordedAt(folder + "/kept.rec");
  cases.push_back(always({"reading a recording", [=] { Recording::open(recorded).checkBlocks(); }}));
  cases.push_back(always({"replaying", [=] { static_cast<void>(toString(replay(Recording::open(recorded)))); }}));
  cases.push_back(always({"a session", converse}));
  const std::string importing = scriptWithImport(folder);
  cases.push_back(always({"importing", [=] { Program::load(importing).run(); }}));
}

}  // namespace boxcar::exhaustion
