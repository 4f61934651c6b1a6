#include <boxcar/dispatcher/handlers/record/replay.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/allocator.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "tests/captured_output.h"
#include "tests/dispatcher/dispatcher_helpers.h"
#include "tests/dispatcher/handlers/record/recording_helpers.h"

namespace boxcar {
namespace {

class ReplayTest : public ::testing::Test {
 protected:
  Recording record(auto&& body, RecordedContent content = RecordedContent::Full) {
    return recordingOf(path_, body, content);
  }
  TemporaryFolder folder_;
  const std::string path_ = folder_ / "run.rec";
};

TEST_F(ReplayTest, IsEqualForViewsListsAndWrites) {
  const Recording recording = record([] {
    Tensor x = view(arange(0, 12), {3, 4});
    Tensor row = select(x, 0, 1);
    add_(row, 10);
    add_(row, row);
    const std::vector<Tensor> parts = split(t(x), 2);
    cat(parts, 1);
    Tensor out = empty({0}, ScalarType::Long);
    add_out(out, parts[0], parts[1]);
    sum(x);
  });
  const ReplayReport report = replay(recording);
  EXPECT_EQ(toString(report), path_ + ": 11 calls, 11 equal\n");
  EXPECT_TRUE(report.agrees());
}

TEST_F(ReplayTest, DrawsTheSameNumbersAndPutsTheGeneratorBack) {
  manualSeed(11);
  const Recording recording = record([] {
    rand({3});
    randn({1});
    rand({3}, makeCpuGenerator(4));
    Tensor x = empty({2});
    normal_(x);
    randn({1});
  });
  manualSeed(99);
  rand({5});
  EXPECT_EQ(toString(replay(recording)), path_ + ": 6 calls, 6 equal\n");
  EXPECT_EQ(defaultCpuGenerator().get<CpuGeneratorImpl>()->state(), (GeneratorState{99, 5, std::nullopt}));
}

TEST_F(ReplayTest, DoesNotReadOrPrintAgain) {
  const Program program = Program::compile("print(ones(1))", "test.ops");
  std::optional<Recording> recording;
  EXPECT_EQ(outputOf([&] { recording = record([&] { program.run(); }); }), "tensor([1.])\n");
  EXPECT_EQ(outputOf([&] {
              const ReplayReport report = replay(*recording);
              EXPECT_EQ(report.outside, 1U);
              EXPECT_TRUE(report.agrees());
            }),
            "");
}

// An operator whose kernel the tests change.
class ChangedOperatorTest : public ReplayTest {
 protected:
  ChangedOperatorTest() { library_->def("f(Tensor(a!) x, float by) -> Tensor"); }

  void compute(auto kernel) {
    kernels_.emplace(implementations(DispatchKey::CPU, "replay_test"));
    kernels_->impl("f", kernel);
  }
  static void call() {
    Tensor x = ones({2, 2});
    callOp(find("replay_test::f"), IValue(x), IValue(2.0));
  }

