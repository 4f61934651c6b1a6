#include <boxcar/backends/io/npy.h>
#include <boxcar/backends/io/npy_header.h>
#include <boxcar/ivalue/file_access.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// npy_test.py compares with NumPy; this file tests faulty files.

namespace boxcar::io {
namespace {

class Npy : public testing::Test {
 protected:
  Npy()
      : folder_(std::filesystem::temp_directory_path() /
                ("boxcar_npy_" + std::to_string(::getpid()) + "_" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())),
        guard_(FileAccess{.folder = folder_.string()}) {
    std::filesystem::create_directories(folder_);
  }
  ~Npy() override { std::filesystem::remove_all(folder_); }

  std::string pathOf(const std::string& name) const { return (folder_ / name).string(); }
  void writeFile(const std::string& bytes) const { std::ofstream(pathOf("x"), std::ios::binary) << bytes; }
  std::string readFile(const std::string& name) const {
    std::ifstream file(pathOf(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t filesInFolder() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()));
  }
  // Returns the error of loading [bytes], after "'…/x' ".
  std::string faultOf(const std::string& bytes) const {
    writeFile(bytes);
    const std::string message = errorOf([] { loadNpy("x"); });
    const std::string begin = "'" + pathOf("x") + "' ";
    return message.starts_with(begin) ? message.substr(begin.size()) : message;
  }

