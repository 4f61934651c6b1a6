#include <boxcar/dispatcher/call/dispatch_trace.h>
#include <boxcar/dispatcher/handlers/fault/denier.h>
#include <boxcar/dispatcher/handlers/profile/profiler.h>
#include <boxcar/dispatcher/handlers/trace/tracer.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"
#include "tests/dispatcher/handlers/profile/profile_rows.h"
#include "tests/temporary_folder.h"

namespace boxcar {
namespace {

using Json = nlohmann::json;
using Key = DispatchKey;

Tensor tensorOf(std::vector<int64_t> sizes, ScalarType dtype = ScalarType::Float) {
  return Tensor::allocate(sizes, dtype);
}

// Operators `prof::leaf`, which allocates 400 bytes, `prof::twice`, a composite that calls it twice, and `prof::fails`.
class ProfilerTest : public ::testing::Test {
 protected:
  ProfilerTest() {
    m_.def("leaf(Tensor x) -> Tensor");
    m_.def("twice(Tensor x) -> Tensor", [](const Tensor& x) {
      const auto leaf = find("prof::leaf").typed<Tensor(const Tensor&)>();
      return leaf.call(leaf.call(x));
    });
    m_.def("fails(Tensor x) -> Tensor", [](const Tensor& x) -> Tensor {
      find("prof::leaf").typed<Tensor(const Tensor&)>().call(x);
      throw std::runtime_error("it failed");
    });
    m_.def("takes(Tensor[] xs, Tensor? y, int n, Tensor?[] zs) -> ()",
           [](TensorList, const std::optional<Tensor>&, int64_t, const List<std::optional<Tensor>>&) {});
    cpu_.impl("leaf", [](const Tensor&) { return tensorOf({100}); });
  }

  std::string tracePath() const { return folder_ / "trace.json"; }
  // Returns the operator calls in the trace.
  std::vector<Json> events() const {
    std::vector<Json> events;
    const Json whole = trace();
    for (const Json& event : whole["traceEvents"]) {
      if (event["ph"] == "X") events.push_back(event);
    }
    return events;
  }
  Json trace() const { return Json::parse(folder_.read("trace.json")); }
  std::string profiled(auto&& body, ProfilerOptions options = {}) {
    options.trace = tracePath();
    Profiler profiler(options);
    {
      const HandlerGuard on(profiler);
      body();
    }
    return profiler.finish(false);
  }

  TemporaryFolder folder_;
  Tensor x_ = tensorOf({2, 3});

