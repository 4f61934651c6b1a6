#include <boxcar/backends/io/safetensors.h>
#include <boxcar/ivalue/file_access.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "tests/test_support.h"

namespace boxcar::io {
namespace {

using Sizes = std::vector<int64_t>;
using TensorDict = Dict<std::string, Tensor>;

// Each test has its own folder, where relative paths start.
class Safetensors : public testing::Test {
 protected:
  Safetensors()
      : folder_(std::filesystem::temp_directory_path() /
                ("boxcar_safetensors_" + std::to_string(::getpid()) + "_" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())),
        guard_(FileAccess{.folder = folder_.string()}) {
    std::filesystem::create_directories(folder_);
  }
  ~Safetensors() override { std::filesystem::remove_all(folder_); }

  std::string pathOf(const std::string& name) const { return (folder_ / name).string(); }

  void writeFile(const std::string& name, const std::string& bytes) const {
    std::ofstream(pathOf(name), std::ios::binary) << bytes;
  }
  std::string readFile(const std::string& name) const {
    std::ifstream file(pathOf(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Writes a file with exactly this header, and [data].
  void writeParts(const std::string& header, const std::string& data) const {
    const uint64_t length = header.size();
    std::string bytes(sizeof(length), '\0');
    std::memcpy(bytes.data(), &length, sizeof(length));
    writeFile("x", bytes + header + data);
  }
  // Returns the error of loading it, after "'…/x' is not a valid safetensors file: ".
  std::string faultOf(const std::string& header, const std::string& data = "") const {
    writeParts(header, data);
    const std::string message = errorOf([] { loadSafetensors("x"); });
    const std::string begin = "'" + pathOf("x") + "' is not a valid safetensors file: ";
    return message.starts_with(begin) ? message.substr(begin.size()) : message;
  }
  size_t filesInFolder() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path folder_;
  FileAccessGuard guard_;
};

template <class T>
Tensor tensorOf(const std::vector<T>& values, const Sizes& sizes) {
  const Tensor tensor = Tensor::allocate(sizes, scalarTypeOf<T>);
  std::ranges::copy(values, tensor.data_ptr<T>());
  return tensor;
}

std::string bytesOf(const Tensor& tensor) { return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()}; }

TEST_F(Safetensors, ReadsBackWhatWasSavedOfEveryDtype) {
  TensorDict saved;
  for (const ScalarType dtype :
       {ScalarType::Bool, ScalarType::Byte, ScalarType::Char, ScalarType::Short, ScalarType::Int, ScalarType::Long,
        ScalarType::Half, ScalarType::BFloat16, ScalarType::Float, ScalarType::Double, ScalarType::ComplexFloat}) {
    const Tensor tensor = Tensor::allocate(Sizes{3, 1}, dtype);
    for (size_t i = 0; i < tensor.nbytes(); ++i) {
      static_cast<uint8_t*>(tensor.data_ptr())[i] = static_cast<uint8_t>(dtype == ScalarType::Bool ? i % 2 : 7 * i);
    }
    saved.insert_or_assign(std::string(dtypeName(dtype)), tensor);
  }
  saveSafetensors(saved, "all.safetensors");
  const TensorDict loaded = loadSafetensors("all.safetensors");
  ASSERT_EQ(loaded.size(), saved.size());
  for (size_t i = 0; i < saved.size(); ++i) {
    const auto [name, tensor] = loaded.entryAt(i);
    EXPECT_EQ(name, saved.entryAt(i).first);
    EXPECT_EQ(dtypeName(tensor.dtype()), name);
    EXPECT_TRUE(std::ranges::equal(tensor.sizes(), Sizes{3, 1}));
    EXPECT_EQ(bytesOf(tensor), bytesOf(saved.at(name))) << name;
  }
}

TEST_F(Safetensors, ReadsTheTextsBesideTheTensors) {
  const std::string header =
      R"({"__metadata__":{"b":"two","a":"\u00e9\n"},"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  writeFile("texts", length + header + "\x07");
  const Dict<std::string, std::string> texts = loadSafetensorsMetadata("texts");
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts.at("a"), "é\n");
  EXPECT_EQ(texts.at("b"), "two");
  saveSafetensors(TensorDict(), "none");
  EXPECT_EQ(loadSafetensorsMetadata("none").size(), 0u);
}

TEST_F(Safetensors, TheFileIsAsTheFormatSays) {
  TensorDict tensors;
  tensors.insert_or_assign("flag", tensorOf<bool>({true}, {1}));
  tensors.insert_or_assign("value", tensorOf<int16_t>({513}, {}));
  saveSafetensors(tensors, "x");
  const std::string header =
      R"({"flag":{"dtype":"BOOL","shape":[1],"data_offsets":[2,3]},"value":{"dtype":"I16","shape":[],"data_offsets":[0,2]}})";
  EXPECT_EQ(readFile("x"), std::string("\x78\0\0\0\0\0\0\0", 8) + header + "      " + std::string("\x01\x02\x01", 3));
}

TEST_F(Safetensors, ShapesWithoutElementsOrDimensions) {
  TensorDict saved;
  saved.insert_or_assign("none", Tensor::allocate(Sizes{0, 3}, ScalarType::Float));
  saved.insert_or_assign("one", tensorOf<float>({2.5f}, {}));
  saveSafetensors(saved, "x");
  const TensorDict loaded = loadSafetensors("x");
  EXPECT_TRUE(std::ranges::equal(loaded.at("none").sizes(), Sizes{0, 3}));
  EXPECT_EQ(loaded.at("one").dim(), 0);
  EXPECT_EQ(*loaded.at("one").data_ptr<float>(), 2.5f);
  saveSafetensors(TensorDict(), "empty");
  EXPECT_TRUE(loadSafetensors("empty").empty());
}

TEST_F(Safetensors, AStridedTensorIsWrittenInItsOwnOrder) {
  const Tensor matrix = tensorOf<int32_t>({0, 1, 2, 3, 4, 5}, {2, 3});
  TensorDict saved;
  saved.insert_or_assign("transposed", matrix.view(Sizes{3, 2}, Sizes{1, 3}, 0));
  saved.insert_or_assign("column", matrix.view(Sizes{2}, Sizes{3}, 2));
  saved.insert_or_assign("expanded", matrix.view(Sizes{2, 2}, Sizes{0, 1}, 1));
  saveSafetensors(saved, "x");
  const TensorDict loaded = loadSafetensors("x");
  EXPECT_EQ(bytesOf(loaded.at("transposed")), bytesOf(tensorOf<int32_t>({0, 3, 1, 4, 2, 5}, {3, 2})));
  EXPECT_EQ(bytesOf(loaded.at("column")), bytesOf(tensorOf<int32_t>({2, 5}, {2})));
  EXPECT_EQ(bytesOf(loaded.at("expanded")), bytesOf(tensorOf<int32_t>({1, 2, 1, 2}, {2, 2})));
}

TEST_F(Safetensors, AlignedTensorsLieInTheFileAndOthersAreCopied) {
  // One byte precedes the float, so that it is not aligned.
  writeParts(
      R"({"f":{"dtype":"F32","shape":[1],"data_offsets":[1,5]},"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
      std::string("\x07\0\0\x20\x40", 5));
  const TensorDict loaded = loadSafetensors("x");
  EXPECT_EQ(*loaded.at("b").data_ptr<uint8_t>(), 7);
  EXPECT_EQ(*loaded.at("f").data_ptr<float>(), 2.5f);
  const std::string resize =
      "a storage of 1 bytes that wraps foreign memory (a file, another library) cannot be resized";
  EXPECT_TRUE(errorOf([&] { loaded.at("b").storage()->resize(8); }).starts_with(resize));
  EXPECT_EQ(errorOf([&] { loaded.at("f").storage()->resize(8); }), "no error");
}

TEST_F(Safetensors, SavedTensorsAreAllSharedWhenLoaded) {
  TensorDict saved;
  saved.insert_or_assign("bytes", tensorOf<uint8_t>({1, 2, 3}, {3}));
  saved.insert_or_assign("doubles", tensorOf<double>({0.5}, {1}));
  saved.insert_or_assign("halves", tensorOf<Half>({Half(1.0f)}, {1}));
  saved.insert_or_assign("ints", tensorOf<int32_t>({1, 2, 3}, {3}));
  saveSafetensors(saved, "x");
  const TensorDict loaded = loadSafetensors("x");
  const auto* first = static_cast<const std::byte*>(loaded.at("doubles").data_ptr());
  EXPECT_EQ(static_cast<const std::byte*>(loaded.at("ints").data_ptr()) - first, 8);
  EXPECT_EQ(static_cast<const std::byte*>(loaded.at("halves").data_ptr()) - first, 20);
  EXPECT_EQ(static_cast<const std::byte*>(loaded.at("bytes").data_ptr()) - first, 22);
}

TEST_F(Safetensors, WritingToALoadedTensorLeavesTheFile) {
  TensorDict saved;
  saved.insert_or_assign("a", tensorOf<int64_t>({1, 2}, {2}));
  saveSafetensors(saved, "x");
  const std::string before = readFile("x");
  const Tensor loaded = loadSafetensors("x").at("a");
  loaded.data_ptr<int64_t>()[0] = 100;
  EXPECT_EQ(readFile("x"), before);
  EXPECT_EQ(loadSafetensors("x").at("a").data_ptr<int64_t>()[0], 1);
}

TEST_F(Safetensors, TensorsOutliveTheDictAndTheFile) {
  TensorDict saved;
  std::vector<int64_t> numbers(5000);
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  saved.insert_or_assign("a", tensorOf<int64_t>(numbers, {5000}));
  saved.insert_or_assign("b", tensorOf<int64_t>({1}, {1}));
  saveSafetensors(saved, "x");
  const Tensor loaded = loadSafetensors("x").at("a");
  std::filesystem::remove(pathOf("x"));
  EXPECT_EQ(loaded.data_ptr<int64_t>()[4999], 4999);
}

TEST_F(Safetensors, AFileCanBeSavedOverWhileItIsLoaded) {
  TensorDict saved;
  saved.insert_or_assign("a", tensorOf<int64_t>({1, 2}, {2}));
  saveSafetensors(saved, "x");
  const TensorDict loaded = loadSafetensors("x");
  loaded.at("a").data_ptr<int64_t>()[1] = 20;
  saveSafetensors(loaded, "x");
  EXPECT_EQ(loaded.at("a").data_ptr<int64_t>()[0], 1);
  EXPECT_EQ(loadSafetensors("x").at("a").data_ptr<int64_t>()[1], 20);
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(Safetensors, NamesMayBeAnyText) {
  const char* const names[] = {"", "a.b/c", "quote\"s \\", "line\nbreak", "größe", "\x01"};
  TensorDict saved;
  for (const char* name : names) saved.insert_or_assign(name, tensorOf<uint8_t>({1}, {1}));
  saveSafetensors(saved, "x");
  const TensorDict loaded = loadSafetensors("x");
  for (const char* name : names) EXPECT_TRUE(loaded.contains(name)) << name;
}

TEST_F(Safetensors, MetadataAndOrderOfTheHeader) {
  writeParts(R"({"z":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},"__metadata__":{"format":"pt"},)"
             R"("a":{"data_offsets":[0,1],"shape":[1],"dtype":"U8"}}   )",
             "AZ");
  const TensorDict loaded = loadSafetensors("x");
  ASSERT_EQ(loaded.size(), 2u);
  EXPECT_EQ(loaded.entryAt(0).first, "z");
  EXPECT_EQ(*loaded.at("z").data_ptr<uint8_t>(), 'Z');
  EXPECT_EQ(*loaded.at("a").data_ptr<uint8_t>(), 'A');
}

TEST_F(Safetensors, MissingFilesAndFoldersAreNamed) {
  EXPECT_EQ(errorOf([] { loadSafetensors("missing"); }),
            "cannot open '" + pathOf("missing") + "': No such file or directory");
  EXPECT_EQ(errorOf([&] { loadSafetensors(pathOf("no/file")); }),
            "cannot open '" + pathOf("no/file") + "': No such file or directory");
  EXPECT_EQ(errorOf([&] { loadSafetensors(pathOf("")); }),
            "cannot read '" + pathOf("") + "': it is a folder, not a file");
  ASSERT_EQ(::mkfifo(pathOf("pipe").c_str(), 0600), 0);
  EXPECT_EQ(errorOf([] { loadSafetensors("pipe"); }), "cannot read '" + pathOf("pipe") + "': it is not a regular file");
}

TEST_F(Safetensors, FilesThatEndInTheirHeader) {
  const std::string file = "'" + pathOf("x") + "' is not a ";
  writeFile("x", "");
  EXPECT_EQ(errorOf([] { loadSafetensors("x"); }),
            file + "safetensors file: it has 0 bytes, and the length of the header alone takes 8");
  writeFile("x", "1234567");
  EXPECT_EQ(errorOf([] { loadSafetensors("x"); }),
            file + "safetensors file: it has 7 bytes, and the length of the header alone takes 8");
  writeFile("x", std::string("\x05\0\0\0\0\0\0\0{}", 10));
  EXPECT_EQ(errorOf([] { loadSafetensors("x"); }),
            file + "valid safetensors file: its header should have 5 bytes, but only 2 follow");
  writeFile("x", std::string(8, '\xff') + "{}");
  EXPECT_EQ(errorOf([] { loadSafetensors("x"); }),
            file + "valid safetensors file: its header should have 18446744073709551615 bytes, but only 2 follow");
}

TEST_F(Safetensors, HeadersThatAreNoObject) {
  EXPECT_EQ(faultOf(""), "its header is not JSON (at byte 1 of 0)");
  EXPECT_EQ(faultOf(R"({"a":)"), "its header is not JSON (at byte 6 of 5)");
  EXPECT_EQ(faultOf("{} x"), "its header is not JSON (at byte 4 of 4)");
  EXPECT_EQ(faultOf(std::string("{} \0  ", 6)), "its header is not JSON (at byte 4 of 6)");
  EXPECT_EQ(faultOf("{\"\xff\":1}"), "its header is not JSON (at byte 3 of 7)");
  EXPECT_EQ(faultOf(std::string(200000, '[')), "its header is not JSON (at byte 200001 of 200000)");
  EXPECT_EQ(faultOf("[1]"), "its header is JSON, but an array instead of an object");
  EXPECT_EQ(faultOf("3"), "its header is JSON, but a number instead of an object");
  EXPECT_EQ(faultOf("null"), "its header is JSON, but null instead of an object");
  EXPECT_EQ(faultOf(R"({"a":1e999})"), "its header has a number that is too large");
}

TEST_F(Safetensors, EntriesThatAreIncomplete) {
  EXPECT_EQ(faultOf(R"({"a":5})"), "its tensor 'a' is described by a number instead of an object");
  EXPECT_EQ(faultOf(R"({"a":{"shape":[],"data_offsets":[0,1]}})"), "its tensor 'a' has no dtype");
  EXPECT_EQ(faultOf(R"({"a":{"dtype":"U8","data_offsets":[0,1]}})"), "its tensor 'a' has no shape");
  EXPECT_EQ(faultOf(R"({"a":{"dtype":"U8","shape":[]}})"), "its tensor 'a' has no data_offsets");
  EXPECT_EQ(faultOf(R"({"__metadata__":3})"), "its __metadata__ is a number instead of an object");
  EXPECT_EQ(faultOf(R"({"__metadata__":{"a":[]}})"),
            "in its __metadata__ the value of 'a' is an array instead of a string");
  EXPECT_EQ(faultOf(R"({"b":{},"a":{},"b":{}})"), "its header names the tensor 'b' twice");
}

TEST_F(Safetensors, UnknownDtypes) {
  EXPECT_EQ(
      faultOf(R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", "x"),
      "'" + pathOf("x") +
          "' cannot be loaded: its tensor 'a' has the dtype \"F8_E4M3\", which boxcar does not have; it has BOOL, "
          "U8, I8, I16, I32, I64, F16, BF16, F32, F64, C64");
  EXPECT_EQ(faultOf(R"({"a":{"dtype":8,"shape":[1],"data_offsets":[0,1]}})", "x"),
            "its tensor 'a' has the dtype 8, which is not a string");
}

TEST_F(Safetensors, ShapesThatCannotBe) {
  const auto fault = [&](const std::string& shape) {
    return faultOf(R"({"a":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,4]}})", "1234");
  };
  EXPECT_EQ(fault("3"), "its tensor 'a' has the shape 3, which is not a list");
  EXPECT_EQ(fault("[2,-1]"), "its tensor 'a' has the shape [2,-1], where -1 is not a whole number from 0 to 2^63 - 1");
  EXPECT_EQ(fault("[1.5]"), "its tensor 'a' has the shape [1.5], where 1.5 is not a whole number from 0 to 2^63 - 1");
  EXPECT_EQ(fault("[9223372036854775808]"),
            "its tensor 'a' has the shape [9223372036854775808], where 9223372036854775808 is not a whole number from "
            "0 to 2^63 - 1");
  EXPECT_EQ(fault("[4611686018427387904,4]"),
            "its tensor 'a' of dtype F32 and shape [4611686018427387904, 4] has more bytes than 63 bits can count");
  EXPECT_EQ(fault("[2]"),
            "its tensor 'a' of dtype F32 and shape [2] has 8 bytes, but its data_offsets [0, 4] give it 4");
  EXPECT_EQ(
      fault("[4611686018427387904,4,0]"),
      "its tensor 'a' of dtype F32 and shape [4611686018427387904, 4, 0] has 0 bytes, but its data_offsets [0, 4] "
      "give it 4");
  EXPECT_EQ(fault(std::string(100000, '[') + std::string(100000, ']')),
            "its tensor 'a' has the shape [...], where [...] is not a whole number from 0 to 2^63 - 1");
}

TEST_F(Safetensors, OffsetsThatCannotBe) {
  const auto fault = [&](const std::string& offsets) {
    return faultOf(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + offsets + "}}", "1234");
  };
  EXPECT_EQ(fault("[0]"), "its tensor 'a' has the data_offsets [0], which are no two whole numbers from 0 to 2^63 - 1");
  EXPECT_EQ(fault("[-1,3]"),
            "its tensor 'a' has the data_offsets [-1,3], which are no two whole numbers from 0 to 2^63 - 1");
  EXPECT_EQ(fault("[4,0]"), "its tensor 'a' begins at byte 4 of the data and ends before, at 0");
  EXPECT_EQ(fault("[0,5]"), "its tensor 'a' claims bytes 0 to 5 of the data, but the file has 4 bytes of data");
  EXPECT_EQ(fault("[0,9223372036854775807]"),
            "its tensor 'a' claims bytes 0 to 9223372036854775807 of the data, but the file has 4 bytes of data");
  EXPECT_EQ(fault("[0,4]"), "no error");
}

TEST_F(Safetensors, TensorsThatOverlapOrLeaveGaps) {
  const auto fault = [&](const std::string& a, const std::string& b) {
    return faultOf(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + a +
                       R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + b + "}}",
                   "12345");
  };
  EXPECT_EQ(fault("[1,3]", "[0,2]"),
            "its tensors 'b' and 'a' overlap: one ends at byte 2 of the data, the other begins at 1");
  EXPECT_EQ(fault("[0,2]", "[3,5]"), "no tensor has bytes 2 to 3 of its data, before tensor 'b'");
  EXPECT_EQ(fault("[0,2]", "[2,4]"), "its tensors take 4 bytes, but the file has 5 bytes of data");
}

TEST_F(Safetensors, BoolsAreZeroOrOne) {
  EXPECT_EQ(faultOf(R"({"m":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})", std::string("\0\1\7", 3)),
            "element 2 of its tensor 'm' of dtype BOOL is 7, neither 0 nor 1");
}

TEST_F(Safetensors, WhatCannotBeSaved) {
  const auto fault = [&](const std::string& name, const Tensor& tensor) {
    TensorDict dict;
    dict.insert_or_assign(name, tensor);
    const std::string message = errorOf([&] { saveSafetensors(dict, "y"); });
    const std::string begin = "cannot write '" + pathOf("y") + "': ";
    return message.starts_with(begin) ? message.substr(begin.size()) : message;
  };
  EXPECT_EQ(fault("a", Tensor()), "the tensor 'a' is undefined");
  EXPECT_EQ(fault("a", Tensor::allocate(Sizes{2}, ScalarType::Float, Device(DeviceType::Meta))),
            "the tensor 'a' cannot be read: it is on the meta device, or fake, and has no elements; make it on another "
            "device");
  EXPECT_EQ(fault("a", Tensor::allocate(Sizes{2}, ScalarType::ComplexDouble)),
            "the tensor 'a' has the dtype complex128, which safetensors files do not have");
  EXPECT_EQ(fault("a", tensorOf<float>({1}, {1}).view(Sizes{int64_t{1} << 62}, Sizes{0}, 0)),
            "a tensor of 4611686018427387904 elements of float32 has more bytes than a file can have; save what it was "
            "expanded from");
  EXPECT_EQ(fault("__metadata__", tensorOf<float>({1}, {1})), "'__metadata__' cannot be the name of a tensor");
  EXPECT_EQ(fault("\xff", tensorOf<float>({1}, {1})), "the name '\\xff' of a tensor is not UTF-8 text");
  EXPECT_EQ(filesInFolder(), 0u);
}

TEST_F(Safetensors, PlacesThatCannotBeWritten) {
  TensorDict dict;
  dict.insert_or_assign("a", tensorOf<float>({1}, {1}));
  EXPECT_EQ(errorOf([&] { saveSafetensors(dict, "no/y"); }),
            "cannot write '" + pathOf("no/y") + "': No such file or directory");
  std::filesystem::create_directory(pathOf("folder"));
  EXPECT_EQ(errorOf([&] { saveSafetensors(dict, "folder"); }),
            "cannot write '" + pathOf("folder") + "': Is a directory");
  EXPECT_EQ(filesInFolder(), 1u);
  EXPECT_EQ(errorOf([&] { saveSafetensors(dict, "/proc/y"); }).substr(0, 24), "cannot write '/proc/y': ");
}

TEST_F(Safetensors, ASandboxHoldsForBoth) {
  TensorDict dict;
  dict.insert_or_assign("a", tensorOf<float>({1}, {1}));
  std::filesystem::create_directory(pathOf("home"));
  saveSafetensors(dict, "x");
  saveSafetensors(dict, "home/x");
  const std::string outside = " is outside of the folders that the sandbox allows to be ";
  const auto refused = [&](const std::string& begin, auto&& body) {
    const std::string message = errorOf(body);
    return message.starts_with(begin) && message.find(outside) != std::string::npos;
  };
  {
    const FileAccessGuard guard(FileAccess::sandboxed(pathOf("home")));
    EXPECT_EQ(loadSafetensors("x").size(), 1u);
    EXPECT_TRUE(refused("cannot open '" + pathOf("home/../x") + "': ", [] { loadSafetensors("../x"); }));
    EXPECT_TRUE(refused("cannot write '" + pathOf("home/x") + "': ", [&] { saveSafetensors(dict, "x"); }));
    EXPECT_TRUE(refused("cannot write '" + pathOf("home/../x") + "': ", [&] { saveSafetensors(dict, "../x"); }));
  }
  const FileAccessGuard guard(FileAccess::sandboxed(pathOf("home"), {.writable = {pathOf("home")}}));
  dict.insert_or_assign("b", tensorOf<float>({2}, {1}));
  saveSafetensors(dict, "x");
  EXPECT_EQ(loadSafetensors("x").size(), 2u);
}

TEST_F(Safetensors, AFailedSaveLeavesTheOldFile) {
  TensorDict dict;
  dict.insert_or_assign("a", tensorOf<float>({1}, {1}));
  saveSafetensors(dict, "x");
  dict.insert_or_assign("b", Tensor());
  EXPECT_NE(errorOf([&] { saveSafetensors(dict, "x"); }), "no error");
  EXPECT_EQ(loadSafetensors("x").size(), 1u);
  EXPECT_EQ(filesInFolder(), 1u);
}

}  // namespace
}  // namespace boxcar::io
