#include <boxcar/dispatcher/handlers/record/recording_diff.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/captured_output.h"
#include "tests/dispatcher/handlers/record/recording_helpers.h"

namespace boxcar {
namespace {

class RecordingDiffTest : public ::testing::Test {
 protected:
  // Records the two scripts and returns their first difference.
  std::string diff(const std::string& first, const std::string& second, Tolerance tolerance = {},
                   RecordedContent content = RecordedContent::Full, RecordedContent other = RecordedContent::Full) {
    const Recording a = record("a", first, content);
    const Recording b = record("b", second, other);
    std::string text = describeDifference(a, b, findDifference(a, b, tolerance));
    for (size_t at; (at = text.find(folder_.path() + "/")) != std::string::npos;)
      text.erase(at, folder_.path().size() + 1);
    return text;
  }

 private:
  Recording record(const std::string& name, const std::string& script, RecordedContent content) {
    const Program program = Program::compile(script, name + ".ops");
    std::optional<Recording> recording;
    outputOf([&] {
      recording = recordingOf(
          folder_ / name, [&] { program.run(); }, content);
    });
    return *std::move(recording);
  }
  TemporaryFolder folder_;
};

TEST_F(RecordingDiffTest, SaysThatRunsAreAlike) {
  EXPECT_EQ(diff("x = ones(2) + 1", "x = ones(2) + 1"), "a and b are alike: 2 calls\n");
}

TEST_F(RecordingDiffTest, NamesAnotherOperatorAndTheCallsBefore) {
  EXPECT_EQ(diff("x = ones(2)\ny = x.relu()", "x = ones(2)\ny = x.neg()"),
            "the runs differ at call 1: aten::relu(Tensor self) -> Tensor in a, aten::neg(Tensor self) -> Tensor in b\n"
            "  a: aten::relu at a.ops:2: y = x.relu()\n"
            "  b: aten::neg at b.ops:2: y = x.neg()\n"
            "alike before it:\n"
            "  call 0: aten::ones at a.ops:1: x = ones(2)\n");
}

TEST_F(RecordingDiffTest, NamesTheListThatIsLonger) {
  EXPECT_EQ(diff("x = ones(2)\ny = cat([x, x])", "x = ones(2)\ny = cat([x, x, x])"),
            "the runs differ at call 1: `tensors`: 2 values in a, 3 in b\n"
            "  a: aten::cat at a.ops:2: y = cat([x, x])\n"
            "  b: aten::cat at b.ops:2: y = cat([x, x, x])\n"
            "alike before it:\n"
            "  call 0: aten::ones at a.ops:1: x = ones(2)\n");
}

TEST_F(RecordingDiffTest, NamesTheInputThatDiffers) {
  EXPECT_EQ(diff("x = tensor([1.0, 2.0]).neg()", "x = tensor([1.0, 2.5]).neg()"),
            "the runs differ at call 0: `self`: 1 of 2 elements differs, by 0.5 at [1]: 2 in a, 2.5 in b\n"
            "  a: aten::neg at a.ops:1: x = tensor([1.0, 2.0]).neg()\n"
            "  b: aten::neg at b.ops:1: x = tensor([1.0, 2.5]).neg()\n");
  EXPECT_EQ(diff("x = tensor([1.0, 2.0]).neg()", "x = tensor([1.0, 2.5]).neg()", {.atol = 0.5}),
            "a and b are alike: 1 call\n");
}

TEST_F(RecordingDiffTest, NamesWhereTheGeneratorsStand) {
  EXPECT_EQ(diff("manual_seed(1)\nx = rand(2)", "manual_seed(2)\nx = rand(2)"),
            "the runs differ at call 0: the generator has the seed 1 and has drawn 0 numbers in a, 2 and 0 in b\n"
            "  a: aten::rand at a.ops:2: x = rand(2)\n"
            "  b: aten::rand at b.ops:2: x = rand(2)\n");
}

TEST_F(RecordingDiffTest, DoesNotCountDevices) {
  EXPECT_EQ(diff("x = ones(2)", "x = ones(2, device=\"cpu\")"), "a and b are alike: 1 call\n");
}

TEST_F(RecordingDiffTest, NamesTheRunThatEnds) {
  EXPECT_EQ(diff("x = ones(2)", "x = ones(2)\ny = x + x"),
            "the runs differ at call 1: a ends before it, and b goes on\n"
            "  a: no more calls\n"
            "  b: aten::add.Tensor at b.ops:2: y = x + x\n"
            "alike before it:\n"
            "  call 0: aten::ones at a.ops:1: x = ones(2)\n");
}

TEST_F(RecordingDiffTest, ComparesByHashesWhereOneHasNoMore) {
  const std::string first = "x = tensor([1.0, 2.0]).neg()";
  const std::string second = "x = tensor([1.0, 2.5]).neg()";
  EXPECT_EQ(diff(first, first, {}, RecordedContent::Full, RecordedContent::Hashes), "a and b are alike: 1 call\n");
  EXPECT_EQ(diff(first, second, {}, RecordedContent::Full, RecordedContent::Hashes),
            "the runs differ at call 0: `self`: float32[2] with other elements, as their hashes say\n"
            "  a: aten::neg at a.ops:1: x = tensor([1.0, 2.0]).neg()\n"
            "  b: aten::neg at b.ops:1: x = tensor([1.0, 2.5]).neg()\n");
  EXPECT_EQ(diff(first, second, {}, RecordedContent::Shapes), "a and b are alike: 1 call, by their shapes\n");
}

TEST_F(RecordingDiffTest, DoesNotLookAtMemoryThatNobodyHasSet) {
  const std::string script = "x = empty(1000)\ny = x[0:500]\ny.fill_(VALUE)\nx[500:1000] = 3.0\nz = x + 1";
  const auto with = [&](const std::string& value) {
    return std::string(script).replace(script.find("VALUE"), 5, value);
  };
  EXPECT_EQ(diff(with("1.0"), with("1.0")), "a and b are alike: 6 calls\n");
}

TEST_F(RecordingDiffTest, TakesWhatIsPrintedForALaterSightOfValues) {
  EXPECT_EQ(diff("print(1.0)", "print(2.0)"),
            "the runs differ at call 0: `s`: '1.0\\n' in a, '2.0\\n' in b\n"
            "  a: aten::_print at a.ops:1: print(1.0)\n"
            "  b: aten::_print at b.ops:1: print(2.0)\n");
  EXPECT_EQ(diff("print(1.0)", "print(2.0)", {.atol = 1}), "a and b are alike: 1 call\n");
}

}  // namespace
}  // namespace boxcar