 private:
  Library m_ = definitions("prof");
  Library cpu_ = implementations(Key::CPU, "prof");
};

std::vector<std::string> namesOf(const std::vector<Json>& events) {
  std::vector<std::string> names;
  for (const Json& event : events) names.push_back(event["name"]);
  return names;
}

// Converts a time of the trace, in microseconds with three decimals, to nanoseconds.
int64_t nanoseconds(const Json& microseconds) { return std::llround(microseconds.get<double>() * 1000); }

TEST_F(ProfilerTest, TellsOfEveryCallAndOfThoseInIt) {
  profiled([&] { callOp(find("prof::twice"), x_); });
  const std::vector<Json> calls = events();
  ASSERT_EQ(namesOf(calls), (std::vector<std::string>{"prof::twice", "prof::leaf", "prof::leaf"}));
  EXPECT_EQ(calls[0]["args"]["bytes"], 800);
  EXPECT_EQ(calls[0]["args"]["self bytes"], 0);
  EXPECT_EQ(calls[1]["args"]["bytes"], 400);
  EXPECT_EQ(calls[1]["args"]["self bytes"], 400);
  EXPECT_EQ(calls[0]["args"]["key"], "CPU");
  EXPECT_EQ(calls[1]["args"]["shapes"], Json({"[2, 3]"}));
  EXPECT_EQ(calls[2]["args"]["shapes"], Json({"[100]"}));
  EXPECT_EQ(calls[1]["args"]["dtypes"], Json({"float32"}));
}

TEST_F(ProfilerTest, KeyIsTheOneWhoseKernelRuns) {
  Library m = definitions("prof");
  m.def("graded(Tensor x) -> Tensor");
  Library autograd = implementations(Key::Autograd, "prof");
  Library cpu = implementations(Key::CPU, "prof");
  cpu.impl("graded", [](const Tensor& x) { return x; });
  Tensor graded = tensorOf({2});
  graded.set_requires_grad(true);
  autograd.impl("graded", KernelFunction::makeFallthrough());
  profiled([&] { callOp(find("prof::graded"), graded); });
  EXPECT_EQ(events().at(0)["args"]["key"], "CPU") << "a fallthrough is passed over";
  autograd.impl("graded", [](DispatchKeySet keys, const Tensor& x) {
    return find("prof::graded").typed<Tensor(const Tensor&)>().redispatch(keys & after_autograd_keyset, x);
  });
  profiled([&] {
    callOp(find("prof::graded"), graded);
    callOp(find("prof::graded"), x_);
  });
  EXPECT_EQ(events().at(0)["args"]["key"], "AutogradCPU");
  EXPECT_EQ(events().at(1)["args"]["key"], "CPU") << "the redispatch is no call, and the next one requires no grad";
}

TEST_F(ProfilerTest, KeyIsThatBelowATracer) {
  Tracer tracer(tracePath() + ".ops");
  const HandlerGuard on(tracer);
  profiled([&] { callOp(find("prof::leaf"), x_); });
  EXPECT_EQ(events().at(0)["args"]["key"], "CPU");
  Library at_tracer = implementations(Key::Tracer, "prof");
  at_tracer.impl("leaf", [](const Tensor& x) { return x; });
  profiled([&] { callOp(find("prof::leaf"), x_); });
  EXPECT_EQ(events().at(0)["args"]["key"], "Tracer") << "a kernel of the operator";
}

TEST_F(ProfilerTest, TraceFollowsTheRulesOfTheFormat) {
  const auto work = [&] {
    for (int i = 0; i < 50; ++i) callOp(find("prof::twice"), x_);
  };
  ProfilerOptions options{.trace = tracePath()};
  Profiler profiler(options);
  {
    const HandlerGuard on(profiler);
    work();
    std::thread([&] {
      const HandlerGuard on_thread(profiler);
      work();
    }).join();
  }
  profiler.finish(false);

  const Json whole = trace();
  std::map<int, std::string> thread_names;
  std::map<int, std::vector<int64_t>> open;  // the end times of open events, by thread
  std::map<int, int> counts;
  int64_t before = 0;
  for (const Json& event : whole["traceEvents"]) {
    ASSERT_TRUE(event["pid"].is_number_integer() && event["tid"].is_number_integer()) << event;
    const int thread = event["tid"];
    if (event["ph"] == "M") {
      EXPECT_EQ(event["name"], "thread_name");
      thread_names[thread] = event["args"]["name"];
      continue;
    }
    ASSERT_EQ(event["ph"], "X") << event;
    ASSERT_TRUE(event["ts"].is_number() && event["dur"].is_number() && event["name"].is_string()) << event;
    const int64_t start = nanoseconds(event["ts"]);
    const int64_t end = start + nanoseconds(event["dur"]);
    EXPECT_GE(start, before) << "sorted";
    EXPECT_GE(end, start);
    before = start;
    std::vector<int64_t>& ends = open[thread];
    while (!ends.empty() && ends.back() <= start) ends.pop_back();
    EXPECT_TRUE(ends.empty() || end <= ends.back()) << "inside of the call that made it: " << event;
    ends.push_back(end);
    ++counts[thread];
  }
  EXPECT_EQ(counts, (std::map<int, int>{{1, 150}, {2, 150}}));
  ASSERT_EQ(thread_names.size(), 2U);
  EXPECT_TRUE(thread_names[2].starts_with("thread 2 (")) << thread_names[2];
  EXPECT_EQ(whole["otherData"]["calls"], 300);
  EXPECT_EQ(whole["otherData"]["calls left out"], 0);
}

TEST_F(ProfilerTest, CallThatThrowsIsClosedAndMarked) {
  profiled([&] {
    EXPECT_EQ(errorOf([&] { callOp(find("prof::fails"), x_); }), "prof::fails() failed: it failed");
    callOp(find("prof::leaf"), x_);
  });
  const std::vector<Json> calls = events();
  ASSERT_EQ(namesOf(calls), (std::vector<std::string>{"prof::fails", "prof::leaf", "prof::leaf"}));
  EXPECT_EQ(calls[0]["args"].value("failed", false), true);
  EXPECT_FALSE(calls[1]["args"].contains("failed"));
  EXPECT_FALSE(calls[2]["args"].contains("failed"));
  EXPECT_GE(nanoseconds(calls[2]["ts"]), nanoseconds(calls[0]["ts"]) + nanoseconds(calls[0]["dur"]))
      << "not inside of the one that failed";
}

TEST_F(ProfilerTest, ShapesAreThoseOfAllTensorsAndCutWhereThereAreMany) {
  const List<Tensor> list{tensorOf({1}), tensorOf({2}, ScalarType::Long)};
  const List<std::optional<Tensor>> optionals{std::nullopt, tensorOf({4})};
  const List<Tensor> many{x_, x_, x_, x_, x_};
  profiled([&] {
    callOp(find("prof::takes"), list, tensorOf({3, 0}), 7, optionals);
    callOp(find("prof::takes"), many, IValue(), 7, optionals);
    callOp(find("prof::leaf"), tensorOf(std::vector<int64_t>(20, 1)));
    callOp(find("prof::leaf"), tensorOf({}));
  });
  const std::vector<Json> calls = events();
  ASSERT_EQ(calls.size(), 4U);
  EXPECT_EQ(calls[0]["args"]["shapes"], Json({"[1]", "[2]", "[3, 0]", "[4]"}));
  EXPECT_EQ(calls[0]["args"]["dtypes"], Json({"float32", "int64", "float32", "float32"}));
  EXPECT_EQ(calls[1]["args"]["shapes"], Json({"[2, 3]", "[2, 3]", "[2, 3]", "[2, 3]", "…"}));
  EXPECT_EQ(calls[2]["args"]["shapes"], Json({"[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, …]"}));
  EXPECT_EQ(calls[3]["args"]["shapes"], Json({"[]"}));
}

TEST_F(ProfilerTest, TableCountsCallsThatTheTimeLineHasNoRoomFor) {
  const std::string table = profiled(
      [&] {
        for (int i = 0; i < 1000; ++i) callOp(find("prof::twice"), x_);
      },
      {.most_calls = 64});
  EXPECT_EQ(events().size(), 64U);
  EXPECT_EQ(trace()["otherData"]["calls left out"], 2936);
  EXPECT_EQ(rowOf(table, "prof::leaf").at(7), "2000");
  EXPECT_EQ(rowOf(table, "prof::leaf").at(6), "781.25 Kb");
  EXPECT_EQ(rowOf(table, "prof::twice").at(7), "1000");
  EXPECT_EQ(rowOf(table, "prof::twice").at(6), "0 b");
  EXPECT_NE(table.find("The time line lacks the first 2936 calls, because there was no room; the table counts them"),
            std::string::npos)
      << table;
}

TEST_F(ProfilerTest, SharesOfAllOperatorsMakeAHundredPercent) {
  const std::string table = profiled([&] {
    for (int i = 0; i < 20; ++i) callOp(find("prof::twice"), x_);
  });
  const double leaf = std::stod(rowOf(table, "prof::leaf").at(1));
  const double twice = std::stod(rowOf(table, "prof::twice").at(1));
  EXPECT_NEAR(leaf + twice, 100.0, 0.02);
  EXPECT_EQ(rowOf(table, "prof::twice").at(3), "100.00%");
}

TEST_F(ProfilerTest, TableIsSortedAndCutAsAsked) {
  const auto calls = [&] {
    for (int i = 0; i < 5; ++i) callOp(find("prof::twice"), x_);
  };
  const auto firstRow = [](const std::string& table) {
    const size_t second = table.find('\n') + 1;
    return table.substr(second, table.find(' ', second) - second);
  };
  EXPECT_EQ(firstRow(profiled(calls, {.table = {.sort = ProfileSort::Calls}})), "prof::leaf");
  EXPECT_EQ(firstRow(profiled(calls, {.table = {.sort = ProfileSort::Memory}})), "prof::leaf");
  EXPECT_EQ(firstRow(profiled(calls, {.table = {.sort = ProfileSort::Name}})), "prof::leaf");
  EXPECT_EQ(firstRow(profiled(calls, {.table = {.sort = ProfileSort::Total}})), "prof::twice");
  EXPECT_EQ(firstRow(profiled(calls, {.table = {.sort = ProfileSort::Average}})), "prof::twice");
  const std::string cut = profiled(calls, {.table = {.sort = ProfileSort::Calls, .limit = 1}});
  EXPECT_NE(cut.find("\n… and 1 more\n"), std::string::npos) << cut;
  EXPECT_EQ(rowOf(cut, "prof::twice"), std::vector<std::string>{});
}

TEST_F(ProfilerTest, RowsByShapeTellShapesApart) {
  const std::string table = profiled(
      [&] {
        callOp(find("prof::leaf"), x_);
        callOp(find("prof::leaf"), tensorOf({7}));
        callOp(find("prof::leaf"), tensorOf({7}));
      },
      {.table = {.sort = ProfileSort::Calls, .by = ProfileBy::Shape}});
  const std::vector<std::string> row = rowOf(table, "prof::leaf");
  EXPECT_EQ(row.at(7), "2");
  EXPECT_EQ(row.at(8), "[7]");
  EXPECT_TRUE(std::regex_search(table, std::regex("1  \\[2, 3\\]\n"))) << table;
}

TEST_F(ProfilerTest, LogsOutliveTheirThreads) {
  Profiler profiler;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const HandlerGuard on(profiler);
      for (int n = 0; n < 25; ++n) callOp(find("prof::leaf"), x_);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string table = profiler.finish(false);
  EXPECT_EQ(rowOf(table, "prof::leaf").at(7), "100");
  EXPECT_NE(table.find("; of 4 threads together: "), std::string::npos) << table;
}

TEST_F(ProfilerTest, ThreadMaySwitchItOnAgainAndAgain) {
  Profiler profiler({.trace = tracePath()});
  for (int i = 0; i < 3; ++i) {
    const HandlerGuard on(profiler);
    const HandlerGuard once_more(profiler);
    callOp(find("prof::leaf"), x_);
  }
  callOp(find("prof::leaf"), x_);
  EXPECT_EQ(rowOf(profiler.finish(false), "prof::leaf").at(7), "3") << "each once, and none while it was off";
  EXPECT_EQ(events().at(0)["tid"], 1);
  EXPECT_EQ(events().at(2)["tid"], 1);
}

TEST_F(ProfilerTest, NestsWithOtherHandlers) {
  Denier denier("prof::leaf");
  Profiler inner;
  Profiler outer;
  {
    const HandlerGuard outer_on(outer);
    const HandlerGuard denier_on(denier);
    const HandlerGuard inner_on(inner);
    EXPECT_EQ(errorOf([&] { callOp(find("prof::twice"), x_); }),
              "prof::leaf is denied by the pattern 'prof::leaf': call another operator, or run without deny");
  }
  EXPECT_EQ(rowOf(outer.finish(true), "prof::leaf"), std::vector<std::string>{}) << "the denier is further in";
  EXPECT_EQ(rowOf(inner.finish(true), "prof::leaf").at(7), "1");
}

TEST_F(ProfilerTest, MeasuresWhatCallsCostUnseenByOthers) {
  int seen = 0;
  std::string table;
  const ModeGuard count([&seen](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    ++seen;
    op.redispatchBoxed(keys, stack);
  });
  table = profiled([&] { callOp(find("prof::leaf"), x_); });
  EXPECT_EQ(seen, 1);
  EXPECT_TRUE(
      std::regex_search(table, std::regex("\nDispatch: about \\S+ \\(\\d+\\.\\d%\\), an estimate: \\d+ ns a call, "
                                          "measured here on an operator that does nothing\n")))
      << table;
  EXPECT_TRUE(std::regex_search(table, std::regex("\nThe profiler itself: about \\S+ \\(\\d+\\.\\d%\\), an estimate: "
                                                  "\\d+ ns a call beside these\n")))
      << table;
  EXPECT_EQ(modeCount(), 1U);
  callOp(find("prof::leaf"), x_);
  EXPECT_EQ(seen, 2) << "the thread's modes are back";
}

TEST_F(ProfilerTest, MeasuresNothingWhileCallsAreWatched) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  setDispatchTraceEnabled(true);
  const std::string table = profiled([&] { callOp(find("prof::leaf"), x_); });
  setDispatchTraceEnabled(false);
  const std::string lines = testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
  EXPECT_EQ(lines.find("_profiler"), std::string::npos) << lines;
  EXPECT_NE(lines.find("prof::leaf"), std::string::npos) << lines;
  EXPECT_EQ(table.find("Dispatch: about"), std::string::npos) << table;
}

TEST_F(ProfilerTest, PageHasTheDataAndNothingThatEndsItsScript) {
  Profiler profiler({.page = folder_ / "page.html"});
  {
    const HandlerGuard on(profiler);
    callOp(find("prof::twice"), x_);
  }
  profiler.finish(false);
  const std::string page = folder_.read("page.html");
  const std::string opening = "<script type=\"application/json\" id=\"data\">";
  const size_t start = page.find(opening) + opening.size();
  const Json data = Json::parse(page.substr(start, page.find("</script>", start) - start));
  EXPECT_EQ(data["names"], Json({"prof::twice", "prof::leaf"}));
  EXPECT_EQ(data["details"], Json({"CPU\n[2, 3]\nfloat32", "CPU\n[100]\nfloat32"}));
  EXPECT_EQ(data["threads"][0]["calls"].size(), 21U);
  EXPECT_EQ(data["calls"], 3);
  EXPECT_TRUE(page.ends_with("</html>\n"));
}

TEST_F(ProfilerTest, FilesAreOpenedBeforeTheRunAndWrittenAfterIt) {
  EXPECT_EQ(errorOf([&] { Profiler({.trace = folder_ / "missing/trace.json"}); }),
            "cannot write '" + (folder_ / "missing/trace.json") + "': No such file or directory");
  EXPECT_EQ(errorOf([&] { Profiler({.trace = tracePath(), .page = tracePath()}); }),
            "the trace and the page of a profile cannot both be written to '" + tracePath() +
                "': give each a name of its own");
  { Profiler unfinished({.trace = tracePath()}); }
  EXPECT_EQ(folder_.count(""), 0U);
}

TEST_F(ProfilerTest, RunWithoutCallsHasNoTable) {
  const std::string table = profiled([] {});
  EXPECT_TRUE(
      std::regex_match(table, std::regex("No operator was called\nWall time of the run: \\S+\nIn operators: 0ns "
                                         "\\(0\\.0%\\), in 0 calls\n")))
      << table;
  EXPECT_EQ(events().size(), 0U);
}

TEST_F(ProfilerTest, WhatNeverRanIsNotWritten) {
  {
    Profiler profiler({.trace = tracePath()});
    EXPECT_EQ(profiler.finish(true), "");
  }
  EXPECT_EQ(folder_.count(""), 0U);
}

TEST_F(ProfilerTest, RunThatFailedIsToldSo) {
  Profiler profiler;
  {
    const HandlerGuard on(profiler);
    callOp(find("prof::leaf"), x_);
  }
  EXPECT_TRUE(profiler.finish(true).ends_with("\nThe run failed; this is what ran until then\n"));
}

TEST_F(ProfilerTest, KindWritesATraceOrAPageByTheName) {
  EXPECT_EQ(findHandlerKind("profile"), &kProfileKind);
  for (const char* name : {"made.json", "made.html"}) {
    const IValue path(folder_ / name);
    const std::unique_ptr<Handler> handler = kProfileKind.make(std::span(&path, 1));
    {
      const HandlerGuard on(*handler);
      callOp(find("prof::leaf"), x_);
    }
    handler->finish(false);
  }
  EXPECT_TRUE(folder_.read("made.json").starts_with("{\"displayTimeUnit\""));
  EXPECT_TRUE(folder_.read("made.html").starts_with("<!DOCTYPE html>"));
  // Without a file there is only the table.
  const IValue nothing("");
  const std::unique_ptr<Handler> handler = kProfileKind.make(std::span(&nothing, 1));
  {
    const HandlerGuard on(*handler);
    callOp(find("prof::leaf"), x_);
  }
  EXPECT_NE(handler->finish(false).find("prof::leaf"), std::string::npos);
}

}  // namespace
}  // namespace boxcar
