#include "tests/sample_arguments.h"

#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/dispatcher/values/tensor_range.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace boxcar {
namespace {

OperatorHandle find(const char* name, const char* overload = "") {
  return Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

TEST(SampleArguments, AreOfSeveralTypesAndShapes) {
  std::set<std::string> shapes;
  for (const Stack& sample : sampleArguments(find("aten::neg"))) shapes.insert(typeAndSizes(sample[0].toTensor()));
  EXPECT_TRUE(shapes.contains("float32[2, 3]"));
  EXPECT_TRUE(shapes.contains("complex64[2, 3]"));
  EXPECT_TRUE(shapes.contains("float32[]"));
  EXPECT_TRUE(shapes.contains("float32[0, 3]"));
}

TEST(SampleArguments, FitEachOther) {
  for (const Stack& sample : sampleArguments(find("aten::mm"))) {
    EXPECT_EQ(sample[0].toTensor().size(1), sample[1].toTensor().size(0));
  }
  EXPECT_FALSE(sampleArguments(find("aten::mm")).empty());
}

TEST(SampleArguments, AreNotTouchedByTheTrial) {
  const OperatorHandle op = find("aten::zero_");
  for (const Stack& sample : sampleArguments(op)) {
    const Tensor& tensor = sample[0].toTensor();
    EXPECT_TRUE(tensor.numel() == 0 || !sameBits(tensor, zeros_like(tensor)));
  }
  EXPECT_FALSE(sampleArguments(op).empty());
}

TEST(SampleArguments, DrawNoRandomNumbers) {
  const GeneratorState before = defaultCpuGenerator().unsafeGetGeneratorImpl()->state();
  EXPECT_FALSE(sampleArguments(find("aten::rand")).empty());
  EXPECT_EQ(defaultCpuGenerator().unsafeGetGeneratorImpl()->state(), before);
}

}  // namespace
}  // namespace boxcar
