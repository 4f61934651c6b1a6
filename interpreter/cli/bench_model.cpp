#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/function_call.h>
#include <boxcar/interpreter/cli/number_range.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace boxcar::cli {
namespace {

// Calls for some time, and prints what the calls took.
constexpr std::string_view kMeasure = R"(
times: float[] = []
with {3} {{
    loaded = clock()
    result = {0}({1})
    {4}
    first = clock() - loaded
    begin = clock()
    while len(times) < 3 or (clock() - begin < {2} and len(times) < 1000000) {{
        start = clock()
        result = {0}({1})
        {4}
        times.append(clock() - start)
    }}
}}
times.sort()
count = len(times)
median = times[count // 2]
p99 = times[min(count - 1, count * 99 // 100)]
print(f"calls       {{count}}, after one that took {{first * 1e3:.3f}} ms")
print(f"latency     {{median * 1e3:.3f}} ms median, {{p99 * 1e3:.3f}} ms p99, {{times[0] * 1e3:.3f}} ms least")
print(f"throughput  {{count / sum(times, 0.0):.1f}} calls a second")
)";

}  // namespace

void addBenchModel(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("bench-model", "Measure calls of a function of a script, or a model");
  const auto call = std::make_shared<FunctionCall>();
  const auto options = std::make_shared<RunOptions>();
  const auto seconds = std::make_shared<double>(3.0);
  addFunctionCall(*command, *call);
  addDeviceOfCall(*command, *call);
  command->add_option("--seconds", *seconds, "How long to call it (3)")->type_name("N")->check(numbersFrom(0.001, 1e6));
  addOptionsOfRuns(*command, options);
  addExamples(*command, {"boxcar bench-model resnet18.pt2 'ones(1, 3, 224, 224)' --threads 1",
                         "boxcar bench-model resnet18.pt2 images.npy --profile"});
  command->callback([command, call, options, seconds, &status] {
    options->file = call->file;
    readRunOptions(*command, {}, *options);
    const CallText text = callText(*call);
    std::string arguments;
    std::string script = "begin_of_run = clock()\n" + text.imports;
    script += "print(f\"run         {(clock() - begin_of_run) * 1e3:.3f} ms, for the file's statements\")\n";
    script += fmt::format(fmt::runtime(kMeasure), text.function, text.arguments, *seconds, text.scopes,
                          call->device.starts_with("cuda") ? "cuda::synchronize()" : "");
    options->read = [](std::string source, std::string name) {
      const auto begin = std::chrono::steady_clock::now();
      Program program = Program::compile(std::move(source), std::move(name));
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
      print(fmt::format("load        {:.3f} ms, to read and compile the file\n", took.count()));
      return program;
    };
    runText(*options, std::move(script));
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    print(fmt::format("memory      {:.1f} MB at most\n", static_cast<double>(usage.ru_maxrss) / 1024));
    status = kDone;
  });
}

}  // namespace boxcar::cli
