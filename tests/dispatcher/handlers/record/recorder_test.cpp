#include <boxcar/dispatcher/handlers/record/recorder.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <latch>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/captured_output.h"
#include "tests/dispatcher/dispatcher_helpers.h"
#include "tests/dispatcher/handlers/record/recording_helpers.h"

namespace boxcar {
namespace {

using Kind = RecordedValue::Kind;

class RecorderTest : public ::testing::Test {
 protected:
  Recording record(auto&& body, RecordedContent content = RecordedContent::Full) {
    return recordingOf(folder_ / "run.rec", body, content);
  }
  TemporaryFolder folder_;
};

TEST_F(RecorderTest, KeepsACallWithItsArgumentsAndResults) {
  const Recording recording = record([] { add(ones({2}), full({2}, 3), 2); });
  ASSERT_EQ(recording.calls().size(), 3U);
  EXPECT_EQ(nameOf(recording, 2), "aten::add.Tensor");
  const RecordedCall& call = recording.calls()[2];
  const std::vector<IValue> arguments = recording.rebuildArguments(call);
  ASSERT_EQ(arguments.size(), 3U);
  EXPECT_EQ(repr(arguments[0]), "tensor([1., 1.])");
  EXPECT_EQ(repr(arguments[1]), "tensor([3, 3])");
  EXPECT_EQ(arguments[2], IValue(2));
  ASSERT_EQ(call.results.size(), 1U);
  EXPECT_EQ(call.after.tensors[call.results[0].index].sizes, (std::vector<int64_t>{2}));
  EXPECT_FALSE(call.failure);
}

TEST_F(RecorderTest, TakesAnOperatorInCppAsAWhole) {
  const Tensor x = ones({2, 2});
  const Recording recording = record([&] { linear(x, x); });
  ASSERT_EQ(recording.calls().size(), 1U);
  EXPECT_EQ(nameOf(recording, 0), "aten::linear");
}

TEST_F(RecorderTest, GoesThroughAScriptsOperatorAndKeepsItsLines) {
  const Program program = Program::compile(
      "op recorder_test::twice(Tensor x) -> Tensor {\n"
      "    return x + x\n"
      "}\n"
      "y = recorder_test::twice(ones(2))\n",
      "test.ops");
  const Recording recording = record([&] { program.run(); });
  ASSERT_EQ(recording.calls().size(), 2U);
  EXPECT_EQ(nameOf(recording, 0), "aten::ones");
  EXPECT_EQ(recording.calls()[0].site, (CallSite{"test.ops", 4, "y = recorder_test::twice(ones(2))"}));
  EXPECT_EQ(nameOf(recording, 1), "aten::add.Tensor");
  EXPECT_EQ(recording.calls()[1].site, (CallSite{"test.ops", 2, "return x + x"}));
}

TEST_F(RecorderTest, KeepsWhatAnArgumentWasBeforeItWasWritten) {
  Tensor x = ones({2});
  const Recording recording = record([&] { add_(x, 1); });
  const RecordedCall& call = recording.calls().at(0);
  EXPECT_EQ(repr(recording.rebuildArguments(call)[0]), "tensor([1., 1.])");
  // The result is the argument, whose bytes changed.
  EXPECT_EQ(call.results[0].index, call.arguments[0].index);
  EXPECT_NE(call.before.storages[0].block, call.after.storages[0].block);
  EXPECT_EQ(recording.blockCount(), 2U);
}

TEST_F(RecorderTest, SharesAmongTensorsTheStorageThatTheyShared) {
  const Tensor base = view(arange(0, 12), {3, 4});
  const Recording recording = record([&] { sub(slice(base, 0, 1), select(base, 0, 0)); });
  const std::vector<IValue> arguments = recording.rebuildArguments(recording.calls().at(2));
  const Tensor& self = arguments[0].toTensor();
  const Tensor& other = arguments[1].toTensor();
  EXPECT_EQ(self.storage(), other.storage());
  EXPECT_EQ(self.storage_offset(), 4);
  EXPECT_EQ(repr(arguments[1]), "tensor([0, 1, 2, 3])");
  EXPECT_EQ(repr(arguments[0]), "tensor([[ 4,  5,  6,  7],\n        [ 8,  9, 10, 11]])");
}

TEST_F(RecorderTest, KeepsOfALargeStorageWhatACallReaches) {
  const Tensor base = zeros({1000, 100});
  const Recording recording = record([&] { neg(select(base, 0, 7)); });
  const RecordedStorage& storage = recording.calls().at(1).before.storages.at(0);
  EXPECT_EQ(storage.bytes, 400000U);
  EXPECT_EQ(storage.first, 2800U);
  EXPECT_EQ(storage.count, 400U);
}

TEST_F(RecorderTest, KeepsWhatAViewReachesBeyondItsArgument) {
  const Tensor base = arange(0, 10);
  const Tensor part = slice(base, 0, 0, 2);
  const Recording recording = record([&] { as_strided(part, {2}, {1}, 8); });
  const RecordedCall& call = recording.calls().at(0);
  EXPECT_EQ(call.before.storages.at(0).count, 80U);
  EXPECT_EQ(call.before.storages, call.after.storages);
}

TEST_F(RecorderTest, KeepsEqualBytesOnce) {
  const Recording recording = record([] {
    for (int i = 0; i < 10; ++i) neg(ones({100}));
  });
  EXPECT_EQ(recording.calls().size(), 20U);
  EXPECT_EQ(recording.blockCount(), 2U);
}

TEST_F(RecorderTest, KeepsEveryKindOfValue) {
  Library library = definitions("recorder_test");
  library.def(
      "values(Tensor?[] tensors, Dict(str, Tensor) named, (int, str) pair, Any any, Scalar number, float[] list) "
      "-> (Tensor[], Dict(str, int), float)",
      [](const List<std::optional<Tensor>>& tensors, const Dict<std::string, Tensor>&,
         const std::tuple<int64_t, std::string>&, const IValue&, const Scalar&, std::span<const double>) {
        Dict<std::string, int64_t> counts;
        counts.insert("tensors", static_cast<int64_t>(tensors.size()));
        return std::tuple(std::vector<Tensor>{ones({1}), ones({2})}, counts, 0.5);
      });
  const Tensor x = full({2}, 4);
  Dict<std::string, Tensor> named;
  named.insert("x", x);
  const Recording recording = record([&] {
    callOp(find("recorder_test::values"), IValue(GenericList{IValue(), x}), IValue(named),
           IValue(std::tuple(1, std::string("one"))), IValue(Device("cpu")), IValue(std::complex<double>(1, 2)),
           IValue(std::vector<double>{0.5, 1.5}));
  });
  const RecordedCall& call = recording.calls().back();
  const std::vector<IValue> arguments = recording.rebuildArguments(call);
  EXPECT_EQ(repr(arguments[0]), "[None, tensor([4, 4])]");
  EXPECT_EQ(repr(arguments[1]), "{'x': tensor([4, 4])}");
  EXPECT_TRUE(arguments[0].toList().get(1).toTensor().is_same(arguments[1].toGenericDict().at("x").toTensor()));
  EXPECT_EQ(repr(arguments[2]), "(1, 'one')");
  EXPECT_EQ(arguments[3], IValue(Device("cpu")));
  EXPECT_EQ(arguments[4], IValue(std::complex<double>(1, 2)));
  EXPECT_EQ(repr(arguments[5]), "[0.5, 1.5]");
  ASSERT_EQ(call.results.size(), 3U);
  EXPECT_EQ(call.results[0].kind, Kind::TensorList);
  EXPECT_EQ(call.results[0].elements.size(), 2U);
  EXPECT_EQ(call.results[1].kind, Kind::Dict);
  EXPECT_EQ(call.results[2].plain, IValue(0.5));
}

TEST_F(RecorderTest, SaysOfWhatItCannotWriteDownWhatItIs) {
  Library library = definitions("recorder_test");
  library.def("any(Any value) -> ()", [](const IValue&) {});
  GenericList itself;
  itself.push_back(itself);
  const Recording recording = record([&] {
    callOp(find("recorder_test::any"), IValue(itself));
    callOp(find("recorder_test::any"), IValue(makeGenerator({})));
  });
  itself.clear();
  EXPECT_EQ(errorOf([&] { recording.rebuildArguments(recording.calls()[0]); }),
            "values nested more than 64 deep cannot be rebuilt");
  EXPECT_EQ(recording.calls()[1].arguments[0].kind, Kind::Opaque);
}

TEST_F(RecorderTest, KeepsWhereTheGeneratorOfARandomOperatorStood) {
  manualSeed(5);
  rand({3});
  const Recording recording = record([] {
    rand({2});
    rand({2}, makeCpuGenerator(7));
  });
  EXPECT_EQ(recording.calls().at(0).generator, (DrawnFrom{DeviceType::CPU, {5, 3, std::nullopt}}));
  EXPECT_EQ(recording.calls().at(1).arguments.at(1).state, (GeneratorState{7, 0, std::nullopt}));
}

TEST_F(RecorderTest, EndsWithTheCallThatFails) {
  Library library = definitions("recorder_test");
  library.def("fail(Tensor x) -> Tensor", [](const Tensor& x) {
    if (x.numel() == 2) throw std::runtime_error("it fails");
    return x;
  });
  const Recording recording = record([&] {
    EXPECT_EQ(errorOf([] { callOp(find("recorder_test::fail"), IValue(ones({2}))); }),
              "recorder_test::fail() failed: it fails");
  });
  ASSERT_EQ(recording.calls().size(), 2U);
  EXPECT_EQ(recording.calls()[1].failure, "recorder_test::fail() failed: it fails");
  EXPECT_TRUE(recording.calls()[1].results.empty());
  EXPECT_EQ(repr(recording.rebuildArguments(recording.calls()[1])[0]), "tensor([1., 1.])");
}

TEST_F(RecorderTest, PutsTheCallsOfAllThreadsInOneOrder) {
  Recorder recorder(folder_ / "run.rec");
  constexpr int kThreads = 4;
  constexpr int kCalls = 50;
  std::latch all_here(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const HandlerGuard on(recorder);
      all_here.arrive_and_wait();
      for (int n = 0; n < kCalls; ++n) full({2}, i * kCalls + n);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(recorder.finish(false), "200 calls are recorded in " + folder_ / "run.rec" + "\n");
  const Recording recording = Recording::open(folder_ / "run.rec");
  std::map<uint32_t, std::vector<int64_t>> values;
  for (const RecordedCall& call : recording.calls())
    values[call.thread].push_back(recording.rebuildArguments(call)[1].toInt());
  ASSERT_EQ(values.size(), 4U);
  for (const auto& [thread, numbers] : values) {
    ASSERT_EQ(numbers.size(), 50U);
    for (size_t n = 1; n < numbers.size(); ++n) EXPECT_EQ(numbers[n], numbers[n - 1] + 1);
  }
}

TEST_F(RecorderTest, WithShapesKeepsNoBytesAndFillsArgumentsWithOnes) {
  const Tensor x = full({2, 3}, 7);
  const Recording recording = record([&] { sub(t(x), full({2}, 2.5)); }, RecordedContent::Shapes);
  EXPECT_EQ(recording.content(), RecordedContent::Shapes);
  EXPECT_EQ(recording.blockCount(), 0U);
  const std::vector<IValue> arguments = recording.rebuildArguments(recording.calls().at(2));
  EXPECT_EQ(repr(arguments[0]), "tensor([[1, 1],\n        [1, 1],\n        [1, 1]])");
  EXPECT_EQ(arguments[0].toTensor().stride(1), 3);
  EXPECT_EQ(repr(arguments[1]), "tensor([1., 1.])");
}

TEST_F(RecorderTest, WithHashesKeepsOneOfTheElementsWhateverTheirOrderInMemory) {
  const Tensor x = view(arange(0, 6), {2, 3});
  const Recording recording = record(
      [&] {
        neg(t(x));
        neg(contiguous(t(x)));
        neg(x);
      },
      RecordedContent::Hashes);
  const auto hash = [&](size_t call) { return recording.calls().at(call).before.tensors.at(0).hash; };
  EXPECT_EQ(nameOf(recording, 1), "aten::neg");
  EXPECT_EQ(nameOf(recording, 4), "aten::neg");
  EXPECT_EQ(hash(1), hash(4));
  EXPECT_NE(hash(1), hash(5));
  EXPECT_EQ(recording.blockCount(), 0U);
}

TEST_F(RecorderTest, IsSwitchedOnByScripts) {
  const Program program =
      Program::compile("with record(\"" + folder_ / "script.rec" + "\", hashes=True) { x = ones(3) }", "test.ops");
  program.run();
  EXPECT_EQ(Recording::open(folder_ / "script.rec").calls().size(), 1U);
  EXPECT_EQ(errorOf([] { recordedContent(true, true); }),
            "a recording keeps shapes or hashes, not both: ask for hashes, which have the shapes");
  EXPECT_EQ(errorOf([&] {
              kRecordKind.make(std::vector<IValue>{folder_ / "both.rec", true, true});
            }),
            "record: a recording keeps shapes or hashes, not both: ask for hashes, which have the shapes");
}

TEST_F(RecorderTest, LeavesNoFileWithoutAnEndNorOfAFailureWithoutCalls) {
  { Recorder recorder(folder_ / "run.rec"); }
  EXPECT_EQ(folder_.count(""), 0U);
  Recorder recorder(folder_ / "run.rec");
  EXPECT_EQ(recorder.finish(true), "no call was made, so that " + folder_ / "run.rec" + " is not written\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run.rec"));
  EXPECT_EQ(errorOf([&] { Recorder(folder_ / "no/run.rec"); }),
            "cannot write '" + folder_ / "no/run.rec" + "': No such file or directory");
}

}  // namespace
}  // namespace boxcar
