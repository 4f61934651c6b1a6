// How cost grows: time and memory as a function of one size. `boxcar_growth SUBJECT` prints a line for each point:
// SERIES, size and cost, separated by tabs. bench/growth.py runs it, fits the exponents and draws the charts. Each
// subject runs in its own process, so that leftovers such as 100,000 operators do not affect the next.

#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/handlers/profile/profiler.h>
#include <boxcar/dispatcher/handlers/record/recorder.h>
#include <boxcar/dispatcher/handlers/trace/tracer.h>
#include <boxcar/interpreter/bytecode/bytecode.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/session/session.h>
#include <boxcar/ops.h>
#include <fmt/format.h>
#include <malloc.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bench/long_script.h"
#include "bench/no_op.h"

namespace boxcar::bench {
namespace {

void point(std::string_view series, size_t size, double cost) {
  fmt::print("{}\t{}\t{:.6g}\n", series, size, cost);
  std::fflush(stdout);
}

// Returns this thread's CPU time, because time spent waiting for a CPU says nothing about the work.
double seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Work>
double secondsOf(Work work) {
  const double begin = seconds();
  work();
  return seconds() - begin;
}

// Returns the nanoseconds per call: the minimum of several rounds of about a millisecond each.
template <class Call>
double nanoseconds(Call call) {
  constexpr int kRounds = 21;
  long count = 1;
  while (secondsOf([&] {
           for (long i = 0; i < count; ++i) call();
         }) < 1e-3)
    count *= 2;
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    least = std::min(least, secondsOf([&] {
                       for (long i = 0; i < count; ++i) call();
                     }));
  }
  return 1e9 * least / static_cast<double>(count);
}

double bytesInUse() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

void measureCalls(size_t size) {
  const OperatorHandle op = noOpHandle();
  const auto typed = op.typed<void(const Tensor&, const Tensor&)>();
  const Tensor a = twoElements();
  const Tensor b = twoElements();
  point("typed call, ns", size, nanoseconds([&] { typed.call(a, b); }));
  Stack stack;
  point("boxed call, ns", size, nanoseconds([&] {
          push(stack, a, b);
          op.callBoxed(stack);
        }));
}

void operators() {
  Library m(Library::FRAGMENT, "growth", std::nullopt, __FILE__, __LINE__);
  m.def("warm(Tensor a) -> Tensor");
  size_t count = 0;
  for (const size_t size : {10, 100, 1000, 10000, 100000}) {
    std::vector<std::string> names;
    std::vector<std::string> schemas;
    for (size_t i = count; i < size; ++i) {
      names.push_back(fmt::format("operator_{}", i));
      schemas.push_back(names.back() + "(Tensor self, Tensor other) -> ()");
    }
    const double before = bytesInUse();
    const double time = secondsOf([&] {
      for (size_t i = 0; i < names.size(); ++i) {
        m.def(schemas[i]);
        m.impl(names[i], dispatch(DispatchKey::CPU, BOXCAR_FN(noOp)));
      }
    });
    const auto added = static_cast<double>(size - count);
    point("def and impl of one more, ns", size, 1e9 * time / added);
    point("memory of one more, bytes", size, (bytesInUse() - before) / added);
    count = size;
    // Uses names from the whole range, so that new and cached operators count only in proportion.
    names.clear();
    for (size_t i = 0; i < std::min<size_t>(size, 1000); ++i) {
      names.push_back(fmt::format("growth::operator_{}", i * 7919 % size));
    }
    // The first look-up that misses completes the snapshot, which takes as long as many thousand look-ups.
    for (const std::string& name : names) (void)Dispatcher::singleton().findSchemaOrThrow(name.c_str(), "");
    size_t next = 0;
    point("look-up by name, ns", size, nanoseconds([&] {
            benchmark::DoNotOptimize(Dispatcher::singleton().findSchemaOrThrow(names[next].c_str(), ""));
            next = next + 1 == names.size() ? 0 : next + 1;
          }));
    point("a fallback for all, ns", size, nanoseconds([] {
            Library fallback(Library::IMPL, "_", DispatchKey::VmapMode, __FILE__, __LINE__);
            fallback.fallback(CppFunction::makeFallthrough());
          }));
    measureCalls(size);
  }
}

void fallthroughKeys() {
  // All of these keys fall through to the next one, by a registered fallthrough or by default.
  constexpr std::array kKeys = {DispatchKey::ADInplaceOrView,
                                DispatchKey::AutogradOther,
                                DispatchKey::AutogradNestedTensor,
                                DispatchKey::AutocastCPU,
                                DispatchKey::AutocastXPU,
                                DispatchKey::AutocastIPU,
                                DispatchKey::AutocastHPU,
                                DispatchKey::AutocastXLA,
                                DispatchKey::AutocastCUDA,
                                DispatchKey::AutocastPrivateUse1,
                                DispatchKey::VmapMode,
                                DispatchKey::BackendSelect,
                                DispatchKey::Functionalize,
                                DispatchKey::Conjugate,
                                DispatchKey::Negative,
                                DispatchKey::ZeroTensor,
                                DispatchKey::FuncTorchBatched,
                                DispatchKey::FuncTorchVmapMode,
                                DispatchKey::Batched,
                                DispatchKey::FuncTorchGradWrapper,
                                DispatchKey::DeferredInit,
                                DispatchKey::PythonTLSSnapshot,
                                DispatchKey::Fake,
                                DispatchKey::FuncTorchDynamicLayerFrontMode};
  std::deque<Library> libraries;
  std::deque<IncludeDispatchKeyGuard> guards;
  size_t size = 0;
  noOpHandle();  // everything else is registered first
  const double before = bytesInUse();
  for (const size_t next : {size_t{1}, size_t{2}, size_t{4}, size_t{8}, size_t{16}, kKeys.size()}) {
    for (; size < next; ++size) {
      libraries.emplace_back(Library::IMPL, "_", kKeys[size], __FILE__, __LINE__)
          .fallback(CppFunction::makeFallthrough());
      guards.emplace_back(kKeys[size]);
    }
    point("memory of all of them, bytes", size, bytesInUse() - before);
    measureCalls(size);
  }
  while (!guards.empty()) guards.pop_back();
}

template <size_t>
using TensorArgument = const Tensor&;

template <size_t... Is>
void callWithArguments(std::index_sequence<Is...>) {
  constexpr size_t kCount = sizeof...(Is);
  using Signature = void(TensorArgument<Is>...);
  const std::string name = fmt::format("with_{}", kCount);
  std::vector<std::string> arguments;
  for (size_t i = 0; i < kCount; ++i) arguments.push_back(fmt::format("Tensor a{}", i));
  Library m(Library::FRAGMENT, "growth", std::nullopt, __FILE__, __LINE__);
  const double before = bytesInUse();
  m.def(fmt::format("{}({}) -> ()", name, fmt::join(arguments, ", ")));
  m.impl(name, dispatch(DispatchKey::CPU, [](TensorArgument<Is>... all) { (benchmark::DoNotOptimize(&all), ...); }));
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow(("growth::" + name).c_str(), "");
  const auto typed = op.typed<Signature>();
  point("memory of the operator, bytes", kCount, bytesInUse() - before);
  const std::vector<Tensor> tensors(kCount, twoElements());
  point("typed call, ns", kCount, nanoseconds([&] { typed.call(tensors[Is]...); }));
  Stack stack;
  point("boxed call, ns", kCount, nanoseconds([&] {
          push(stack, tensors[Is]...);
          op.callBoxed(stack);
        }));
}

void arguments() {
  noOpHandle();  // everything else is registered first
  callWithArguments(std::make_index_sequence<1>());
  callWithArguments(std::make_index_sequence<2>());
  callWithArguments(std::make_index_sequence<4>());
  callWithArguments(std::make_index_sequence<8>());
  callWithArguments(std::make_index_sequence<16>());
  callWithArguments(std::make_index_sequence<32>());
  callWithArguments(std::make_index_sequence<64>());
}

void handlers() {
  std::deque<ModeGuard> modes;
  noOpHandle();  // everything else is registered first
  const double before = bytesInUse();
  for (const size_t size : {1, 2, 4, 8, 16, 32, 64}) {
    while (modes.size() < size) {
      modes.emplace_back(
          [](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) { op.redispatchBoxed(keys, stack); });
    }
    point("memory of all of them, bytes", size, bytesInUse() - before);
    measureCalls(size);
  }
  while (!modes.empty()) modes.pop_back();
}

// Returns the wall-clock time in which [count] threads do the same work, from when all are ready until the last one is
// done.
template <class Work>
double secondsOnThreads(size_t count, Work work) {
  using Clock = std::chrono::steady_clock;
  std::barrier<> begin(static_cast<std::ptrdiff_t>(count) + 1);
  std::vector<std::thread> workers;
  for (size_t i = 0; i < count; ++i) {
    workers.emplace_back([&begin, &work] {
      const Tensor a = twoElements();
      const Tensor b = twoElements();
      begin.arrive_and_wait();
      work(a, b);
    });
  }
  // Taken before the barrier, because after it the other threads may run first.
  const Clock::time_point start = Clock::now();
  begin.arrive_and_wait();
  for (std::thread& worker : workers) worker.join();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Waiting for a lock uses no CPU time, so wall-clock time is measured here. Work in which the threads are independent
// shows how many CPUs the machine has free: calls should slow down by the same factor unless threads wait for each
// other.
void threads() {
  constexpr long kCalls = 1'000'000;
  constexpr int kRounds = 25;
  const OperatorHandle op = noOpHandle();
  const auto typed = op.typed<void(const Tensor&, const Tensor&)>();
  const auto apart = [](const Tensor&, const Tensor&) {
    for (long i = 0; i < 4 * kCalls; ++i) benchmark::DoNotOptimize(i);
  };
  double alone = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    alone = std::min(alone, secondsOf([&] { apart(Tensor(), Tensor()); }));
  }
  const auto measure = [&](std::string_view series, size_t size, auto calls) {
    std::array<double, kRounds> ratios{};
    for (double& ratio : ratios) {
      const double of_apart = secondsOnThreads(size, apart);
      ratio = secondsOnThreads(size, calls) / of_apart;
    }
    std::ranges::sort(ratios);
    point(series, size, 1e9 * ratios[kRounds / 2] * alone / kCalls);
  };
  for (const size_t size : {1, 2, 4, 8, 16}) {
    measure("typed call, ns", size, [&](const Tensor& a, const Tensor& b) {
      for (long i = 0; i < kCalls; ++i) typed.call(a, b);
    });
    measure("boxed call, ns", size, [&](const Tensor& a, const Tensor& b) {
      Stack stack;
      for (long i = 0; i < kCalls; ++i) {
        push(stack, a, b);
        op.callBoxed(stack);
      }
    });
  }
}

// Writes a script of [lines] lines.
using Writer = std::string (*)(size_t lines);

std::string functionsOf(size_t lines) { return functionsOfTenLines(lines / 10); }

std::string statementsOf(size_t lines) {
  std::string text = "x = ones([2])\n";
  for (size_t i = 1; i < lines; ++i) text += fmt::format("x = relu(x + {})\n", i);
  return text;
}

std::string conditionsOf(size_t lines) {
  std::string text = "total = 0\n";
  for (size_t i = 1; i < lines; ++i) text += fmt::format("if total == {0} {{ total += {0} }}\n", i);
  return text;
}

// Conditions, each with a variable of its own.
std::string branchesOf(size_t lines) {
  std::string text;
  for (size_t i = 0; i < lines / 2; ++i) text += fmt::format("x_{0} = {0}\nif x_{0} > 1 {{ x_{0} += 1 }}\n", i);
  return text;
}

// A loop in which types move from each variable to the previous one, one variable per iteration.
std::string handedOnOf(size_t lines) {
  const size_t count = lines / 2;
  std::string text, body;
  for (size_t i = 1; i < count; ++i) {
    text += fmt::format("x_{} = {}\n", i, i);
    body += fmt::format("  x_{} = x_{}\n", i, i + 1);
  }
  return fmt::format("x_{0} = {0}\n{1}while x_1 == 1 {{\n{2}  x_{0} = 'text'\n}}\n", count, text, body);
}

std::string wrongNamesOf(size_t lines) {
  std::string text;
  for (size_t i = 0; i < lines; ++i) text += fmt::format("x_{0} = unknown_{0}({0})\n", i);
  return text;
}

void compileAnyway(interp::CodeUnit& unit, const std::string& text, Diagnostics& diagnostics) {
  try {
    unit = interp::compileText(text, "growth.ops", diagnostics);
  } catch (const CompileError&) {
    // Thrown for the script with errors, which are in [diagnostics].
  }
}

void script() {
  const std::vector<std::pair<std::string, Writer>> writers = {
      {"functions", functionsOf}, {"statements", statementsOf},    {"conditions", conditionsOf},
      {"branches", branchesOf},   {"types handed on", handedOnOf}, {"wrong names", wrongNamesOf}};
  Diagnostics unused;
  interp::compileText(functionsOf(1000), "growth.ops", unused);  // the first compilation sets things up
  for (const size_t lines : {10, 100, 1000, 10000, 100000}) {
    for (const auto& [name, write] : writers) {
      const std::string text = write(lines);
      const double before = bytesInUse();
      Diagnostics diagnostics;
      interp::CodeUnit unit;
      double least = std::numeric_limits<double>::infinity();
      for (size_t round = 0; round < (lines <= 1000 ? 5 : 1); ++round) {
        diagnostics = Diagnostics();
        unit = {};
        least = std::min(least, secondsOf([&] { compileAnyway(unit, text, diagnostics); }));
      }
      point(fmt::format("compiling {}, ms", name), lines, 1e3 * least);
      if (!diagnostics.hasErrors()) {
        point(fmt::format("bytecode of {}, kB", name), lines, (bytesInUse() - before) / 1e3);
      }
    }
  }
}

// Prompt inputs that each define a variable, or a function that calls the previous one.
void session() {
  const auto measure = [](std::string_view series, const std::function<std::string(size_t)>& input) {
    Session session;
    size_t count = 0;
    double time = 0;
    for (const size_t size : {10, 30, 100, 300, 1000, 3000}) {
      time += secondsOf([&] {
        for (; count < size; ++count) session.evaluate(input(count));
      });
      point(series, size, 1e3 * time);
    }
  };
  measure("inputs that set a variable, ms", [](size_t i) { return fmt::format("v_{0} = {0}\n", i); });
  measure("inputs that declare a function, ms", [](size_t i) {
    return i == 0 ? std::string("fn f_0(int x) -> int { return x }\n")
                  : fmt::format("fn f_{}(int x) -> int {{ return f_{}(x) + 1 }}\n", i, i - 1);
  });
}

class ScratchFolder {
 public:
  ScratchFolder() {
    if (mkdtemp(path_.data()) == nullptr) {
      std::perror("boxcar_growth: /tmp");
      std::exit(1);
    }
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string file(std::string_view name) const { return fmt::format("{}/{}", path_, name); }

 private:
  std::string path_ = "/tmp/boxcar_growth_XXXXXX";
};

void trace() {
  const ScratchFolder folder;
  const auto measure = [&](std::string_view name, size_t size, const std::string& path, auto makeHandler) {
    Tensor x = boxcar::ones({2});
    const double before = bytesInUse();
    auto handler = makeHandler();
    double held = 0;
    const double time = secondsOf([&] {
      {
        const HandlerGuard on(*handler);
        for (size_t i = 0; i < size; ++i) x = boxcar::mul(x, 0.5);
      }
      held = bytesInUse() - before;
      handler->finish(false);
    });
    point(fmt::format("{}, ms", name), size, 1e3 * time);
    point(fmt::format("memory of {}, kB", name), size, std::max(held, 0.0) / 1e3);
    point(fmt::format("file of {}, kB", name), size, static_cast<double>(std::filesystem::file_size(path)) / 1e3);
  };
  for (const size_t size : {10, 100, 1000, 10000, 100000}) {
    const std::string program = folder.file("trace.ops");
    const std::string recording = folder.file("run.rec");
    const std::string profile = folder.file("profile.json");
    measure("tracing", size, program, [&] { return std::make_unique<Tracer>(program); });
    measure("recording", size, recording, [&] { return std::make_unique<Recorder>(recording); });
    measure("profiling", size, profile, [&] { return std::make_unique<Profiler>(ProfilerOptions{.trace = profile}); });
  }
}

struct Subject {
  std::string_view name;
  void (*run)();
};
constexpr Subject kSubjects[] = {{"operators", operators}, {"fallthrough", fallthroughKeys},
                                 {"arguments", arguments}, {"handlers", handlers},
                                 {"threads", threads},     {"script", script},
                                 {"session", session},     {"trace", trace}};

}  // namespace
}  // namespace boxcar::bench

int main(int argc, char** argv) {
  using boxcar::bench::kSubjects;
  const auto* subject =
      std::ranges::find(kSubjects, argc == 2 ? std::string_view(argv[1]) : "", &boxcar::bench::Subject::name);
  if (subject == std::end(kSubjects)) {
    std::fputs("usage: boxcar_growth SUBJECT; the subjects are:", stderr);
    for (const auto& each : kSubjects) fmt::print(stderr, " {}", each.name);
    std::fputs("\n", stderr);
    return 2;
  }
  try {
    subject->run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "boxcar_growth: {}\n", error.what());
    return 1;
  }
  return 0;
}
