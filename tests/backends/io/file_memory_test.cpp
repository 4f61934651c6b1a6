#include <boxcar/backends/cpu/panel_kernels.h>
#include <boxcar/backends/native/file_memory.h>
#include <boxcar/ivalue/weak_ptr.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/backends/tensor_helpers.h"
#include "tests/temporary_folder.h"

// Weights are packed from a second mapping of their file: the pages of the first one do not become the process's.

namespace boxcar {
namespace {

using native::readOnce;

// A file with one tensor.
class FileMemory : public testing::Test {
 protected:
  Tensor loaded(const Tensor& tensor, const std::string& name = "x.safetensors") const {
    Dict<std::string, Tensor> tensors;
    tensors.insert_or_assign("x", tensor);
    io::save(tensors, folder_ / name);
    return callBoxed("io::load", folder_ / name).to<Dict<std::string, Tensor>>().at("x");
  }

 private:
  TemporaryFolder folder_;
};

// Returns which part of the tensor's pages the process has in its memory; nothing if the system does not tell.
std::optional<double> residentPart(const Tensor& tensor) {
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const int file = ::open("/proc/self/pagemap", O_RDONLY);
  if (file < 0) return std::nullopt;
  std::vector<uint64_t> entries(tensor.nbytes() / page);
  const ssize_t size = ::pread(file, entries.data(), entries.size() * sizeof(uint64_t),
                               static_cast<off_t>(reinterpret_cast<uint64_t>(tensor.data_ptr()) / page * 8));
  ::close(file);
  if (size != static_cast<ssize_t>(entries.size() * sizeof(uint64_t))) return std::nullopt;
  const auto present = std::ranges::count_if(entries, [](uint64_t entry) { return entry >> 63 != 0; });
  return static_cast<double>(present) / static_cast<double>(entries.size());
}

TEST_F(FileMemory, IsReadThroughAnotherMapping) {
  const Tensor numbers = randn({600, 1000});
  const Tensor x = loaded(numbers);
  if (!residentPart(x).has_value()) GTEST_SKIP() << "the system does not tell which pages are there";
  const Tensor once = readOnce(x);
  EXPECT_NE(once.data_ptr(), x.data_ptr());
  EXPECT_TRUE(equal(once, numbers));
  EXPECT_LT(*residentPart(x), 0.2);
  EXPECT_GT(*residentPart(once), 0.9);
  EXPECT_TRUE(equal(x, numbers));
}

TEST_F(FileMemory, OfAnyPartAndLayoutIsRead) {
  const Tensor numbers = randn({600, 1000});
  const Tensor x = loaded(numbers);
  for (const auto& part :
       {+[](const Tensor& all) { return t(all); }, +[](const Tensor& all) { return slice(all, 0, 201, 577); },
        +[](const Tensor& all) { return slice(all, 1, 3, 998, 2); }}) {
    const Tensor once = readOnce(part(x));
    EXPECT_TRUE(equal(once, part(numbers)));
    EXPECT_EQ(stridesOf(once), stridesOf(part(x)));
  }
}

TEST_F(FileMemory, ThatWasWrittenToIsReadAsItIs) {
  Tensor x = loaded(zeros({600, 1000}));
  x.data_ptr<float>()[345678] = 7;
  EXPECT_EQ(readOnce(x).data_ptr(), x.data_ptr());
  EXPECT_EQ(elements<float>(readOnce(x))[345678], 7);
  x = loaded(zeros({600, 1000}));
  Tensor row = select(x, 0, 599);
  add_(row, 1);
  EXPECT_TRUE(equal(readOnce(x), x));
}

TEST_F(FileMemory, OutlivesItsTensor) {
  const Tensor numbers = randn({600, 1000});
  Tensor x = loaded(numbers);
  const Tensor once = readOnce(x);
  x = Tensor();
  EXPECT_TRUE(equal(once, numbers));
}

TEST_F(FileMemory, OtherTensorsAreReadAsTheyAre) {
  for (const Tensor& x : {randn({600, 1000}), loaded(randn({20})), zeros({0}),
                          empty({600, 1000}, ScalarType::Float, Layout::Strided, Device("meta"))})
    EXPECT_EQ(readOnce(x).unsafeGetTensorImpl(), x.unsafeGetTensorImpl());
}

TEST_F(FileMemory, OfManyFilesKeepsFewOpen) {
  std::vector<Tensor> all;
  for (int i = 0; i < 66; ++i)
    all.push_back(loaded(full({70000}, i, ScalarType::Float), std::to_string(i) + ".safetensors"));
  for (int i = 0; i < 66; ++i) EXPECT_EQ(elements<float>(readOnce(all[static_cast<size_t>(i)]))[69999], i);
  EXPECT_EQ(readOnce(all.back()).data_ptr(), all.back().data_ptr());
}

TEST_F(FileMemory, OfPackedWeightsStaysInTheFile) {
  const Tensor numbers = randn({256, 128, 3, 3});
  const Tensor weight = loaded(numbers);
  const auto result = [](const Tensor& kernels) {
    return fused::convolution(ones({1, 128, 28, 28}), kernels, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                              std::nullopt, 1e-5, {1}, {1});
  };
  const Tensor got = result(weight);
  if (!attachedTo(*weight.storage())) GTEST_SKIP() << "this build has no oneDNN";
  if (!residentPart(weight).has_value()) GTEST_SKIP() << "the system does not tell which pages are there";
  EXPECT_LT(*residentPart(weight), 0.2);
  EXPECT_TRUE(equal(got, result(numbers)));
}

// Of one row, too: what is packed lies in large pages. A large weight is packed a part at a time.
TEST_F(FileMemory, OfWeightsOfOneRowStaysInTheFile) {
  for (const auto& [outputs, inputs] : {std::pair<int64_t, int64_t>{700, 500}, {5003, 1000}}) {
    for (const ScalarType type : {ScalarType::Float, ScalarType::BFloat16}) {
      const Tensor numbers = to(randn({outputs, inputs}), type);
      const Tensor weight = loaded(numbers);
      const Tensor x = to(randn({1, inputs}), type);
      const Tensor got = fused::linear(x, weight);
      const double tolerance = type == ScalarType::Float ? 1e-3 : 1e-2;
      EXPECT_TRUE(allclose(to(got, ScalarType::Double),
                           mm(to(x, ScalarType::Double), t(to(numbers, ScalarType::Double))), tolerance,
                           0.1 * tolerance));
      const bool has_panels = cpu::floatPanelKernel(64) != nullptr && cpu::bfloat16PanelKernel(64) != nullptr;
      if (!attachedTo(*weight.storage()) || !has_panels || !residentPart(weight).has_value()) continue;
      if (weight.nbytes() > (size_t{1} << 20)) {
        EXPECT_LT(*residentPart(weight), 0.2);
      }
    }
  }
}

TEST_F(FileMemory, IsToldApart) {
  const Tensor x = loaded(randn({600, 1000}));
  EXPECT_TRUE(native::liesInFile(x));
  EXPECT_TRUE(native::liesInFile(t(x)));
  EXPECT_FALSE(native::liesInFile(clone(x)));
}

}  // namespace
}  // namespace boxcar
