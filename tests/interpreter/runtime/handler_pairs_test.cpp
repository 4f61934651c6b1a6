#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/handlers/trace/tracer.h>
#include <boxcar/interpreter/session/program.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/captured_output.h"
#include "tests/handler_arguments.h"
#include "tests/temporary_folder.h"
#include "tests/test_support.h"

namespace boxcar {
namespace {

// Covers what handlers must handle: output, script operators and modes, writes and views, several results, randomness.
constexpr const char* kProgram = R"(
op pairs::twice(Tensor x) -> Tensor { return x + x }
const seen = []
mode count { seen.append(op.name); return redispatch(op, args) }
x = arange(6, dtype=float32).view(2, 3)
x[0].mul_(10)
a, b = x.unbind(0)
values, indices = (a + b).max(0)
with count { y = pairs::twice(linear(x, ones(2, 3))) }
manual_seed(1)
r = rand(3)
print(values, indices, y, (r + rand(3) > 0).all().item(), len(seen))
)";

constexpr const char* kFailing = R"(
op pairs::product(Tensor x) -> Tensor { return mm(x, x) }
mode watch { return redispatch(op, args, nested=True) } exit { print("closed") }
with watch { x = pairs::product(ones(2, 3)) }
)";

struct Outcome {
  std::string output;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

Outcome outcomeOf(const char* text) {
  Outcome outcome;
  outcome.output = outputOf([&] { outcome.error = errorOf([&] { Program::compile(text, "pairs.ops").run(); }); });
  return outcome;
}

// Runs [text] under the handlers, outermost first.
Outcome outcomeUnder(const std::vector<Handler*>& handlers, const char* text) {
  std::vector<std::unique_ptr<HandlerGuard>> guards;
  for (Handler* handler : handlers) guards.push_back(std::make_unique<HandlerGuard>(*handler));
  Outcome outcome = outcomeOf(text);
  while (!guards.empty()) guards.pop_back();
  return outcome;
}

// Calls [test] for each pair of kinds, outer and inner, including equal ones.
void forEachPair(const std::function<void(const HandlerKind&, const HandlerKind&)>& test) {
  for (const HandlerKind* outer : handlerKinds()) {
    for (const HandlerKind* inner : handlerKinds()) {
      SCOPED_TRACE(fmt::format("{} around {}", outer->name(), inner->name()));
      test(*outer, *inner);
    }
  }
}

class HandlerPairs : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(modeCount(), 0U);
    EXPECT_TRUE(tls_local_dispatch_key_set().included_ == before_.included_);
    EXPECT_TRUE(tls_local_dispatch_key_set().excluded_ == before_.excluded_);
  }

  const TemporaryFolder folder_;
  const LocalDispatchKeySet before_ = tls_local_dispatch_key_set();
};

TEST_F(HandlerPairs, ChangeNothingOfWhatAProgramDoes) {
  const Outcome expected = outcomeOf(kProgram);
  ASSERT_EQ(expected.error, "no error");
  forEachPair([&](const HandlerKind& a, const HandlerKind& b) {
    const auto outer = makeHarmless(a, folder_.path());
    const auto inner = makeHarmless(b, folder_.path());
    const Outcome found = outcomeUnder({outer.get(), inner.get()}, kProgram);
    EXPECT_EQ(found.output, expected.output);
    EXPECT_EQ(found.error, expected.error);
    EXPECT_EQ(modeCount(), 0U);
    inner->finish(false);
    outer->finish(false);
  });
}

// What a handler computes for itself, even at its end, does not belong to the traced run around it.
TEST_F(HandlerPairs, ShowATracerAroundThemTheCallsOfTheProgramAlone) {
  const auto traceAround = [&](Handler* inner) {
    const std::string path = folder_.path() + "/around.ops";
    Tracer tracer(path);
    {
      const HandlerGuard on(tracer);
      if (inner == nullptr) {
        outcomeOf(kProgram);
      } else {
        outcomeUnder({inner}, kProgram);
        inner->finish(false);
      }
    }
    tracer.finish(false);
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  const std::string expected = traceAround(nullptr);
  for (const HandlerKind* kind : handlerKinds()) {
    SCOPED_TRACE(kind->name());
    const std::string found = traceAround(makeHarmless(*kind, folder_.path()).get());
    EXPECT_TRUE(found == expected) << found.substr(0, 2000);
  }
}

TEST_F(HandlerPairs, LetAnErrorThroughAndCloseWhatIsOpen) {
  const Outcome expected = outcomeOf(kFailing);
  ASSERT_NE(expected.error, "no error");
  forEachPair([&](const HandlerKind& a, const HandlerKind& b) {
    const auto outer = makeHarmless(a, folder_.path());
    const auto inner = makeHarmless(b, folder_.path());
    const Outcome found = outcomeUnder({outer.get(), inner.get()}, kFailing);
    EXPECT_EQ(found.output, expected.output);
    EXPECT_EQ(found.error, expected.error);
    EXPECT_EQ(modeCount(), 0U);
    // The failed run leaves nothing behind: the next run is as usual.
    EXPECT_EQ(outcomeUnder({outer.get(), inner.get()}, kProgram), outcomeOf(kProgram));
    inner->finish(true);
    outer->finish(true);
  });
}

TEST_F(HandlerPairs, ServeTwoThreadsAtOnce) {
  constexpr const char* kSilent = "x = ones(3)\nfor i in range(20) { x.add_(i); y = x.view(3, 1) @ x.view(1, 3) }\n";
  forEachPair([&](const HandlerKind& a, const HandlerKind& b) {
    const auto outer = makeHarmless(a, folder_.path());
    const auto inner = makeHarmless(b, folder_.path());
    std::string errors[2];
    std::vector<std::thread> threads;
    for (std::string& error : errors) {
      threads.emplace_back([&] {
        error = errorOf([&] {
          const HandlerGuard first(*outer);
          const HandlerGuard second(*inner);
          Program::compile(kSilent, "pairs.ops").run();
        });
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(errors[0], "no error");
    EXPECT_EQ(errors[1], "no error");
    inner->finish(false);
    outer->finish(false);
  });
}

}  // namespace
}  // namespace boxcar
