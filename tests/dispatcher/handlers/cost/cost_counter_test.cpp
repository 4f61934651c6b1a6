#include <boxcar/dispatcher/handlers/cost/machine_ceilings.h>
#include <boxcar/dispatcher/registry/operator_cost.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"
#include "tests/dispatcher/handlers/cost/cost_helpers.h"
#include "tests/test_support.h"

namespace boxcar {
namespace {

TEST(CostCounter, APointwiseOperatorIsAnOperationForEachElement) {
  const Tensor x = ones({10, 100});
  const OperatorWork work = workOf("aten::add.Tensor", [&] {
    add(x, x);
    add(x, ones({100}));
  });
  EXPECT_EQ(work.calls, 2U);
  EXPECT_EQ(work.leaves, 2U);
  EXPECT_EQ(work.unknown, 0U);
  EXPECT_EQ(work.flops, 2000);
  EXPECT_EQ(work.bytes, 3 * 4000 + (4000 + 400 + 4000));
}

TEST(CostCounter, WhatIsWrittenInPlaceIsReadToo) {
  const Tensor x = ones({1000});
  Tensor y = ones({1000});
  EXPECT_EQ(workOf("aten::add_.Tensor", [&] { add_(y, x); }).bytes, 12000);
  EXPECT_EQ(workOf("aten::add.out", [&] { add_out(y, x, x); }).bytes, 12000);
  EXPECT_EQ(workOf("aten::add.out", [&] { add_out(y, x, x); }).flops, 1000);
}

TEST(CostCounter, ViewsMoveNothing) {
  const Tensor x = ones({10, 100});
  const OperatorWork work = workOf("aten::t", [&] { t(x); });
  EXPECT_EQ(work.calls, 1U);
  EXPECT_EQ(work.bytes, 0);
  EXPECT_EQ(work.unknown, 0U);
}

TEST(CostCounter, AnExpandedTensorLiesInMemoryOnce) {
  const Tensor row = ones({1, 100});
  const Tensor rows = expand(row, {50, 100});
  EXPECT_EQ(workOf("aten::neg", [&] { neg(rows); }).bytes, 400 + 20000);
}

TEST(CostCounter, WorkBelowIsOfTheOperatorsBelow) {
  Library library = definitions("cost_test");
  library.def("twice(Tensor x) -> Tensor", [](const Tensor& x) { return neg(neg(x)); });
  const Tensor x = ones({100});
  const auto body = [&] { callOp(find("cost_test::twice"), x); };
  const OperatorWork above = workOf("cost_test::twice", body);
  EXPECT_EQ(above.calls, 1U);
  EXPECT_EQ(above.leaves, 0U);
  EXPECT_EQ(above.bytes, 0);
  const OperatorWork below = workOf("aten::neg", body);
  EXPECT_EQ(below.calls, 2U);
  EXPECT_EQ(below.flops, 200);
}

TEST(CostCounter, CallsBelowThatOnlyMakeViewsAndMemoryLeaveTheWorkToTheirCaller) {
  Library library = definitions("cost_test");
  library.def("plus(Tensor x) -> Tensor",
              [](const Tensor& x) {
                Tensor result = empty_like(contiguous(x));
                const Tensor row = view(result, {100});
                for (int i = 0; i < 100; ++i) row.mutable_data_ptr<float>()[i] = 1;
                return result;
              },
              {Tag::pointwise});
  const Tensor x = ones({100});
  const auto body = [&] { callOp(find("cost_test::plus"), x); };
  const OperatorWork work = workOf("cost_test::plus", body);
  EXPECT_EQ(work.leaves, 1U);
  EXPECT_EQ(work.flops, 100);
  EXPECT_EQ(work.bytes, 800);
  EXPECT_EQ(workOf("aten::empty_like", body).bytes, 0);
}

TEST(CostCounter, WhatIsRegisteredGoesBeforeTheEstimate) {
  Library library = definitions("cost_test");
  library.def("known(Tensor x) -> Tensor", [](const Tensor& x) { return Tensor::allocate(x.sizes(), x.dtype()); });
  const RegistrationHandleRAII cost = registerCost("cost_test::known", [](const FinishedCall& call) {
    return OperatorCost{.flops = 7.0 * static_cast<double>(call.results[0].toTensor().numel()), .bytes = {}};
  });
  const Tensor x = ones({100});
  const OperatorWork work = workOf("cost_test::known", [&] { callOp(find("cost_test::known"), x); });
  EXPECT_EQ(work.flops, 700);
  EXPECT_EQ(work.bytes, 800);
}

TEST(CostCounter, WithoutAnythingOnlyTheBytesAreKnown) {
  Library library = definitions("cost_test");
  library.def("unknown(Tensor x) -> Tensor", [](const Tensor& x) { return Tensor::allocate(x.sizes(), x.dtype()); });
  library.def("wrong(Tensor x) -> Tensor", [](const Tensor& x) { return Tensor::allocate(x.sizes(), x.dtype()); });
  const RegistrationHandleRAII cost = registerCost("cost_test::wrong", [](const FinishedCall& call) {
    return OperatorCost{.flops = static_cast<double>(call.results[0].toInt()), .bytes = 1};
  });
  const Tensor x = ones({100});
  for (const char* name : {"cost_test::unknown", "cost_test::wrong"}) {
    const OperatorWork work = workOf(name, [&] { callOp(find(name), x); });
    EXPECT_EQ(work.unknown, 1U) << name;
    EXPECT_EQ(work.bytes, 800) << name;
  }
  CostCounter counter;
  {
    const HandlerGuard on(counter);
    callOp(find("cost_test::unknown"), x);
  }
  const std::string report = counter.finish(false);
  const size_t line = report.find("cost_test::unknown      1  ");
  ASSERT_NE(line, std::string::npos) << report;
  EXPECT_NE(report.substr(line, report.find('\n', line) - line).find("  ?  800 B  "), std::string::npos) << report;
}

TEST(CostCounter, TimeIsLessThatOfTheCallsBelow) {
  Library library = definitions("cost_test");
  library.def("slow(Tensor x) -> Tensor", [](const Tensor& x) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return x;
  });
  library.def("calls_slow(Tensor x) -> Tensor",
              [](const Tensor& x) { return callOp(find("cost_test::slow"), x).back().toTensor(); });
  CostCounter counter;
  {
    const HandlerGuard on(counter);
    callOp(find("cost_test::calls_slow"), ones({1}));
  }
  const std::vector<OperatorWork> work = counter.work();
  ASSERT_GE(work.size(), 2U);
  EXPECT_EQ(work[0].name, "cost_test::slow");
  EXPECT_GE(work[0].time, std::chrono::milliseconds(20));
}

TEST(CostCounter, FailedCallsAreNotCountedAndCloseTheirScope) {
  const Tensor x = ones({2, 2});
  CostCounter counter;
  const HandlerGuard on(counter);
  EXPECT_NE(errorOf([&] { mm(x, ones({3, 3})); }), "no error");
  neg(x);
  for (const OperatorWork& work : counter.work()) EXPECT_NE(work.name, "aten::mm");
  EXPECT_EQ(counter.work().back().calls, 1U);
}

TEST(CostCounter, SeveralAndSeveralThreadsCount) {
  CostCounter outer;
  CostCounter inner;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const Tensor x = ones({10});
      const HandlerGuard outer_on(outer);
      for (int call = 0; call < 25; ++call) neg(x);
      const HandlerGuard inner_on(inner);
      for (int call = 0; call < 25; ++call) neg(x);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(outer.work().at(0).calls, 200U);
  EXPECT_EQ(outer.work().at(0).flops, 2000);
  EXPECT_EQ(inner.work().at(0).calls, 100U);
}

TEST(CostCounter, ReportsATableAndTheCeilings) {
  CostCounter counter;
  {
    const HandlerGuard on(counter);
    const Tensor x = ones({64, 64});
    mm(x, x);
  }
  const std::string report = counter.finish(false);
  EXPECT_TRUE(report.starts_with("cost: one core of this machine does ")) << report;
  EXPECT_NE(report.find("\noperator "), std::string::npos) << report;
  EXPECT_NE(report.find("\naten::mm "), std::string::npos) << report;
  EXPECT_NE(report.find("  524.29 k  48.0 KiB   10.67  "), std::string::npos) << report;
  EXPECT_TRUE(std::regex_search(report, std::regex("\naten::mm .*  [0-9]+%  +(compute|memory|neither|overhead)\n")))
      << report;
  EXPECT_NE(report.find("\ntotal "), std::string::npos) << report;
  EXPECT_EQ(CostCounter().finish(false), "cost: no operator was called\n");
}

TEST(MachineCeilings, AreMeasured) {
  const MachineCeilings& ceilings = machineCeilings();
  EXPECT_GE(ceilings.cores, 1U);
  // Far below what any machine reaches.
  EXPECT_GT(ceilings.flops_of_one, 1e7);
  EXPECT_GT(ceilings.flops_of_all, 1e7);
  EXPECT_GT(ceilings.bytes_of_one, 1e7);
}

}  // namespace
}  // namespace boxcar
