#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/dispatcher/handlers/memory/memory_tracker.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

constexpr uint64_t kThousandFloats = 4000;

TEST(MemoryTracker, CountsWhatOperatorsAllocateAndFree) {
  MemoryTracker tracker;
  {
    const HandlerGuard on(tracker);
    const Tensor x = ones({1000});
    EXPECT_EQ(tracker.liveBytes(), kThousandFloats);
    {
      const Tensor y = relu(x);
      EXPECT_EQ(tracker.liveBytes(), 2 * kThousandFloats);
    }
    EXPECT_EQ(tracker.liveBytes(), kThousandFloats);
    EXPECT_EQ(tracker.peakBytes(), 2 * kThousandFloats);
  }
  EXPECT_EQ(tracker.finish(false),
            "memory: at most 7.8 KiB at once, reached outside of a script; 0 B in 0 storages still live at the end\n"
            "operator                   calls  allocated    freed  live at the end  live at the peak\n"
            "aten::empty.memory_format      1    3.9 KiB  3.9 KiB              0 B           3.9 KiB\n"
            "aten::relu                     1    3.9 KiB  3.9 KiB              0 B           3.9 KiB\n"
            "total                          4    7.8 KiB  7.8 KiB              0 B           7.8 KiB\n");
}

TEST(MemoryTracker, PartsOfThePeakAreOfItsMoment) {
  Library library = definitions("memory_test");
  library.def("small() -> Tensor", [] { return Tensor::allocate(std::vector<int64_t>{100}, ScalarType::Byte); });
  library.def("large() -> Tensor", [] { return Tensor::allocate(std::vector<int64_t>{900}, ScalarType::Byte); });
  const auto call = [](const char* name) { return callOp(find(name)).back().toTensor(); };
  MemoryTracker tracker;
  {
    const HandlerGuard on(tracker);
    std::optional<Tensor> first = call("memory_test::small");
    {
      const Tensor second = call("memory_test::small");
      const Tensor third = call("memory_test::large");  // the peak: 100 + 100 + 900
    }
    first.reset();
    const Tensor last = call("memory_test::large");
  }
  const std::string report = tracker.finish(false);
  EXPECT_NE(report.find("memory: at most 1.1 KiB at once"), std::string::npos) << report;
  EXPECT_NE(report.find("memory_test::large      2    1.8 KiB  1.8 KiB              0 B             900 B\n"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find("memory_test::small      2      200 B    200 B              0 B             200 B\n"),
            std::string::npos)
      << report;
}

TEST(MemoryTracker, NamesWhatStillLivesByOperatorAndPlace) {
  MemoryTracker tracker;
  std::vector<Tensor> kept;
  {
    const HandlerGuard on(tracker);
    for (int i = 0; i < 3; ++i) kept.push_back(relu(Tensor::allocate(std::vector<int64_t>{10}, ScalarType::Float)));
  }
  const std::string report = tracker.finish(false);
  EXPECT_NE(report.find("still live at the end, by what allocated it:\n"
                        "  120 B in 3 storages: aten::relu outside of a script\n"),
            std::string::npos)
      << report;
}

TEST(MemoryTracker, AResizedStorageIsFreedAndComesAgain) {
  MemoryTracker tracker;
  {
    const HandlerGuard on(tracker);
    const Tensor x = ones({1000});
    x.storage()->resize(8000);
    EXPECT_EQ(tracker.liveBytes(), 8000U);
  }
  EXPECT_EQ(tracker.liveBytes(), 0U);
  const std::string report = tracker.finish(false);
  EXPECT_NE(report.find("(no operator)                  -    7.8 KiB   7.8 KiB"), std::string::npos) << report;
}

TEST(MemoryTracker, CountsThreadsThatHaveItOnAndWhatOthersFree) {
  MemoryTracker tracker;
  Tensor from_thread;
  {
    const HandlerGuard on(tracker);
    const Tensor here = ones({1000});
    std::thread([&] {
      const Tensor not_counted = ones({1000});
      const HandlerGuard thread_on(tracker);
      from_thread = ones({1000});
    }).join();
    EXPECT_EQ(tracker.liveBytes(), 2 * kThousandFloats);
  }
  EXPECT_EQ(tracker.liveBytes(), kThousandFloats);
  std::thread([gone = std::move(from_thread)] {}).join();
  EXPECT_EQ(tracker.liveBytes(), 0U);
  EXPECT_EQ(tracker.finish(false).find("still live at the end, by"), std::string::npos);
}

TEST(MemoryTracker, SeveralCountEachForItself) {
  MemoryTracker outer;
  MemoryTracker inner;
  const HandlerGuard outer_on(outer);
  const Tensor x = ones({1000});
  {
    const HandlerGuard inner_on(inner);
    const Tensor y = relu(x);
    EXPECT_EQ(inner.liveBytes(), kThousandFloats);
    EXPECT_EQ(outer.liveBytes(), 2 * kThousandFloats);
  }
  const Tensor z = relu(x);
  EXPECT_EQ(inner.peakBytes(), kThousandFloats);
  EXPECT_EQ(outer.liveBytes(), 2 * kThousandFloats);
}

TEST(MemoryTracker, ForeignMemoryIsNotCounted) {
  MemoryTracker tracker;
  {
    const HandlerGuard on(tracker);
    int bytes = 0;
    const Storage storage = StorageImpl::wrap(&bytes, sizeof(bytes), Device(DeviceType::CPU), nullptr, nullptr);
  }
  EXPECT_EQ(tracker.finish(false),
            "memory: nothing was allocated; 0 B in 0 storages still live at the end\n"
            "operator  calls  allocated  freed  live at the end  live at the peak\n"
            "total         0        0 B    0 B              0 B               0 B\n");
}

TEST(MemoryTracker, TheCopiesOfCheckersDoNotCount) {
  for (const char* kind : {"check_schema", "check_meta", "check_nan"}) {
    const std::unique_ptr<Handler> checker = findHandlerKind(kind)->make({});
    for (const bool is_outside : {true, false}) {
      const Tensor x = ones({100});
      MemoryTracker tracker;
      {
        const HandlerGuard outer(is_outside ? static_cast<Handler&>(tracker) : *checker);
        const HandlerGuard inner(is_outside ? *checker : static_cast<Handler&>(tracker));
        Tensor y = add(x, x);
        neg_(y);
      }
      EXPECT_EQ(tracker.peakBytes(), 400U) << kind << is_outside;
    }
  }
}

TEST(MemoryTracker, OperatorsThatFailAreClosed) {
  MemoryTracker tracker;
  const HandlerGuard on(tracker);
  const Tensor x = ones({2, 2});
  EXPECT_THROW(mm(x, ones({3, 3})), Error);
  // Allocations from here on belong to no operator.
  const Storage storage = StorageImpl::allocate(2000, Device(DeviceType::CPU));
  EXPECT_NE(tracker.finish(true).find("  2.0 KiB in 1 storage: (no operator) outside of a script\n"),
            std::string::npos);
}

// Returns the part of [report] about storages that still live.
std::string remainsOf(const std::string& report) {
  const size_t begin = report.find("still live at the end, by");
  return begin == std::string::npos ? "" : report.substr(begin);
}

TEST(MemoryTracker, AScriptThatIsGoneHasNoLeaks) {
  MemoryTracker tracker;
  {
    const Program program = Program::compile(
        "const kept = [ones([1000])]\n"
        "xs = [ones([1000]) for i in range(4)]\n"
        "fn f(Tensor x) -> Tensor { return relu(x) + 1 }\n"
        "y = f(xs[0]) + kept[0]\n"
        "d = {\"a\": y, \"b\": tensor([1.0, 2.0])}\n",
        "clean.ops");
    const HandlerGuard on(tracker);
    program.run();
  }
  EXPECT_GT(tracker.peakBytes(), 5 * kThousandFloats);
  EXPECT_EQ(remainsOf(tracker.finish(false)), "");
}

TEST(MemoryTracker, AListThatHoldsItselfLeaksAtItsLine) {
  MemoryTracker tracker;
  GenericListObject* leaked = nullptr;
  {
    const Program program = Program::compile(
        "fn leak() -> Any {\n"
        "    kept: Any[] = []\n"
        "    kept.append(kept)\n"
        "    for i in range(3) {\n"
        "        kept.append(relu(ones([1000])))\n"
        "    }\n"
        "    return kept\n"
        "}\n",
        "leak.ops");
    const HandlerGuard on(tracker);
    Stack stack;
    program.function("leak").call(stack);
    leaked = stack.back().toList().object().get();
  }
  EXPECT_EQ(remainsOf(tracker.finish(false)),
            "still live at the end, by what allocated it:\n"
            "  11.7 KiB in 3 storages: aten::relu at leak.ops:5\n");
  // The list still contains itself; taking its values frees it.
  const GenericListObject::Vector values = std::move(leaked->values);
}

}  // namespace
}  // namespace boxcar
