#include <boxcar/ivalue/file_access.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"
#include "tests/temporary_folder.h"

namespace boxcar::io {
namespace {

using namespace std::string_literals;

template <class T>
std::string packed(T value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}
std::string packed(const std::string& text) { return packed(uint64_t{text.size()}) + text; }

constexpr uint32_t kUInt32 = 4, kString = 8, kArray = 9, kUInt64 = 10;

std::string describe(const std::string& name, const std::vector<uint64_t>& dims, uint32_t type, uint64_t offset) {
  std::string text = packed(name) + packed(static_cast<uint32_t>(dims.size()));
  for (const uint64_t size : dims) text += packed(size);
  return text + packed(type) + packed(offset);
}

class Gguf : public testing::Test {
 protected:
  Gguf() : guard_(FileAccess{.folder = folder_.path()}) {}

  static std::string file(const std::vector<std::string>& metadata, const std::vector<std::string>& tensors,
                          const std::string& data, uint32_t version = 3, size_t alignment = 32) {
    std::string text = "GGUF" + packed(version) + packed(uint64_t{tensors.size()}) + packed(uint64_t{metadata.size()});
    for (const std::string& entry : metadata) text += entry;
    for (const std::string& entry : tensors) text += entry;
    text.resize((text.size() + alignment - 1) / alignment * alignment);
    return text + data;
  }
  Dict<std::string, Tensor> load(const std::string& text) const {
    folder_.write("x.gguf", text);
    return io::load("x.gguf");
  }
  std::string faultOf(const std::string& text) const {
    const std::string message = errorOf([&] { load(text); });
    const std::string begin = "'" + (folder_ / "x.gguf") + "' is not a ";
    return message.starts_with(begin) ? message.substr(begin.size()) : message;
  }

 private:
  const TemporaryFolder folder_;
  const FileAccessGuard guard_;
};

TEST_F(Gguf, SizesAreInPyTorchsOrder) {
  const std::vector<std::string> metadata = {
      packed("general.architecture"s) + packed(kString) + packed("llama"s),
      packed("tokens"s) + packed(kArray) + packed(kString) + packed(uint64_t{2}) + packed("a"s) + packed("b"s),
      packed("nested"s) + packed(kArray) + packed(kArray) + packed(uint64_t{1}) + packed(kUInt64) +
          packed(uint64_t{1}) + packed(uint64_t{5}),
  };
  const std::string numbers = packed(0.F) + packed(1.F) + packed(2.F) + packed(3.F) + packed(4.F) + packed(5.F);
  for (const uint32_t version : {2U, 3U}) {
    const auto tensors = load(file(
        metadata,
        {describe("w", {3, 2}, 0, 0), describe("n", {}, 24, 32), describe("e", {0}, 28, 0), describe("b", {1}, 30, 32)},
        numbers + std::string(8, '\0') + "\x07\x40"s, version));
    EXPECT_EQ(toString(tensors.at("w")), "tensor([[0., 1., 2.],\n        [3., 4., 5.]])");
    EXPECT_EQ(toString(tensors.at("n")), "tensor(7, dtype=torch.int8)");
    EXPECT_EQ(toString(tensors.at("e")), "tensor([], dtype=torch.float64)");
    EXPECT_EQ(tensors.at("b").scalar_type(), ScalarType::BFloat16);
  }
}

TEST_F(Gguf, MetadataMayGiveTheAlignment) {
  const std::vector<std::string> metadata = {packed("general.alignment"s) + packed(kUInt32) + packed(uint32_t{256})};
  EXPECT_EQ(toString(load(file(metadata, {describe("w", {1}, 26, 0)}, packed(int32_t{7}), 3, 256)).at("w")),
            "tensor([7], dtype=torch.int32)");
  const std::vector<std::string> zero = {packed("general.alignment"s) + packed(kUInt32) + packed(uint32_t{0})};
  EXPECT_EQ(faultOf(file(zero, {}, "")),
            "GGUF file that can be loaded: at byte 49, 'general.alignment' is 0, no multiple of 8");
}

TEST_F(Gguf, QuantisedTensorsAreRefused) {
  EXPECT_EQ(faultOf(file({}, {describe("blk.0.attn_q.weight", {256}, 12, 0)}, std::string(144, '\0'))),
            "GGUF file that can be loaded: at byte 63, the tensor 'blk.0.attn_q.weight' has the type Q4_K, and "
            "quantised tensors "
            "are not read: take a file with F16, BF16 or F32, or the model's safetensors files");
  EXPECT_EQ(faultOf(file({}, {describe("w", {256}, 99, 0)}, "")).substr(0, 90),
            "GGUF file that can be loaded: at byte 45, the tensor 'w' has the type 99, which is unknown");
}

TEST_F(Gguf, BrokenFilesAreRefused) {
  const std::string begin = "GGUF file that can be loaded: at byte ";
  EXPECT_EQ(faultOf("GGUF"), begin + "4, 4 more bytes should follow, and 0 do");
  EXPECT_EQ(faultOf("GGUF" + packed(1U)), begin + "4, its version is 1, and 2 and 3 are read");
  EXPECT_EQ(faultOf("GGUF\0\0\0\3"s), begin + "4, it is big-endian: write it again for little-endian machines");
  EXPECT_EQ(faultOf("GGUF" + packed(3U) + packed(~uint64_t{0}) + packed(uint64_t{0})),
            begin + "24, 8 more bytes should follow, and 0 do");
  EXPECT_EQ(faultOf(file({packed(~uint64_t{0})}, {}, "")),
            begin + "32, 18446744073709551615 more bytes should follow, and 0 do");
  EXPECT_EQ(faultOf(file({packed("a"s) + packed(13U)}, {}, "")), begin + "33, 13 is no type of a value");
  EXPECT_EQ(faultOf(file({packed("a"s) + packed(kArray) + packed(kUInt64) + packed(~uint64_t{0})}, {}, "")),
            begin + "49, an array should have 18446744073709551615 elements");
  std::string deep = packed("a"s) + packed(kArray);
  for (int i = 0; i < 20; ++i) deep += packed(kArray) + packed(uint64_t{1});
  EXPECT_EQ(faultOf(file({deep}, {}, "")), begin + "133, arrays are nested more than 8 deep");
  EXPECT_EQ(faultOf(file({}, {describe("w", std::vector<uint64_t>(65, 1), 0, 0)}, "")),
            begin + "33, the tensor 'w' has 65 dimensions");
  EXPECT_EQ(faultOf(file({}, {describe("w", {~uint64_t{0}}, 0, 0)}, "")),
            begin + "33, the tensor 'w' has too large a size");
  EXPECT_EQ(faultOf(file({}, {describe("w", {2}, 0, 0)}, "1234")),
            "valid GGUF file: the tensor 'w' of float32 and sizes [2] begins at byte 0 of the data, which has 4 bytes");
  EXPECT_EQ(faultOf(file({}, {describe("w", {1}, 0, ~uint64_t{0})}, "1234")).substr(0, 30),
            "valid GGUF file: the tensor 'w");
  const uint64_t half = uint64_t{1} << 62;
  EXPECT_EQ(faultOf(file({}, {describe("w", {half, half}, 0, 0)}, "1234")).substr(0, 30),
            "valid GGUF file: the tensor 'w");
  EXPECT_EQ(faultOf(file({}, {describe("w", {1}, 0, 0), describe("w", {1}, 0, 0)}, "1234")),
            "valid GGUF file: it has two tensors 'w'");
}

}  // namespace
}  // namespace boxcar::io
