#include <boxcar/backends/cuda/stream.h>
#include <boxcar/dispatcher/handlers/profile/profiler.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/backends/cuda/on_device/device_helpers.h"
#include "tests/backends/cuda/simulated_device.h"
#include "tests/dispatcher/handlers/profile/profile_rows.h"
#include "tests/temporary_folder.h"

// Device time in profiles. Each piece of work takes a millisecond on the simulated device.

namespace boxcar::cuda {
namespace {

using Json = nlohmann::json;

class CudaProfilerTest : public ::testing::Test {
 protected:
  void SetUp() override { simulated::device() = {}; }

  template <class Body>
  std::string profiled(const Body& body, ProfilerOptions options = {}) {
    options.trace = folder_ / "trace.json";
    options.page = folder_ / "page.html";
    Profiler profiler(options);
    {
      const HandlerGuard on(profiler);
      body();
    }
    return profiler.finish(false);
  }
  Json events() const { return Json::parse(folder_.read("trace.json"))["traceEvents"]; }

  TemporaryFolder folder_;
};

TEST_F(CudaProfilerTest, TellsWhatCallsTookTheDevice) {
  const Tensor x = onCuda(floats({1, 2}));
  const std::string table = profiled([&] {
    boxcar::add(x, x);
    boxcar::add(x, x);
    boxcar::add(floats({1}), floats({1}));
  });
  EXPECT_NE(table.find("Self CUDA %  Self CUDA  CUDA total"), std::string::npos) << table;
  EXPECT_NE(table.find("\nOn CUDA: 2.000ms, by marks around each call in the device's work\n"), std::string::npos)
      << table;
  const std::vector<std::string> row = rowOf(table, "aten::add.Tensor");
  ASSERT_EQ(row.size(), 11U) << table;
  EXPECT_EQ(row[7], "3");
  EXPECT_EQ(row[8], "100.00%");
  EXPECT_EQ(row[9], "2.000ms");
  EXPECT_EQ(row[10], "2.000ms");
}

TEST_F(CudaProfilerTest, TellsTheTimeOfCallsInsideFromTheOnesThatMadeThem) {
  const Tensor x = boxcar::reshape(onCuda(floats({1, 2, 3, 4})), std::vector<int64_t>{2, 2});
  const std::string table = profiled([&] { boxcar::softmax(x, 1); });
  const std::vector<std::string> outer = rowOf(table, "aten::softmax.int");
  const std::vector<std::string> inner = rowOf(table, "aten::_softmax");
  ASSERT_EQ(outer.size(), 11U) << table;
  ASSERT_EQ(inner.size(), 11U) << table;
  EXPECT_EQ(outer[9], "0ns");
  EXPECT_EQ(outer[10], inner[9]);
}

TEST_F(CudaProfilerTest, HasALaneForEachStream) {
  const Tensor x = onCuda(floats({1, 2}));
  int32_t id = 0;
  profiled([&] {
    boxcar::add(x, x);
    const StreamGuard stream;
    id = stream.stream().id;
    boxcar::mul(x, x);
  });
  std::vector<std::string> lanes;
  std::vector<std::pair<int, std::string>> spans;
  for (const Json& event : events()) {
    if (event["ph"] == "M" && event.value("tid", 0) >= 1000000) lanes.push_back(event["args"]["name"]);
    if (event.value("cat", "") == "device") spans.emplace_back(event["tid"], event["name"]);
  }
  EXPECT_EQ(lanes, (std::vector<std::string>{"cuda:0, stream 0", "cuda:0, stream " + std::to_string(id)}));
  EXPECT_EQ(spans,
            (std::vector<std::pair<int, std::string>>{{1000000, "aten::add.Tensor"}, {1000001, "aten::mul.Tensor"}}));
  const std::string page = folder_.read("page.html");
  EXPECT_NE(page.find("\"name\":\"cuda:0, stream 0\""), std::string::npos);
  EXPECT_NE(page.find("\"device\":\"CUDA\""), std::string::npos);
}

TEST_F(CudaProfilerTest, CountsTheTimeOfCallsThatTheTimeLineLacks) {
  const Tensor x = onCuda(floats({1, 2}));
  const std::string table = profiled(
      [&] {
        for (int i = 0; i < 5000; ++i) boxcar::add(x, x);
      },
      {.most_calls = 4096});
  const std::vector<std::string> row = rowOf(table, "aten::add.Tensor");
  ASSERT_EQ(row.size(), 11U) << table;
  EXPECT_EQ(row[9], "5.000s");
}

TEST_F(CudaProfilerTest, HasNoColumnsForADeviceThatIsNotUsed) {
  const std::string table = profiled([&] { boxcar::add(floats({1}), floats({1})); });
  EXPECT_EQ(table.find("CUDA"), std::string::npos) << table;
  for (const Json& event : events()) EXPECT_NE(event.value("cat", ""), "device");
}

TEST_F(CudaProfilerTest, SortsByTheTimeOnTheDevice) {
  const Tensor x = onCuda(floats({1, 2}));
  const std::string table = profiled(
      [&] {
        boxcar::mul(x, x);
        for (int i = 0; i < 3; ++i) boxcar::add(x, x);
      },
      {.table = {.sort = ProfileSort::Device}});
  EXPECT_LT(table.find("aten::add.Tensor"), table.find("aten::mul.Tensor"));
}

}  // namespace
}  // namespace boxcar::cuda
