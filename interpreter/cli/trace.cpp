#include <boxcar/dispatcher/call/scope.h>
#include <boxcar/dispatcher/handlers/trace/tracer.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/function_call.h>
#include <boxcar/interpreter/cli/graphviz.h>
#include <boxcar/interpreter/cli/output_option.h>
#include <boxcar/interpreter/cli/run_script.h>
#include <boxcar/ivalue/output_file.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace boxcar::cli {
namespace {

struct TraceFiles {
  std::string program;
  std::string dot;
  std::string svg;
  bool unfolds = false;
  bool keeps_backward = false;
  bool is_functional = false;
  bool keeps_views = false;
};

// The graph's output files, opened before the script runs, so that problems are reported early.
class GraphFiles final {
 public:
  explicit GraphFiles(const TraceFiles& files) {
    if (!files.svg.empty()) checkGraphviz();
    if (!files.dot.empty()) dot_.emplace(files.dot);
    if (!files.svg.empty()) svg_.emplace(files.svg);
  }

  bool isEmpty() const noexcept { return !dot_ && !svg_; }
  void write(const std::string& graph) {
    if (dot_) write(*dot_, graph);
    if (svg_) write(*svg_, drawSvg(graph));
  }

 private:
  static void write(OutputFile& file, const std::string& text) {
    file.write(std::as_bytes(std::span(text)));
    file.commit();
  }

  std::optional<OutputFile> dot_;
  std::optional<OutputFile> svg_;
};

// A tracer of what functionalize() makes of the calls.
class FunctionalTracer final : public Handler {
 public:
  FunctionalTracer(Tracer& tracer, bool keeps_views) : tracer_(tracer), views_(keeps_views ? "keep" : "copy") {}

  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override { tracer_.call(op, keys, stack); }
  std::shared_ptr<void> enter() override {
    auto on = std::make_shared<On>();
    const IValue views(views_);
    on->scope = findScopeKind("functionalize")->make({&views, 1});
    on->tracing = tracer_.enter();
    on->scope->enter();
    return on;
  }
  std::string finish(bool failed) override { return tracer_.finish(failed); }

 private:
  struct On {
    On() = default;
    On(const On&) = delete;
    On& operator=(const On&) = delete;
    ~On() { tracing.reset(); }  // before the scope writes its values back, which ends with the program

    std::unique_ptr<Scope> scope;
    std::shared_ptr<void> tracing;
  };

  Tracer& tracer_;
  const std::string views_;
};

void trace(const RunOptions& options, const TraceFiles& files) {
  GraphFiles graph_files(files);
  Tracer tracer(files.program, {.has_graph = !graph_files.isEmpty(), .keeps_backward = files.keeps_backward});
  FunctionalTracer functional(tracer, files.keeps_views);
  Handler& handler = files.is_functional ? static_cast<Handler&>(functional) : tracer;
  runScript(options, &handler, [&](bool failed) {
    // As for the program, a failed run that called nothing leaves the files of the previous run.
    const bool has_nothing = failed && tracer.isEmpty();
    if (!graph_files.isEmpty() && !has_nothing) graph_files.write(tracer.graph(!files.unfolds));
  });
}

// Traces one call of a function, whose arguments are the script's words.
void traceFunction(const RunOptions& options, const std::string& function, const TraceFiles& files) {
  FunctionCall call{options.file, {function}};
  call.words.insert(call.words.end(), options.args.begin(), options.args.end());
  Tracer tracer(files.program);
  std::string_view views;
  if (files.is_functional) views = files.keeps_views ? "keep" : "copy";
  traceCall(call, options, tracer, views);
}

}  // namespace

void addTrace(CLI::App& app, const std::vector<std::string>& rest, int& status) {
  CLI::App* command = app.add_subcommand("trace", "Run a script and write its operator calls as a new script");
  const auto options = std::make_shared<RunOptions>();
  const auto files = std::make_shared<TraceFiles>();
  const auto function = std::make_shared<std::string>();
  addRunOptions(*command, options);
  addOutputOption(
      *command, "-o,--output", files->program,
      "The script to write; its tensors are written next to it, to tensors-….safetensors; may be left out with "
      "--dot or --svg")
      ->type_name("OUT.ops");
  addOutputOption(*command, "--dot", files->dot, "Write the calls as a graph in Graphviz's language")
      ->type_name("OUT.dot");
  addOutputOption(*command, "--svg", files->svg, "Draw the graph; needs Graphviz's dot")->type_name("OUT.svg");
  CLI::Option* const only = command
                                ->add_option("--function", *function,
                                             "Trace one call of this function of FILE, a script or a model, and write "
                                             "it as a function; ARGS are then its arguments, as for `boxcar call`")
                                ->type_name("NAME");
  command->add_flag("--unfold", files->unfolds,
                    "In the graph: draw every call; otherwise repeated parts are one box with a count, and large "
                    "functions are one box each");
  command->add_flag("--keep-backward", files->keeps_backward,
                    "Write calls of `backward` as they are, so that the program differentiates; otherwise it has the "
                    "calls that they make");
  CLI::Option* const functional = command->add_flag(
      "--functional", files->is_functional,
      "Write a program without writes: calls in place and with out= as their functional forms, and copies for views");
  functional->excludes(command->get_option("--keep-backward"));
  command->add_flag("--keep-views", files->keeps_views, "With --functional: let views be views")->needs(functional);
  for (const char* name : {"--dot", "--svg", "--unfold", "--keep-backward"}) only->excludes(command->get_option(name));
  addExamples(*command, {"boxcar trace model.ops -o calls.ops", "boxcar trace model.ops --svg calls.svg",
                         "boxcar trace model.ops --functional --keep-views -o calls.ops",
                         "boxcar trace resnet18.pt2 --function forward images.npy -o calls.ops"});
  command->callback([command, options, files, function, rest, &status] {
    if (files->program.empty() && files->dot.empty() && files->svg.empty()) {
      throw CLI::RequiredError("--output, --dot or --svg");
    }
    readRunOptions(*command, rest, *options,
                   {{"--output", files->program}, {"--dot", files->dot}, {"--svg", files->svg}});
    if (function->empty()) {
      trace(*options, *files);
    } else {
      traceFunction(*options, *function, *files);
    }
    status = kDone;
  });
}

}  // namespace boxcar::cli
