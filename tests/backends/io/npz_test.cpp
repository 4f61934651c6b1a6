#include <boxcar/backends/io/file_kind.h>
#include <boxcar/backends/io/npz.h>
#include <boxcar/backends/io/zip_archive.h>
#include <boxcar/ivalue/file_access.h>
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/backends/io/hand_made_zip.h"
#include "tests/backends/tensor_helpers.h"
#include "tests/temporary_folder.h"

// npz_test.py reads archives that zipfile and NumPy write; this file tests archives made by hand, and broken ones.

namespace boxcar::io {
namespace {

std::string arrayOf(const std::string& descr, const std::string& shape, const std::string& data) {
  const std::string dict = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  return std::string("\x93NUMPY\x01\x00", 8) + number(dict.size(), 2) + dict + data;
}

Dict<std::string, Tensor> load(const std::string& file) {
  return loadNpz(ZipArchive(std::as_bytes(std::span(file)), "x.npz"), "x.npz");
}
std::string faultOf(const std::string& file) {
  return errorOf([&] { load(file); });
}

TEST(Npz, MembersAreTensorsInTheirOrder) {
  const auto tensors = load(archiveOf({{"b.npy", arrayOf("|u1", "(3,)", "abc")},
                                       {"a.npy", arrayOf(">i2", "(2,)", std::string("\0\1\2\0", 4)), true},
                                       {"c.npy", arrayOf("|b1", "(2, 0)", "")}}));
  ASSERT_EQ(tensors.size(), 3U);
  EXPECT_EQ(tensors.entryAt(0).first, "b");
  EXPECT_EQ(elements<uint8_t>(tensors.at("b")), (std::vector<uint8_t>{'a', 'b', 'c'}));
  EXPECT_EQ(tensors.entryAt(1).first, "a");
  EXPECT_EQ(elements<int16_t>(tensors.at("a")), (std::vector<int16_t>{1, 512}));
  EXPECT_EQ(shapeText(tensors.at("c")), "bool[2, 0]");
}

TEST(Npz, HasTheElementsOfLazyConjugatesAndNegatives) {
  const TemporaryFolder folder;
  Dict<std::string, Tensor> tensors;
  tensors.insert_or_assign("c", conj(tensorOf<std::complex<float>>({{1, 2}, {3, -1}})));
  tensors.insert_or_assign("n", _neg_view(floats({1, 2})));
  saveNpz(tensors, folder / "lazy.npz");
  const Dict<std::string, Tensor> found = load(folder.read("lazy.npz"));
  EXPECT_EQ(toString(found.at("c")), "tensor([1.-2.j, 3.+1.j])");
  EXPECT_EQ(toString(found.at("n")), "tensor([-1., -2.])");
}

TEST(Npz, MembersThatAreNoArraysAreNamed) {
  EXPECT_EQ(faultOf(archiveOf({{"a.npy", ""}})),
            "'a.npy' in 'x.npz' is not a .npy file: it has 0 bytes and does not begin with '\\x93NUMPY'");
  EXPECT_EQ(faultOf(archiveOf({{"it's\n", "PICKLE and more"}})),
            "\"it's\\n\" in 'x.npz' is not a .npy file: it has 15 bytes and does not begin with '\\x93NUMPY'");
  EXPECT_EQ(faultOf(archiveOf({{"a.npy", std::string("\x93NUMPY\x01\x00\x00", 9)}})),
            "'a.npy' in 'x.npz' is not a valid .npy file: it ends at byte 9, in the length of its header");
  EXPECT_EQ(
      faultOf(archiveOf({{"a.npy", std::string("\x93NUMPY\x01\x00\x00\x00", 10), true}})),
      "'a.npy' in 'x.npz' is not a valid .npy file: at byte 10, the header ends where it needs the header to be a "
      "dict");
  EXPECT_EQ(faultOf(archiveOf({{"a.npy", arrayOf("|b1", "(2,)", "\1\5")}})),
            "'a.npy' in 'x.npz' is not a valid .npy file: at byte 68, a bool is 5, neither 0 nor 1");
  EXPECT_EQ(faultOf(archiveOf({{"a.npy", arrayOf("|O", "(1,)", "12345678")}})),
            "'a.npy' in 'x.npz' cannot be loaded: at byte 20, its dtype is '|O', which boxcar does not have (it has "
            "b1, u1, i1, i2, i4, i8, f2, f4, f8, c8, c16); Python objects are not read: save numbers");
  const std::string header = std::string("\x93NUMPY\x02\x00", 8) + number(1'100'000, 4) + std::string(1'100'000, ' ');
  EXPECT_EQ(faultOf(archiveOf({{"a.npy", header}})),
            "'a.npy' in 'x.npz' cannot be loaded: its header ends at byte 1100012, and at most 1048576 are read");
}

TEST(Npz, ArchivesThatAreCutOffAreNone) {
  const std::string file = archiveOf({{"a.npy", arrayOf("|u1", "(3,)", "abc")}});
  for (size_t size = 0; size < file.size(); ++size) {
    const std::string fault = faultOf(file.substr(0, size));
    EXPECT_EQ(fault, "'x.npz' is not a valid zip archive: it has " + std::to_string(size) +
                         " bytes, and does not end with the record that ends an archive; it may be cut off or damaged, "
                         "so fetch or write it again");
  }
}

// Any change gives tensors or an error; loaded members match their checksums.
TEST(Npz, ChangedArchivesNeverCrash) {
  const std::string good = archiveOf({{"a.npy", arrayOf("<i4", "(4,)", std::string(16, '\1'))},
                                      {"b.npy", arrayOf("<f8", "(2, 3)", std::string(48, '\2')), true}});
  ASSERT_EQ(load(good).size(), 2U);
  std::mt19937 random(17);
  int loaded = 0;
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string bad = good;
    const size_t changes = 1 + random() % 3;
    for (size_t i = 0; i < changes; ++i) bad[random() % bad.size()] = static_cast<char>(random());
    if (round % 5 == 0) bad.insert(random() % bad.size(), number(random(), 4));
    try {
      const auto tensors = load(bad);
      for (size_t i = 0; i < tensors.size(); ++i) EXPECT_LE(tensors.entryAt(i).second.nbytes(), good.size());
      ++loaded;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("'x.npz'"), std::string::npos) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(loaded, 100);  // times and versions of members are ignored
}

TEST(NpzFile, IsToldByWhatItHoldsAndByItsName) {
  const auto is_zip = [](const std::string& file) { return isZip(std::as_bytes(std::span(file))); };
  EXPECT_TRUE(is_zip(archiveOf({{"a.npy", ""}})));
  EXPECT_TRUE(is_zip(archiveOf({})));
  EXPECT_FALSE(is_zip(""));
  EXPECT_FALSE(is_zip("PK"));
  // PyTorch writes version 0 as the version needed to read the file.
  EXPECT_TRUE(is_zip(std::string("PK\x03\x04\0\0\0\0\0\0", 10)));
  // A complete safetensors header whose length looks like the signature of a zip archive.
  EXPECT_FALSE(is_zip(std::string("PK\x03\x04\0\0\0\0{", 9) + std::string(0x04034b50, ' ')));

  const TemporaryFolder folder;
  const FileAccessGuard guard(FileAccess{.folder = folder.path()});
  folder.write("cut.npz", "PK");
  folder.write("cut", "PK");
  EXPECT_TRUE(errorOf([] {
                io::load("cut.npz");
              }).starts_with("'" + (folder / "cut.npz") + "' is not a valid zip archive: it has 2 bytes, and "));
  EXPECT_EQ(errorOf([] { io::load("cut"); }),
            "'" + (folder / "cut") +
                "' is not a safetensors file: it has 2 bytes, and the length of the header alone "
                "takes 8");
}

TEST(Npz, FilesOfAnotherKindSayWhatReadsThem) {
  const TemporaryFolder folder;
  const FileAccessGuard guard(FileAccess{.folder = folder.path()});
  for (const char* member : {"model/archive_format", "serialized_exported_program.json"}) {
    folder.write("program.pt2", archiveOf({{member, "something else"}}));
    EXPECT_TRUE(errorOf([] { io::load("program.pt2"); })
                    .starts_with("'" + (folder / "program.pt2") +
                                 "' is a program of torch.export's (.pt2), not a file that io::load reads: "));
  }
  folder.write("m.keras", archiveOf({{"config.json", "{}"}, {"model.weights.h5", ""}}));
  EXPECT_TRUE(errorOf([] {
                io::load("m.keras");
              }).starts_with("'" + (folder / "m.keras") + "' is a Keras model, not a file that io::load reads: "));
  folder.write("a.npy", "\x93NUMPY");
  EXPECT_EQ(errorOf([] { io::load("a.npy"); }),
            "'" + (folder / "a.npy") + "' is a .npy file, one array without a name: io::load_npy reads it");
  folder.write("b.npz", archiveOf({{"x.npy", "x"}}));
  EXPECT_EQ(errorOf([] { io::load_npy("b.npz"); }),
            "'" + (folder / "b.npz") + "' is not a .npy file, but an archive: io::load reads .npz files");
}

}  // namespace
}  // namespace boxcar::io