 private:
  std::filesystem::path folder_;
  FileAccessGuard guard_;
};

// Returns a file in format 1.0.
std::string fileOf(const std::string& dict, const std::string& data = "") {
  const auto low = static_cast<char>(dict.size() & 0xff);
  const auto high = static_cast<char>(dict.size() >> 8);
  return std::string("\x93NUMPY\x01\x00", 8) + low + high + dict + data;
}

std::string dictOf(const std::string& descr, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
}

TEST_F(Npy, IsWrittenAsNumPyWritesIt) {
  saveNpy(floats({1, 2, 3}), "a.npy");
  std::string header("\x93NUMPY\x01\x00\x76\x00", 10);
  header += "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  header.resize(127, ' ');
  const std::string bytes = readFile("a.npy");
  EXPECT_EQ(bytes.substr(0, 128), header + "\n");
  EXPECT_EQ(bytes.size(), 140);
  const Tensor read = loadNpy("a.npy");
  EXPECT_EQ(elements<float>(read), (std::vector<float>{1, 2, 3}));
  // Writing to the loaded tensor does not change the file.
  read.data_ptr<float>()[0] = 9;
  EXPECT_EQ(readFile("a.npy"), bytes);
}

TEST_F(Npy, ReadsOtherWaysToWriteAHeader) {
  const std::string data("\x01\x02\x03\x04", 4);
  for (const char* dict : {
           "{\"shape\":(2,2),\"descr\":\"|u1\",\"fortran_order\":False}",
           "  { 'descr' : 'u1' , 'fortran_order' : False , 'shape' : ( 2L , 2 ) , }\n",
           "{'descr': '=u1', 'fortran_order': False, 'shape': (2, 2,), }   \n",
       }) {
    writeFile(fileOf(dict, data));
    EXPECT_EQ(elements<uint8_t>(loadNpy("x")), (std::vector<uint8_t>{1, 2, 3, 4})) << dict;
  }
  writeFile(fileOf("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 1), }", data));
  const Tensor big = loadNpy("x");
  EXPECT_EQ(elements<int16_t>(big), (std::vector<int16_t>{0x102, 0x304}));
  EXPECT_EQ(stridesOf(big), (std::vector<int64_t>{1, 2}));
}

TEST_F(Npy, TellsWhatIsWrongWithAFileAndWhere) {
  EXPECT_EQ(faultOf(""), "is not a .npy file: it has 0 bytes and does not begin with '\\x93NUMPY'");
  EXPECT_EQ(faultOf("PK\x03\x04 a zip file"), "is not a .npy file, but an archive: io::load reads .npz files");
  EXPECT_EQ(faultOf("\x93NUMPY\x01"), "is not a valid .npy file: it ends at byte 7, before its version");
  EXPECT_EQ(faultOf(std::string("\x93NUMPY\x04\x00\x00\x00", 10)),
            "cannot be loaded: at byte 6, it has the format version 4.0, and 1.0, 2.0 and 3.0 are known");
  EXPECT_EQ(faultOf(std::string("\x93NUMPY\x02\x00\x00\x00", 10)),
            "is not a valid .npy file: it ends at byte 10, in the length of its header");
  EXPECT_EQ(faultOf(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14)),
            "is not a valid .npy file: at byte 8, its header should have 4294967295 bytes, but only 2 follow");
}

TEST_F(Npy, TellsWhatIsWrongWithAHeaderAndWhere) {
  const auto of = [&](const std::string& dict) {
    const std::string fault = faultOf(fileOf(dict));
    const std::string begin = "is not a valid .npy file: at byte ";
    return fault.starts_with(begin) ? fault.substr(begin.size()) : fault;
  };
  EXPECT_EQ(of(""), "10, the header ends where it needs the header to be a dict");
  EXPECT_EQ(of("[1]"), "10, the header has '[' where it needs the header to be a dict");
  EXPECT_EQ(of("{}"), "10, the header has no 'descr'");
  EXPECT_EQ(of("{'descr': '<f4'}"), "10, the header has no 'fortran_order'");
  EXPECT_EQ(of("{'descr': '<f4', 'descr': '<f4'}"), "27, the header has 'descr' twice");
  EXPECT_EQ(of("{'descr': '<f4"), "20, a string of the header does not end");
  EXPECT_EQ(of("{'more': 1}"), "11, the header has an entry 'more', where 'descr', 'fortran_order' and 'shape' can be");
  EXPECT_EQ(of("{'fortran_order': 0}"), "28, 'fortran_order' is neither True nor False");
  EXPECT_EQ(of("{'shape': 3}"), "20, the header has '3' where it needs 'shape' to be a tuple");
  EXPECT_EQ(of("{'shape': (3)}"), "23, 'shape' is a number, and has to be a tuple: (n,)");
  EXPECT_EQ(of("{'shape': (3 4)}"), "23, the sizes in 'shape' need commas between them");
  EXPECT_EQ(of("{'shape': (-1,)}"), "21, 'shape' needs a whole number from 0 on for each dimension");
  EXPECT_EQ(of("{'shape': ((1,),)}"), "21, 'shape' needs a whole number from 0 on for each dimension");
  EXPECT_EQ(of("{'shape': (3, 9223372036854775808)}"), "24, a size in 'shape' is larger than 9223372036854775807");
  EXPECT_EQ(of(dictOf("<f4", "()") + "x"), "65, something follows the dict of the header");
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1,";
  EXPECT_NE(of(dictOf("<f4", many + ")")).find("'shape' has more than 64 dimensions"), std::string::npos);
}

TEST_F(Npy, TellsWhatIsWrongWithTheElements) {
  EXPECT_EQ(
      faultOf(fileOf(dictOf("<f4", "(2,)"), "1234567")),
      "is not a valid .npy file: an array of dtype float32 and shape (2,) has 8 bytes, but 7 follow the header, which "
      "ends at byte 67");
  EXPECT_EQ(
      faultOf(fileOf(dictOf("<f4", "()"), "12345")),
      "is not a valid .npy file: an array of dtype float32 and shape () has 4 bytes, but 5 follow the header, which "
      "ends at byte 65");
  EXPECT_EQ(
      faultOf(fileOf(dictOf("<f8", "(4611686018427387904, 4)"))),
      "is not a valid .npy file: an array of dtype float64 and shape (4611686018427387904, 4) has more bytes than 63 "
      "bits can count");
  EXPECT_EQ(faultOf(fileOf(dictOf("|b1", "(2,)"), std::string("\x01\x02"))),
            "is not a valid .npy file: at byte 68, a bool is 2, neither 0 nor 1");
  writeFile(fileOf(dictOf("<f8", "(4611686018427387904, 0)")));
  EXPECT_EQ(sizesOf(loadNpy("x")), (std::vector<int64_t>{4611686018427387904, 0}));
}

TEST_F(Npy, NamesTheRemedyForDtypesThatBoxcarDoesNotHave) {
  const auto of = [&](const std::string& descr) {
    const std::string fault = faultOf(fileOf("{'descr': " + descr + ", 'fortran_order': False, 'shape': (), }"));
    return fault.substr(fault.find("at byte"));
  };
  EXPECT_EQ(
      of("'<u4'"),
      "at byte 20, its dtype is '<u4', which boxcar does not have (it has b1, u1, i1, i2, i4, i8, f2, f4, f8, c8, "
      "c16); convert it with astype('int64') or another dtype that holds its numbers");
  EXPECT_NE(of("'|O'").find("; Python objects are not read: save numbers"), std::string::npos);
  EXPECT_NE(of("'|V2'").find("; bfloat16 arrays are written so: save them as float32"), std::string::npos);
  EXPECT_NE(of("'<U5'").find("; convert it with astype() before saving it"), std::string::npos);
  EXPECT_EQ(of("[('x', '<f4')]"),
            "at byte 20, its elements are records of several fields; save each field as an array of its own");
}

TEST_F(Npy, WhatCannotBeWrittenLeavesNothing) {
  const auto fault = [&](const Tensor& tensor) {
    const std::string message = errorOf([&] { saveNpy(tensor, "y.npy"); });
    return message.substr(message.find(':'));
  };
  EXPECT_EQ(fault(Tensor()), ": the tensor is undefined");
  EXPECT_EQ(
      fault(boxcar::expand(boxcar::zeros({1}), std::vector<int64_t>{int64_t{1} << 62})),
      ": a tensor of 4611686018427387904 elements of float32 has more bytes than a file can have; save what it was "
      "expanded from");
  EXPECT_EQ(fault(boxcar::empty({2}, ScalarType::BFloat16)),
            ": the tensor has the dtype bfloat16, which NumPy does not have; convert it to float32, or write a "
            "safetensors file with io::save");
  EXPECT_EQ(
      fault(Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float, Device(DeviceType::Meta))),
      ": the tensor cannot be read: it is on the meta device, or fake, and has no elements; make it on another device");
  EXPECT_EQ(fault(boxcar::empty(std::vector<int64_t>(65, 1))),
            ": the tensor has 65 dimensions, and .npy files have at most 64");
  EXPECT_NE(errorOf([] { saveNpy(floats({1}), "no/such/folder.npy"); }), "no error");
  EXPECT_EQ(filesInFolder(), 0);
}

