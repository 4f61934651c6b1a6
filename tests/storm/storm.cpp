// Some threads call operators, typed and boxed, while others register, replace and remove kernels, fallbacks and whole
// libraries: `dispatcher_storm SECONDS`. Fails if a call fails although it always had a kernel, if a call returns what
// no kernel returns, or if state remains at the end. Also meant for the thread and address sanitizers.

#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/call/record_function.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace boxcar;
using Key = DispatchKey;
using Count = int64_t(const Tensor&, int64_t);

std::atomic<bool> stop{false};
std::optional<OperatorHandle> passing_operator;
std::atomic<long> calls{0};
std::atomic<long> calls_of_removed{0};
std::atomic<long> replacements{0};
std::atomic<long> observed{0};
std::atomic<long> states{0};
std::atomic<int> failures{0};

void fail(const std::string& what) {
  if (failures++ < 10) std::fprintf(stderr, "storm: %s\n", what.c_str());
}

// The state of a kernel: knows whether it is still alive and counts all states.
class State {
 public:
  State() { ++states; }
  ~State() {
    if (magic_ != kAlive) fail("a state was destroyed twice");
    magic_ = 0;
    --states;
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // Returns [n] + 1, as every kernel does.
  int64_t answer(int64_t n) const {
    if (magic_ != kAlive) fail("a kernel runs whose state was destroyed");
    return n + 1;
  }

 private:
  static constexpr uint64_t kAlive = 0x5AFE57A7E5AFE57A;
  uint64_t magic_ = kAlive;
};

int64_t answer(const Tensor&, int64_t n) { return n + 1; }

CppFunction statefulKernel() {
  return CppFunction([state = std::make_shared<State>()](const Tensor&, int64_t n) { return state->answer(n); });
}
CppFunction statefulBoxedKernel() {
  return CppFunction::makeFromBoxedFunctor([state = std::make_shared<State>()](const OperatorHandle&, Stack& stack) {
    const int64_t n = stack.back().toInt();
    drop(stack, 2);
    push(stack, state->answer(n));
  });
}
CppFunction handlerThatGoesOn(Key key) {
  return CppFunction::makeFromBoxedFunctor(
      [state = std::make_shared<State>(), key](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
        if (const size_t count = op.schema().arguments().size(); count != 2 && count != 3)
          fail("a handler sees a schema that there never was");
        state->answer(0);
        op.redispatchBoxed(keys.remove(key), stack);
      });
}

Library library(Library::Kind kind, std::optional<Key> key = std::nullopt, const char* ns = "storm") {
  return {kind, ns, key, "storm.cpp", 1};
}

// Calls [op]; with [may_fail], it may be undefined at times.
void callOnce(const OperatorHandle& op, const Tensor& x, int64_t n, bool boxed, bool may_fail) {
  Stack stack;
  try {
    int64_t result = 0;
    if (boxed) {
      push(stack, x, n);
      op.callBoxed(stack);
      result = pop(stack).toInt();
      if (!stack.empty()) fail("a call left something on the stack");
    } else {
      result = op.typed<Count>().call(x, n);
    }
    if (result != n + 1) fail("a call of " + toString(op) + " gave " + std::to_string(result));
  } catch (const Error& error) {
    const std::string_view what = error.what();
    const bool is_gone = what.find("is not defined") != what.npos || what.find("is being defined") != what.npos ||
                         what.find("has defined it since") != what.npos || what.find("redefined") != what.npos ||
                         what.find("was accessed at") != what.npos ||
                         what.find("no kernel is registered for it") != what.npos ||
                         what.find("takes 3 arguments, but the stack holds 2 values") != what.npos;
    if (!may_fail || !is_gone) fail(std::string("a call failed that had a kernel: ") + error.what());
    if (boxed && stack.size() != 2) fail("a call that failed did not leave the stack as it was");
    calls_of_removed.fetch_add(1, std::memory_order_relaxed);
  }
  calls.fetch_add(1, std::memory_order_relaxed);
}

void callMany(int seed) {
  std::mt19937 random(seed);
  const Tensor x = Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float);
  const OperatorHandle steady = Dispatcher::singleton().findSchemaOrThrow("storm::steady", "");
  const OperatorHandle passing = *passing_operator;
  const auto typed = steady.typed<Count>();
  while (!stop.load(std::memory_order_relaxed)) {
    const bool boxed = random() % 2 == 0;
    const auto n = static_cast<int64_t>(random() % 1000);
    switch (random() % 8) {
      case 0: {
        const IncludeDispatchKeyGuard vmap(Key::VmapMode);
        callOnce(steady, x, n, boxed, false);
        break;
      }
      case 1: callOnce(passing, x, n, boxed, true); break;
      case 2: {
        const ModeGuard mode(
            [](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) { op.redispatchBoxed(keys, stack); });
        callOnce(steady, x, n, boxed, false);
        break;
      }
      case 3:
        // Queries that tools make while everything changes.
        static_cast<void>(steady.hasKernelForDispatchKey(Key::CPU));
        static_cast<void>(passing.getTags());
        static_cast<void>(Dispatcher::singleton().findSchema({"storm::passing", ""}));
        static_cast<void>(Dispatcher::singleton().computeTableEntry(steady, Key::CPU));
        break;
      default:
        if (boxed) {
          callOnce(steady, x, n, true, false);
        } else if (typed.call(x, n) != n + 1) {
          fail("a typed call gave a wrong number");
        }
        calls.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

void changeMany(int seed) {
  std::mt19937 random(seed);
  std::vector<Library> kept;
  while (!stop.load(std::memory_order_relaxed)) {
    switch (random() % 8) {
      case 0:
      case 1: {
        Library cpu = library(Library::IMPL, Key::CPU);
        cpu.impl("steady", statefulKernel());
        if (random() % 2 == 0) kept.push_back(std::move(cpu));
        break;
      }
      case 2: {
        Library cpu = library(Library::IMPL, Key::CPU);
        cpu.impl("steady", statefulBoxedKernel());
        if (random() % 2 == 0) kept.push_back(std::move(cpu));
        break;
      }
      case 3: {
        // Use keys that fall through by default, so that they always have a kernel. A key can have only one fallback,
        // and the other thread may have registered it.
        const Key key = random() % 2 == 0 ? Key::VmapMode : Key::BackendSelect;
        try {
          Library fallback = library(Library::IMPL, key, "_");
          fallback.fallback(handlerThatGoesOn(key));
          if (random() % 4 == 0) kept.push_back(std::move(fallback));
        } catch (const Error&) {
        }
        break;
      }
      case 4: {
        // An operator is defined, implemented, called and removed; the other thread may use it, too.
        try {
          Library m = library(Library::FRAGMENT);
          // Sometimes with another number of arguments, unknown to the callers.
          if (random() % 4 == 0) {
            m.def("passing(Tensor x, int n, Tensor y) -> int",
                  [state = std::make_shared<State>()](const Tensor&, int64_t n, const Tensor&) {
                    return state->answer(n);
                  });
          } else {
            m.def("passing(Tensor x, int n) -> int", random() % 2 == 0 ? statefulKernel() : CppFunction(answer));
          }
          std::this_thread::yield();
        } catch (const Error&) {
        }
        break;
      }
      case 5: {
        const CallbackHandle handle = addGlobalCallback(
            RecordFunctionCallback([](const RecordFunction& call) -> std::unique_ptr<ObserverContext> {
              if (call.num_inputs() != 2) fail("an observer was not handed the arguments");
              ++observed;
              return nullptr;
            }).needsInputs(true));
        std::this_thread::yield();
        removeCallback(handle);
        break;
      }
      default:
        if (kept.empty()) break;
        std::swap(kept[random() % kept.size()], kept.back());
        kept.pop_back();
    }
    if (kept.size() > 8) kept.clear();
    replacements.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace

BOXCAR_LIBRARY(storm, m) { m.def("steady(Tensor x, int n) -> int"); }
BOXCAR_LIBRARY_IMPL(storm, CPU, m) { m.impl("steady", BOXCAR_FN(answer)); }
int main(int argc, char** argv) {
  {
    Library m = library(Library::FRAGMENT);
    m.def("passing(Tensor x, int n) -> int");
    passing_operator = Dispatcher::singleton().findSchemaOrThrow("storm::passing", "");
  }
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(callMany, i + 1);
    for (int i = 0; i < 2; ++i) threads.emplace_back(changeMany, i + 101);
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    stop = true;
    for (std::thread& thread : threads) thread.join();
  }
  std::printf("%ld calls (%ld of an operator that was gone), %ld changes, %ld calls observed\n", calls.load(),
              calls_of_removed.load(), replacements.load(), observed.load());
  if (states != 0) fail(std::to_string(states) + " states were never destroyed");
  if (calls == 0 || replacements == 0) fail("nothing happened");
  return failures == 0 ? 0 : 1;
}
