#include <boxcar/backends/cpu/parallel.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// Which calls are worth a second thread: those that take some 20 microseconds or more. Loops that are shared are
// counted, so nothing here depends on time.

namespace boxcar {
namespace {

class SharedWork : public testing::Test {
 protected:
  SharedWork() : before_(cpu::threadCount()) { cpu::setThreadCount(2); }
  ~SharedWork() override { cpu::setThreadCount(before_); }

  void SetUp() override {
    if (cpu::threadCount() == 1) GTEST_SKIP() << "this build has no threads";
  }

  static bool isShared(const std::function<void()>& call) {
    const int64_t count = cpu::sharedLoops();
    call();
    return cpu::sharedLoops() != count;
  }

 private:
  int before_;
};

Tensor rows(int64_t count, int64_t length) { return rand({count, length}); }

TEST_F(SharedWork, MeansOfImagesAreNot) {
  const Tensor images = rand({1, 64, 56, 56});
  EXPECT_FALSE(isShared([&] { mean(images, IntArrayRef{2, 3}); }));
  const Tensor channels_last = contiguous(images, MemoryFormat::ChannelsLast);
  EXPECT_FALSE(isShared([&] { mean(channels_last, IntArrayRef{2, 3}); }));
  const Tensor many = rand({8, 64, 56, 56});
  EXPECT_TRUE(isShared([&] { mean(many, IntArrayRef{2, 3}); }));
}

using Function = Tensor (*)(const Tensor&);
struct Sized {
  std::string name;
  Function call;
  int64_t rows_alone, rows_shared;  // of 256 elements
};

TEST_F(SharedWork, IsThatOfLongLoops) {
  const std::vector<Sized> all = {
      {"sum of all", [](const Tensor& x) { return sum(x); }, 1024, 4096},
      {"sums of rows", [](const Tensor& x) { return sum(x, IntArrayRef{1}); }, 1024, 4096},
      {"sums of columns", [](const Tensor& x) { return sum(x, IntArrayRef{0}); }, 1024, 4096},
      {"greatest of rows", [](const Tensor& x) { return amax(x, IntArrayRef{1}); }, 1024, 4096},
      {"norm", [](const Tensor& x) { return linalg_vector_norm(x); }, 1024, 4096},
      {"places of the greatest", [](const Tensor& x) { return argmax(x, 1); }, 128, 256},
      {"cumulative sums", [](const Tensor& x) { return cumsum(x, 1); }, 128, 256},
      {"sum of two", [](const Tensor& x) { return add(x, x); }, 512, 768},
      {"sum with a row", [](const Tensor& x) { return add(x, select(x, 0, 0)); }, 512, 1024},
      {"sum with a number", [](const Tensor& x) { return add(x, 1.0); }, 512, 768},
      {"relu", [](const Tensor& x) { return relu(x); }, 512, 768},
      {"copy", [](const Tensor& x) { return clone(x); }, 512, 768},
      {"conversion", [](const Tensor& x) { return to(x, ScalarType::Double); }, 256, 384},
      {"layer norm", [](const Tensor& x) { return layer_norm(x, {256}); }, 256, 384},
      {"rms norm", [](const Tensor& x) { return rms_norm(x, {256}); }, 256, 384},
      {"exp", [](const Tensor& x) { return exp(x); }, 256, 384},
      {"sigmoid", [](const Tensor& x) { return sigmoid(x); }, 256, 384},
      {"pow", [](const Tensor& x) { return pow(x, x); }, 128, 256},
      {"lgamma", [](const Tensor& x) { return lgamma(x); }, 128, 256},
      {"program", [](const Tensor& x) { return fused::pointwise("(a + 1.0) * a", std::vector<Tensor>{x}); }, 256, 512},
      {"program with exp", [](const Tensor& x) { return fused::pointwise("exp(a) * a", std::vector<Tensor>{x}); }, 192,
       320},
      {"program reduced",
       [](const Tensor& x) { return fused::pointwise_reduce("sum", "(a + 1.0) * a", std::vector<Tensor>{x}); }, 256,
       512},
  };
  for (const auto& [name, call, alone, shared] : all) {
    const Tensor few = rows(alone, 256);
    const Tensor many = rows(shared, 256);
    EXPECT_FALSE(isShared([&, run = call] { run(few); })) << name;
    EXPECT_TRUE(isShared([&, run = call] { run(many); })) << name;
  }
}

TEST_F(SharedWork, OfLargerElementsIsMore) {
  const Tensor x = rand({384, 256}, ScalarType::Double);
  EXPECT_TRUE(isShared([&] { add(x, x); }));
  EXPECT_FALSE(isShared([&] { sum(x); }));
}

// Reading across rows takes longer than along them.
TEST_F(SharedWork, OfElementsApartIsMore) {
  const Tensor x = rand({512, 512});
  EXPECT_TRUE(isShared([&] { add(slice(x, 1, 0, std::nullopt, 2), 1.0); }));
}

}  // namespace
}  // namespace boxcar