TEST_F(Npy, ChangedHeadersNeverCrash) {
  const std::string whole = fileOf("{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3), }", std::string(24, 'x'));
  std::mt19937 random(1);
  const auto any = [&](size_t count) { return static_cast<size_t>(random() % count); };
  constexpr std::string_view kLikely = "{}()[],:'\"\\ 0129LTF<>|=\n\xff";
  int loaded = 0;
  for (int round = 0; round < 30000; ++round) {
    std::string bytes = whole;
    for (size_t changes = 1 + any(4); changes > 0; --changes) {
      const size_t at = any(bytes.size());
      switch (any(4)) {
        case 0: bytes[at] = static_cast<char>(random()); break;
        case 1: bytes[at] = kLikely[any(kLikely.size())]; break;
        case 2: bytes.insert(at, 1 + any(3), kLikely[any(kLikely.size())]); break;
        default: bytes.erase(at, 1 + any(8)); break;
      }
      if (bytes.empty()) break;
    }
    if (round % 64 == 0) {
      writeFile(bytes);
      errorOf([] { loadNpy("x"); });
    }
    const std::string fault = errorOf([&] { parseNpyHeader(std::as_bytes(std::span(bytes)), "'x'"); });
    loaded += fault == "no error";
    EXPECT_TRUE(fault == "no error" || fault.starts_with("'x' ")) << fault;
  }
  EXPECT_GT(loaded, 1000);
}

}  // namespace
}  // namespace boxcar::io
