#include <boxcar/dispatcher/call/script_view.h>
#include <boxcar/dispatcher/handlers/profile/call_paths.h>
#include <boxcar/dispatcher/handlers/profile/profiler.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/interpreter/session/program.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/dispatcher/handlers/profile/profile_rows.h"
#include "tests/interpreter/script_helpers.h"

namespace boxcar::interp {
namespace {

// Defines an operator view::note() that calls [noted].
Library noting(std::function<void()> noted) {
  Library m(Library::FRAGMENT, "view", std::nullopt, "test.cpp", 1);
  m.def("note() -> ()", [noted = std::move(noted)] { noted(); });
  return m;
}

std::string pathText() {
  std::string text;
  for (const CallFrame& frame : currentCallPath())
    text += fmt::format("{}@{} ", frame.function.empty() ? "file" : frame.function, frame.site.line);
  return text;
}

TEST(CallPath, HasTheFunctionsAndOperatorsThatLeadToACall) {
  std::vector<std::string> paths;
  const Library m = noting([&] { paths.push_back(pathText()); });
  const Program program = Program::compile(
      "fn inner() -> () {\n    view::note()\n}\n"
      "op view::outer(int n) -> () {\n    inner()\n    for i in range(n) { view::note() }\n}\n"
      "view::outer(1)\ninner()\nview::note()\n",
      "test.ops");
  program.run();
  EXPECT_EQ(paths, (std::vector<std::string>{"file@8 view::outer@5 inner@2 ", "file@8 view::outer@6 ",
                                             "file@9 inner@2 ", "file@10 "}));
  EXPECT_EQ(pathText(), "");
}

TEST(CallPaths, NumberAWayOnceHoweverOftenItIsTakenOrTheScriptIsLoaded) {
  detail::CallPaths paths;
  std::vector<uint32_t> numbers;
  const Library m = noting([&] { numbers.push_back(paths.current()); });
  const auto runOnce = [] {
    outputOf(
        "fn f(int n) -> () {\n    view::note()\n    if n > 0 { f(n - 1) }\n}\nf(2)\nf(0)\nfor i in range(2) { f(0) "
        "}\n");
  };
  runOnce();
  const std::vector<uint32_t> first = numbers;
  ASSERT_EQ(first.size(), 6U);
  EXPECT_EQ(first[4], first[5]);
  EXPECT_EQ(std::set<uint32_t>(first.begin(), first.end()).size(), 5U) << "by line of each caller";
  const auto& nodes = paths.nodes();
  EXPECT_EQ(nodes[first[0]].frame.function, "f");
  EXPECT_EQ(nodes[first[0]].frame.site.text, "view::note()");
  EXPECT_EQ(nodes[nodes[first[2]].parent].frame.site.line, 3U) << "a function that calls itself";
  const size_t count = nodes.size();
  for (int i = 0; i < 20; ++i) {
    numbers.clear();
    // Another script, whose code may get the address of the first one's.
    outputOf(fmt::format("{}view::note()\n", std::string(static_cast<size_t>(i), '\n')));
    ASSERT_EQ(numbers.size(), 1U);
    EXPECT_EQ(nodes[numbers[0]].frame.site.line, static_cast<uint32_t>(i + 1));
  }
  const size_t with_others = nodes.size();
  EXPECT_LE(with_others, count + 20);
  numbers.clear();
  runOnce();
  EXPECT_EQ(numbers, first);
  EXPECT_EQ(nodes.size(), with_others);
  EXPECT_EQ(paths.current(), detail::CallPaths::kNone);
}

TEST(CallPaths, DeepRecursionsKeepTheirInnermostCalls) {
  detail::CallPaths paths;
  uint32_t number = 0;
  const Library m = noting([&] { number = paths.current(); });
  outputOf("fn f(int n) -> () {\n    if n > 0 { f(n - 1) } else {\n        view::note()\n    }\n}\nf(500)\n");
  EXPECT_EQ(paths.nodes()[number].frame.site.line, 3U);
  EXPECT_LE(paths.nodes().size(), 65U);
}

TEST(KeyInScript, IsThatOfADictThatAFunctionOrAConstantHolds) {
  std::vector<std::string> keys;
  Library m(Library::FRAGMENT, "view", std::nullopt, "test.cpp", 1);
  m.def("key(Tensor x) -> ()", [&](const Tensor& x) { keys.push_back(keyInScript(x)); });
  outputOf(
      "const shared = {\"constant\": ones(1)}\n"
      "fn f(Tensor x) -> () {\n    view::key(x)\n}\n"
      "net = {\"layer.0\": {\"weight\": ones(2), \"bias\": ones(1)}}\n"
      "f(net[\"layer.0\"][\"weight\"])\nf(ones(2))\nf(shared[\"constant\"])\nprint(len(net))\n");
  EXPECT_EQ(keys, (std::vector<std::string>{"layer.0.weight", "", "constant"}));
  EXPECT_EQ(keyInScript(Tensor::allocate(std::vector<int64_t>{1}, ScalarType::Float)), "");
}

TEST(KeyInScript, OfATensorInAListStartsWithTheNameOfTheConstantOrTheKeyOfTheDict) {
  std::vector<std::string> keys;
  Library m(Library::FRAGMENT, "view", std::nullopt, "test.cpp", 1);
  m.def("key(Tensor x) -> ()", [&](const Tensor& x) { keys.push_back(keyInScript(x)); });
  outputOf(
      "const alone = ones(1)\nconst pair = (ones(1), [ones(1)])\nconst net = {\"layers\": [{\"w\": ones(1)}]}\n"
      "fn f(Tensor x) -> () {\n    view::key(x)\n}\n"
      "f(alone)\nf(pair[0])\nf(pair[1][0])\nf(net[\"layers\"][0][\"w\"])\nlocal = [ones(1)]\nf(local[0])\n");
  EXPECT_EQ(keys, (std::vector<std::string>{"alone", "pair.0", "pair.1.0", "layers.0.w", ""}));
}

TEST(ProfileOfAScript, LinesAndFunctionsCountCallsThatTheTimeLineHasNoRoomFor) {
  const std::string script =
      "fn block(Tensor x) -> Tensor {\n    return relu(x)\n}\nx = ones(3)\nfor i in range(500) { x = block(x) }\n";
  for (const size_t most_calls : {size_t{16}, size_t{1} << 14}) {
    for (const ProfileBy by : {ProfileBy::Line, ProfileBy::Function}) {
      Profiler profiler({.table = {.by = by}, .most_calls = most_calls});
      {
        const HandlerGuard on(profiler);
        outputOf(script);
      }
      const std::string table = profiler.finish(false);
      const std::vector<std::string> inner = rowOf(table, by == ProfileBy::Line ? "test.ops:2" : "block (test.ops)");
      ASSERT_GE(inner.size(), 7U) << table;
      EXPECT_EQ(inner[6], "500") << table;
      const std::vector<std::string> outer = rowOf(table, by == ProfileBy::Line ? "test.ops:5" : "test.ops");
      ASSERT_GE(outer.size(), 7U) << table;
      EXPECT_EQ(outer[6], by == ProfileBy::Line ? "0" : "1") << table;
      // The line that calls the function has the function's time, too.
      EXPECT_GE(std::stod(outer[3]), by == ProfileBy::Line ? std::stod(inner[3]) : 99.9) << table;
    }
  }
}

TEST(ProfileOfAScript, CallsOfAProgramHaveARowOfTheirOwn) {
  const Library m = noting([] {});
  Profiler profiler({.table = {.by = ProfileBy::Line}});
  {
    const HandlerGuard on(profiler);
    Stack stack;
    Dispatcher::singleton().findSchemaOrThrow("view::note", "").callBoxed(stack);
  }
  const std::vector<std::string> row = rowOf(profiler.finish(false), "(no script)");
  ASSERT_GE(row.size(), 7U);
  EXPECT_EQ(row[6], "1");
}

}  // namespace
}  // namespace boxcar::interp