  std::optional<Library> library_{definitions("replay_test")};
  std::optional<Library> kernels_;
};

TEST_F(ChangedOperatorTest, NamesTheCallWhoseResultDiffers) {
  compute([](const Tensor& x, double by) { return mul(x, by); });
  const Program program = Program::compile("y = replay_test::f(ones(2), 2.0)", "test.ops");
  const Recording recording = record([&] { program.run(); });
  compute([](const Tensor& x, double by) { return mul(x, by + 0.25); });
  const ReplayReport report = replay(recording);
  EXPECT_FALSE(report.agrees());
  EXPECT_EQ(toString(report),
            path_ +
                ": 2 calls, 1 equal, 1 differs\n"
                "call 1 differs: replay_test::f at test.ops:1: y = replay_test::f(ones(2), 2.0)\n"
                "  result: 2 of 2 elements differ, by up to 0.25 at [0]: 2 when recorded, 2.25 now\n");
  EXPECT_TRUE(replay(recording, {.tolerance = {.rtol = 0.125}}).agrees());
}

TEST_F(ChangedOperatorTest, NamesTheArgumentThatIsWrittenOtherwise) {
  compute([](Tensor& x, double by) { return mul_(x, by), ones({1}); });
  const Recording recording = record(&call);
  EXPECT_TRUE(replay(recording).agrees());
  compute([](Tensor&, double) { return ones({1}); });
  EXPECT_EQ(toString(replay(recording)),
            path_ +
                ": 2 calls, 1 equal, 1 differs\n"
                "call 1 differs: replay_test::f\n"
                "  `x` after the call: 4 of 4 elements differ, by up to 1.0 at [0, 0]: 2 when recorded, 1 now\n");
}

TEST_F(ChangedOperatorTest, ComparesHowCallsFail) {
  compute([](const Tensor& x, double) -> Tensor { BOXCAR_FAIL("{} is too much", x.numel()); });
  const Recording recording = record([] { EXPECT_EQ(errorOf(&call), "4 is too much"); });
  EXPECT_TRUE(replay(recording).agrees());
  compute([](const Tensor&, double) -> Tensor { BOXCAR_FAIL("another"); });
  EXPECT_EQ(toString(replay(recording)), path_ +
                                             ": 2 calls, 1 equal, 1 differs\n"
                                             "call 1 fails with another message: replay_test::f\n"
                                             "  4 is too much when recorded\n"
                                             "  another now\n");
  compute([](const Tensor& x, double) { return x; });
  EXPECT_EQ(toString(replay(recording)), path_ +
                                             ": 2 calls, 1 equal, 1 differs\n"
                                             "call 1 does not fail now: replay_test::f\n"
                                             "  when recorded: 4 is too much\n");
}

// For a missing kernel, authors of scripts get another remedy than authors of C++.
TEST_F(ChangedOperatorTest, FailsWithTheWordsThatAScriptIsTold) {
  const Program program = Program::compile("y = replay_test::f(ones(2), 2.0)", "test.ops");
  const Recording recording = record([&] { EXPECT_NE(errorOf([&] { program.run(); }), "no error"); });
  EXPECT_EQ(toString(replay(recording)), path_ + ": 2 calls, 2 equal\n");
  EXPECT_FALSE(currentCallSite());
}

TEST_F(ChangedOperatorTest, CountsWhatFailsNow) {
  compute([](const Tensor& x, double) { return x; });
  const Recording recording = record(&call);
  compute([](const Tensor&, double) -> Tensor { BOXCAR_FAIL("no"); });
  EXPECT_EQ(toString(replay(recording)), path_ +
                                             ": 2 calls, 1 equal, 1 fails\n"
                                             "call 1 fails now: replay_test::f\n"
                                             "  no\n");
}

TEST_F(ChangedOperatorTest, NamesOperatorsThatAreMissingOrChanged) {
  compute([](const Tensor& x, double) { return x; });
  const Recording recording = record(&call);
  kernels_.reset();
  library_.reset();
  const ReplayReport report = replay(recording);
  EXPECT_FALSE(report.agrees());
  EXPECT_EQ(toString(report), path_ +
                                  ": 2 calls, 1 equal, 1 of operators that are missing\n"
                                  "replay_test::f is not registered: load the program or plugin that has it\n");
  library_.emplace(definitions("replay_test"));
  library_->def("f(Tensor x) -> Tensor");
  EXPECT_EQ(toString(replay(recording)),
            path_ +
                ": 2 calls, 1 equal, 1 of operators that are missing\n"
                "replay_test::f has another schema now: replay_test::f(Tensor x) -> Tensor\n"
                "  when recorded: replay_test::f(Tensor(a!) x, float by) -> Tensor\n");
}

TEST_F(ReplayTest, PutsArgumentsOnAnotherDevice) {
  const Recording recording = record([] {
    const Tensor x = ones({2, 3});
    t(x);
  });
  const std::vector<IValue> arguments = recording.rebuildArguments(recording.calls()[1], Device(DeviceType::Meta));
  EXPECT_TRUE(arguments[0].toTensor().is_meta());
  const ReplayReport report = replay(recording, {.device = Device(DeviceType::Meta)});
  EXPECT_TRUE(report.agrees());
  EXPECT_EQ(toString(report), path_ + ": 2 calls, 2 equal in dtype and shape\n");
}

// A device whose memory the host can read, too.
const Allocator kDeviceMemory = {[](size_t bytes, DeviceIndex) { return std::malloc(bytes); },
                                 [](void* memory, size_t, DeviceIndex) { std::free(memory); }};

Tensor& copyBytes(Tensor& self, const Tensor& src, bool) {
  std::memcpy(self.data_ptr(), src.data_ptr(), src.nbytes());
  return self;
}

TEST_F(ReplayTest, GoesFromTheCpuToADeviceAndBack) {
  setAllocator(DeviceType::PrivateUse1, &kDeviceMemory);
  Library copies = implementations(DispatchKey::PrivateUse1, "aten");
  copies.impl("copy_", copyBytes);
  Library library = definitions("replay_test");
  library.def("half(Tensor x) -> Tensor");
  const auto half = [](const Tensor& x) {
    const Tensor result = Tensor::allocate(x.sizes(), ScalarType::Float, x.device());
    for (int64_t i = 0; i < x.numel(); ++i)
      static_cast<float*>(result.data_ptr())[i] = static_cast<const float*>(x.data_ptr())[i] / 2;
    return result;
  };
  Library on_cpu = implementations(DispatchKey::CPU, "replay_test");
  on_cpu.impl("half", half);
  Library on_device = implementations(DispatchKey::PrivateUse1, "replay_test");
  on_device.impl("half", half);
  const Tensor there = Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float, Device(DeviceType::PrivateUse1, 0));
  std::fill_n(static_cast<float*>(there.data_ptr()), 2, 3.0F);
  const Recording recording = record([&] { callOp(find("replay_test::half"), IValue(there)); });
  const RecordedCall& call = recording.calls().at(0);
  EXPECT_EQ(repr(recording.rebuildArguments(call, Device("cpu"))[0]), "tensor([3., 3.])");
  EXPECT_EQ(recording.rebuildArguments(call, Device("privateuseone"))[0].toTensor().device(), there.device());
  EXPECT_TRUE(replay(recording).agrees());
  EXPECT_TRUE(replay(recording, {.device = Device("cpu")}).agrees());
  EXPECT_TRUE(replay(recording, {.device = Device("privateuseone")}).agrees());
  Library newer = implementations(DispatchKey::CPU, "replay_test");
  newer.impl("half", [](const Tensor& x) { return x; });
  EXPECT_FALSE(replay(recording, {.device = Device("cpu")}).agrees());
}

TEST_F(ReplayTest, HasNothingToCompareWithWithoutElements) {
  const auto body = [] { ones({2}); };
  const Recording shapes = record(body, RecordedContent::Shapes);
  EXPECT_EQ(errorOf([&] { replay(shapes); }),
            "the recording '" + path_ +
                "' keeps the shapes of tensors, so that its calls can be measured, but there is "
                "nothing to compare a replay with; record the run in full");
  const Recording hashes = record(body, RecordedContent::Hashes);
  EXPECT_EQ(errorOf([&] { replay(hashes); }),
            "the recording '" + path_ +
                "' keeps hashes of tensors, so that its calls can be compared with another "
                "recording's, but there is nothing to compare a replay with; record the run in "
                "full");
}

}  // namespace
}  // namespace boxcar
