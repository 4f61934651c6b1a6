#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/handlers/fault/fault_injector.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/schema/function_schema.h>
#include <gtest/gtest.h>

#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/captured_output.h"
#include "tests/dispatcher/handlers/fault/fault_helpers.h"
#include "tests/dispatcher/handlers/unwinding_samples.h"
#include "tests/handler_arguments.h"
#include "tests/temporary_folder.h"
#include "tests/test_support.h"

// A failed run must leave nothing behind, wherever it fails. Each program here runs with a fault at its first operator
// call, then at its second, and so on until no fault occurs.

namespace boxcar {
namespace {

// The state that a run might change.
struct Surroundings {
  explicit Surroundings(const LiveStorages& storages) : storages_(storages), live_(storages.count()) {}

  void expectAsBefore(const std::string& when) const {
    EXPECT_EQ(modeCount(DispatchKey::PreDispatch), 0U) << when;
    EXPECT_EQ(modeCount(DispatchKey::Python), 0U) << when;
    const LocalDispatchKeySet now = tls_local_dispatch_key_set();
    EXPECT_EQ(now.included_, keys_.included_) << when;
    EXPECT_EQ(now.excluded_, keys_.excluded_) << when;
    EXPECT_EQ(storages_.count(), live_) << when;
  }

 private:
  const LiveStorages& storages_;
  const size_t live_;
  const LocalDispatchKeySet keys_ = tls_local_dispatch_key_set();
};

// Returns what [body] prints; drops its stderr.
std::string quietOutputOf(const std::function<void()>& body) {
  testing::internal::CaptureStderr();
  std::exception_ptr failure;
  std::string output = outputOf([&] {
    try {
      body();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  testing::internal::GetCapturedStderr();
  if (failure) std::rethrow_exception(failure);
  return output;
}

// Returns the files in [folder] that no program writes.
std::vector<std::string> strayFiles(const std::string& folder) {
  std::vector<std::string> stray;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name != "out.safetensors" && !name.starts_with("handler_")) stray.push_back(name);
  }
  return stray;
}

// How a run with an intended fault ended.
struct Outcome {
  bool has_failed = false;
  std::string text;     // the error
  std::string problem;  // what is wrong with the error
};

using FaultyRun = std::function<Outcome(int64_t n)>;

// Calls [run_with_fault] for n = 1, 2, … until no fault occurs. From [dense] on, n doubles.
void expectToUnwind(const Program& program, const std::string& folder, const LiveStorages& storages, int64_t dense,
                    const FaultyRun& run_with_fault) {
  const std::string expected = quietOutputOf([&] { program.run(); });
  const Surroundings before(storages);
  Outcome outcome;
  for (int64_t n = 1;; n += n < dense ? 1 : n) {
    // Failures during the run would not be shown, because its output is captured.
    quietOutputOf([&] { outcome = run_with_fault(n); });
    const std::string when = "fault " + std::to_string(n) + ": " + outcome.text;
    EXPECT_EQ(outcome.problem, "") << when;
    before.expectAsBefore(when);
    EXPECT_EQ(strayFiles(folder), std::vector<std::string>()) << when;
    EXPECT_EQ(quietOutputOf([&] { program.run(); }), expected) << "after " << when;
    if (!outcome.has_failed || testing::Test::HasFailure()) return;
  }
}

// Runs [program], which must end with [fault] if [was_injected] says that there was one.
Outcome outcomeOf(const Program& program, const std::string& fault, const std::function<bool()>& was_injected) {
  try {
    program.run();
  } catch (const ScriptError& error) {
    const bool is_right = error.reason().find(fault) != std::string::npos && !error.frames().empty();
    return {true, error.what(), is_right ? "" : "this is no error of the fault with the script's calls"};
  } catch (const std::exception& error) {
    return {true, error.what(), "this is no error of a script"};
  }
  return {false, "none", was_injected() ? "the fault did not end the run" : ""};
}

Outcome runWithFault(const Program& program, int64_t n) {
  FaultInjector injector({.pattern = "*", .n = n});
  const HandlerGuard on(injector);
  return outcomeOf(program, "was made to fail", [&] { return injector.injected() > 0; });
}

Outcome runWithoutMemory(const Program& program, int64_t n) {
  const FailingAllocation failing(n);
  return outcomeOf(program, "there is no memory for", &FailingAllocation::hasFailed);
}

TEST(Unwinding, EveryCallMayFail) {
  const TemporaryFolder folder;
  for (const UnwindingSample& sample : kUnwindingSamples) {
    SCOPED_TRACE(sample.name);
    const LiveStorages storages;
    {
      const Program program = Program::compile(sample.text, folder / "sample.ops");
      expectToUnwind(program, folder.path(), storages, INT64_MAX, [&](int64_t n) { return runWithFault(program, n); });
    }
    EXPECT_EQ(storages.count(), 0U);
  }
}

TEST(Unwinding, EveryAllocationMayFail) {
  const TemporaryFolder folder;
  int64_t failures = 0;
  for (const UnwindingSample& sample : kUnwindingSamples) {
    SCOPED_TRACE(sample.name);
    const LiveStorages storages;
    {
      const Program program = Program::compile(sample.text, folder / "sample.ops");
      expectToUnwind(program, folder.path(), storages, INT64_MAX, [&](int64_t n) {
        const Outcome outcome = runWithoutMemory(program, n);
        failures += outcome.has_failed ? 1 : 0;
        return outcome;
      });
    }
    EXPECT_EQ(storages.count(), 0U);
  }
  EXPECT_GT(failures, 20);
}

TEST(Unwinding, TheShownScriptsMayFailAnywhere) {
  const std::string scripts = BOXCAR_TEST_DATA "/../../scripts/";
  const TemporaryFolder folder;
  for (const char* name : {"hello.ops", "fibonacci.ops", "digits.ops", "kmeans.ops", "softmax_regression.ops"}) {
    SCOPED_TRACE(name);
    const LiveStorages storages;
    {
      const Program program = Program::load(scripts + name);
      expectToUnwind(program, folder.path(), storages, 6, [&](int64_t n) { return runWithFault(program, n); });
    }
    EXPECT_EQ(storages.count(), 0U);
  }
}

// If the first run fails, a later run sets the constants.
TEST(Unwinding, AFirstRunThatFailsIsMadeUpFor) {
  const Program expected_program = Program::compile(kConstantsSample.text, "sample.ops");
  const std::string expected = outputOf([&] { expected_program.run(); });
  for (int64_t n = 1;; ++n) {
    const LiveStorages storages;
    {
      const Program program = Program::compile(kConstantsSample.text, "sample.ops");
      Outcome outcome;
      outputOf([&] { outcome = runWithFault(program, n); });
      EXPECT_EQ(outcome.problem, "") << n;
      EXPECT_EQ(outputOf([&] { program.run(); }), expected) << n;
      EXPECT_EQ(storages.count(), 3U) << n;  // storages of the constants
      if (!outcome.has_failed) break;
    }
    ASSERT_EQ(storages.count(), 0U) << n;
  }
}

// Makes a handler of [kind] with simple arguments; null if these are not enough. Files go to [folder].
std::unique_ptr<Handler> makeSimply(const HandlerKind& kind, const TemporaryFolder& folder, const std::string& suffix) {
  const std::vector<IValue> arguments =
      harmlessArguments(kind, folder / ("handler_" + std::string(kind.name()) + suffix));
  try {
    return kind.make(arguments);
  } catch (const Error&) {
    return nullptr;  // reads a file that another handler wrote
  }
}

TEST(Unwinding, PairsOfHandlersUnwindToo) {
  constexpr const char* kText = R"(
mode watch { return redispatch(op, args) } exit { print("watch ends") }
op unwind::norm(Tensor x) -> Tensor { return (x * x).sum().sqrt() }
x = ones([20, 20])
with watch { x[0] = 3; print(unwind::norm(x).item()) }
)";
  const TemporaryFolder folder;
  const LiveStorages storages;
  {
    const Program program = Program::compile(kText, folder / "sample.ops");
    std::set<std::string> made;
    for (const HandlerKind* outer : handlerKinds()) {
      for (const HandlerKind* inner : handlerKinds()) {
        SCOPED_TRACE(std::string(outer->name()) + " around " + std::string(inner->name()));
        if (!makeSimply(*outer, folder, ".outer") || !makeSimply(*inner, folder, ".inner")) continue;
        made.insert(std::string(inner->name()));
        expectToUnwind(program, folder.path(), storages, INT64_MAX, [&](int64_t n) {
          const auto outer_handler = makeSimply(*outer, folder, ".outer");
          const auto inner_handler = makeSimply(*inner, folder, ".inner");
          Outcome outcome;
          {
            const HandlerGuard outer_on(*outer_handler);
            const HandlerGuard inner_on(*inner_handler);
            outcome = runWithFault(program, n);
          }
          for (Handler* handler : {inner_handler.get(), outer_handler.get()}) {
            const std::string error = errorOf([&] { handler->finish(outcome.has_failed); });
            if (error != "no error") outcome.problem += error;
          }
          return outcome;
        });
        if (HasFailure()) return;
      }
    }
    for (const char* name : {"memory", "cost", "deny", "inject"}) EXPECT_TRUE(made.contains(name)) << name;
  }
  EXPECT_EQ(storages.count(), 0U);
}

}  // namespace
}  // namespace boxcar
