#include <boxcar/backends/io/zip_archive.h>
#include <boxcar/ivalue/error.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/backends/io/hand_made_zip.h"
#include "tests/test_support.h"

// Archives that others write are read in npz_test.py; these are made by hand, and most are broken.

namespace boxcar::io {
namespace {

std::span<const std::byte> bytesOf(const std::string& file) { return std::as_bytes(std::span(file)); }

std::string textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Reads all members.
std::string contentOf(const std::string& file) {
  const ZipArchive archive(bytesOf(file), "x.zip");
  std::string text;
  for (const ZipMember& member : archive.members()) text += member.name + "=" + textOf(archive.read(member)) + ";";
  return text;
}

std::string faultOf(const std::string& file) {
  return errorOf([&] { contentOf(file); });
}

// What is wrong with the archive of one stored member 'a', with the content "abc", after a change.
std::string faultAfter(const std::function<void(std::string& file, size_t entry)>& change, bool is_deflated = false) {
  std::string file = archiveOf({{"a", "abc", is_deflated}});
  change(file, firstEntry(file));
  return faultOf(file);
}

const std::string kNoArchive = "; it may be cut off or damaged, so fetch or write it again";
const std::string kNoMember = "; the archive may be damaged, so fetch or write it again";

std::string deflatedByZlib(const std::string& data) {
  z_stream stream{};
  ::deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string packed(::deflateBound(&stream, data.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

// An archive of the member 'a' with these deflated bytes.
std::string archiveOfDeflated(const std::string& packed, const std::string& data, size_t stated_size) {
  std::string file = archiveOf({{"a", packed}});
  for (const size_t at : {size_t{4}, firstEntry(file) + 6}) {
    put<uint16_t>(file, at + 4, 8);
    put<uint32_t>(file, at + 10, checksumOf(data));
    put<uint32_t>(file, at + 18, static_cast<uint32_t>(stated_size));
  }
  return file;
}

TEST(ZipArchive, ReadsStoredAndDeflatedMembersInTheirOrder) {
  const std::string file = archiveOf({{"b", "stored"}, {"folder/", ""}, {"a", "deflated", true}, {"../x", ""}});
  const ZipArchive archive(bytesOf(file), "x.zip");
  EXPECT_EQ(contentOf(file), "b=stored;folder/=;a=deflated;../x=;");
  ASSERT_EQ(archive.members().size(), 4U);
  const ZipMember& stored = archive.members()[0];
  EXPECT_EQ(archive.find("b"), &stored);
  EXPECT_EQ(archive.find("c"), nullptr);
  EXPECT_EQ(archive.find(""), nullptr);
  EXPECT_TRUE(stored.is_stored);
  EXPECT_FALSE(stored.isFolder());
  EXPECT_TRUE(archive.find("folder/")->isFolder());
  // Stored members are used where they are.
  EXPECT_EQ(reinterpret_cast<const char*>(archive.stored(stored).data()), file.data() + file.find("stored"));
  EXPECT_EQ(textOf(archive.stored(stored)), "stored");
  EXPECT_EQ(errorOf([&] { archive.stored(*archive.find("a")); }),
            "'a' in 'x.zip' cannot be used where it lies in the file: it is deflated; write the archive with members "
            "that are stored");
  EXPECT_EQ(contentOf(archiveOf({})), "");
}

TEST(ZipArchive, InflatesInPieces) {
  std::string data;
  std::mt19937 random(5);
  for (int i = 0; i < 100'000; ++i) data += static_cast<char>('a' + random() % 4);
  const std::string packed = deflatedByZlib(data);
  ASSERT_LT(packed.size(), data.size() / 2);
  const std::string file = archiveOfDeflated(packed, data, data.size());
  EXPECT_EQ(contentOf(file), "a=" + data + ";");
  const ZipArchive archive(bytesOf(file), "x.zip");
  ZipReader reader(archive, archive.members()[0]);
  std::string found;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{40'000}, size_t{59'999}}) {
    std::string piece(size, '\0');
    reader.read(std::as_writable_bytes(std::span(piece)));
    found += piece;
  }
  reader.finish();
  EXPECT_EQ(found, data);
}

TEST(ZipArchive, ReadsCommentsAndExtraFields) {
  std::string file = archiveOf({{"a", "abc", false, "FB" + number(3, 2) + "ZZZ"}, {"b", "", true, "odd"}});
  EXPECT_EQ(contentOf(file), "a=abc;b=;");
  const std::string comment(65535, 'c');
  put<uint16_t>(file, file.size() - 2, 65535);
  EXPECT_EQ(contentOf(file + comment), "a=abc;b=;");
  EXPECT_EQ(faultOf(file + comment + "!"),
            "'x.zip' is not a valid zip archive: it has " + std::to_string(file.size() + 65536) +
                " bytes, and does not end with the record that ends an archive" + kNoArchive);
}

// Python's zipfile and PyTorch write such archives.
TEST(ZipArchive, ReadsSizesOf64Bits) {
  std::string head = "PK\x03\x04" + number(45, 2) + number(8, 2) + number(0, 6) + number(0, 4);
  std::string file = head + number(~0U, 4) + number(~0U, 4) + number(1, 2) + number(20, 2) + "a" + number(1, 2) +
                     number(16, 2) + number(0, 16) + "abc" + "PK\x07\x08" + number(checksumOf("abc"), 4) +
                     number(3, 8) + number(3, 8);
  const size_t begin = file.size();
  file += "PK\x01\x02" + number(45, 2) + number(45, 2) + number(8, 2) + number(0, 6) + number(checksumOf("abc"), 4) +
          number(~0U, 4) + number(~0U, 4) + number(1, 2) + number(28, 2) + number(0, 10) + number(~0U, 4) + "a" +
          number(1, 2) + number(24, 2) + number(3, 8) + number(3, 8) + number(0, 8);
  const size_t end = file.size();
  file += "PK\x06\x06" + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 8) + number(1, 8) + number(1, 8) +
          number(end - begin, 8) + number(begin, 8);
  file += "PK\x06\x07" + number(0, 4) + number(end, 8) + number(1, 4);
  const std::string last =
      "PK\x05\x06" + number(0, 4) + number(~0U, 4) + number(~0U, 4) + number(~0U, 4) + number(0, 2);
  EXPECT_EQ(contentOf(file + last), "a=abc;");
  EXPECT_EQ(contentOf(file + endOf(1, end - begin, begin)), "a=abc;");
  EXPECT_EQ(faultOf(file + endOf(1, end - begin, begin + 1)),
            "'x.zip' is not a valid zip archive: the two records at its end disagree about where its directory is" +
                kNoArchive);

  std::string bad = file + last;
  put<uint64_t>(bad, end + 56 + 8, end - 1);
  EXPECT_EQ(faultOf(bad), "'x.zip' is not a valid zip archive: its record of 64-bit sizes is not at byte " +
                              std::to_string(end - 1) + ", where it should be" + kNoArchive);
  bad = file + last;
  put<uint64_t>(bad, end + 32, uint64_t{1} << 60);  // members
  put<uint64_t>(bad, end + 24, uint64_t{1} << 60);
  EXPECT_EQ(faultOf(bad),
            "'x.zip' is not a valid zip archive: its directory of 75 bytes is too short for "
            "1152921504606846976 members" +
                kNoArchive);
  for (const uint64_t huge : {~uint64_t{0}, uint64_t{1} << 63, uint64_t{4096}}) {
    for (const size_t field : {begin + 51, begin + 59, begin + 67, end + 4, end + 40, end + 48, end + 64}) {
      bad = file + last;
      put<uint64_t>(bad, field, huge);
      EXPECT_NE(faultOf(bad).find("'x.zip'"), std::string::npos) << field;
    }
  }
  bad = file + last;
  put<uint16_t>(bad, begin + 47, 2);  // the fields of 64 bits are of another kind now
  EXPECT_EQ(faultOf(bad), "'a' in 'x.zip' cannot be read: the archive's directory lacks its 64-bit sizes" + kNoMember);
  bad = file + last;
  put<uint64_t>(bad, 35, 4);
  EXPECT_EQ(faultOf(bad),
            "'a' in 'x.zip' cannot be read: its header at byte 0 and the archive's directory disagree about its size" +
                kNoMember);
}

TEST(ZipArchive, ArchivesThatAreCutOffOrExtendedAreNone) {
  const std::string file = archiveOf({{"a", "abc"}, {"b", "abc", true}});
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_EQ(faultOf(file.substr(0, size)), "'x.zip' is not a valid zip archive: it has " + std::to_string(size) +
                                                 " bytes, and does not end with the record that ends an archive" +
                                                 kNoArchive);
  }
  const size_t begin = firstEntry(file);
  const size_t directory = file.size() - kZipEndBytes - begin;
  EXPECT_EQ(faultOf("#!/bin/sh\n" + file), "'x.zip' is not a valid zip archive: its directory should have " +
                                               std::to_string(directory) + " bytes from byte " + std::to_string(begin) +
                                               " on and end at byte " + std::to_string(begin + directory + 10) +
                                               ", which do not agree; nothing may stand in front of an archive" +
                                               kNoArchive);
  std::string part = file;
  put<uint16_t>(part, part.size() - kZipEndBytes + 4, 1);
  EXPECT_EQ(faultOf(part),
            "'x.zip' cannot be loaded: it is one part of a zip archive in several files; join them first");
}

TEST(ZipArchive, DirectoriesMustDescribeAllMembersAndNothingElse) {
  const std::string good = archiveOf({{"a", "abc"}, {"b", "abc"}});
  const auto with_count = [&](uint16_t count) {
    std::string file = good;
    put<uint16_t>(file, file.size() - kZipEndBytes + 8, count);
    put<uint16_t>(file, file.size() - kZipEndBytes + 10, count);
    return faultOf(file);
  };
  EXPECT_EQ(with_count(1),
            "'x.zip' is not a valid zip archive: its 1 members are described in 47 bytes, and its "
            "directory has 94" +
                kNoArchive);
  EXPECT_EQ(with_count(3),
            "'x.zip' is not a valid zip archive: its directory of 94 bytes is too short for 3 members" + kNoArchive);
  EXPECT_EQ(faultAfter([](std::string& file, size_t entry) { file[entry] = 'Q'; }),
            "'x.zip' is not a valid zip archive: at byte 0 of its directory, no member is described" + kNoArchive);
  EXPECT_EQ(faultAfter([](std::string& file, size_t entry) { put<uint16_t>(file, entry + 28, 2); }),
            "'x.zip' is not a valid zip archive: at byte 0 of its directory, the description of a member leaves it" +
                kNoArchive);
}

TEST(ZipArchive, EncryptedAndOtherwiseCompressedMembersAreNamed) {
  for (const uint16_t flag : {1, 1 << 6, 1 << 13}) {
    EXPECT_EQ(faultAfter([&](std::string& file, size_t entry) { put<uint16_t>(file, entry + 8, flag); }),
              "'a' in 'x.zip' cannot be loaded: it is encrypted; write the archive without a password");
  }
  for (const uint16_t method : {1, 9, 12, 14, 93, 99}) {
    EXPECT_EQ(faultAfter([&](std::string& file, size_t entry) { put<uint16_t>(file, entry + 10, method); }),
              "'a' in 'x.zip' cannot be loaded: it is compressed by method " + std::to_string(method) +
                  ", and members must be stored (0) or deflated (8); write the archive in one of these ways");
  }
}

TEST(ZipArchive, NamesOccurOnce) {
  EXPECT_EQ(faultOf(archiveOf({{"a", "1"}, {"b", "2"}, {"a", "3"}})),
            "'a' in 'x.zip' cannot be loaded: the archive has two members of this name; write it again with each of "
            "them once");
  EXPECT_EQ(faultOf(archiveOf({{std::string(100, 'n'), ""}, {std::string(100, 'n'), ""}})),
            "'" + std::string(80, 'n') +
                "'… in 'x.zip' cannot be loaded: the archive has two members of this name; "
                "write it again with each of them once");
}

// Otherwise, a small file could have many large members that are one.
TEST(ZipArchive, MembersDoNotOverlap) {
  std::string file = archiveOf({{"a", "abc"}, {"b", "abcdef"}});
  const size_t second = firstEntry(file) + kZipEntryBytes + 1;
  std::string bad = file;
  put<uint32_t>(bad, second + 42, 0);
  EXPECT_EQ(faultOf(bad),
            "'a' in 'x.zip' cannot be read: its 3 bytes behind its header at byte 0 overlap what begins at "
            "byte 0, 'b'" +
                kNoMember);
  bad = file;
  put<uint32_t>(bad, second + 42, 32);  // in front of the last byte of 'a'
  EXPECT_EQ(faultOf(bad),
            "'a' in 'x.zip' cannot be read: its 3 bytes behind its header at byte 0 overlap what begins at "
            "byte 32, 'b'" +
                kNoMember);
  for (const uint32_t at : {0x7fffffffU, static_cast<uint32_t>(file.size()), static_cast<uint32_t>(second)}) {
    bad = file;
    put<uint32_t>(bad, second + 42, at);
    EXPECT_EQ(faultOf(bad), "'b' in 'x.zip' cannot be read: its 6 bytes behind its header at byte " +
                                std::to_string(at) + " overlap what begins at byte " +
                                std::to_string(firstEntry(file)) + ", the archive's directory" + kNoMember);
  }
  // The length of the extra field, which only the member's own header has.
  bad = file;
  put<uint16_t>(bad, 28, 1);
  EXPECT_EQ(faultOf(bad),
            "'a' in 'x.zip' cannot be read: its 3 bytes behind its header overlap what begins at byte 34" + kNoMember);
}

TEST(ZipArchive, HeadersAgreeWithTheDirectory) {
  const auto disagreement = [](const std::string& about) {
    return "'a' in 'x.zip' cannot be read: its header at byte 0 and the archive's directory disagree about its " +
           about + kNoMember;
  };
  const auto set16 = [](size_t at, uint16_t value) {
    return [=](std::string& file, size_t) { put<uint16_t>(file, at, value); };
  };
  const auto set32 = [](size_t at, uint32_t value) {
    return [=](std::string& file, size_t) { put<uint32_t>(file, at, value); };
  };
  EXPECT_EQ(faultAfter(set32(0, 0)),
            "'a' in 'x.zip' cannot be read: its header is not at byte 0, where it should be" + kNoMember);
  EXPECT_EQ(faultAfter(set16(6, 1)), disagreement("encryption"));
  EXPECT_EQ(faultAfter(set16(8, 8)), disagreement("compression"));
  EXPECT_EQ(faultAfter(set32(14, 7)), disagreement("checksum"));
  EXPECT_EQ(faultAfter(set32(18, 2)), disagreement("size"));
  EXPECT_EQ(faultAfter(set32(22, 2)), disagreement("size"));
  EXPECT_EQ(faultAfter(set32(22, 0)), disagreement("size"));
  EXPECT_EQ(faultAfter(set32(22, ~0U)), disagreement("size"));
  EXPECT_EQ(faultAfter([](std::string& file, size_t) { file[30] = 'b'; }), disagreement("name"));
  EXPECT_EQ(faultAfter(set16(26, 0)), disagreement("name"));
  // Both say that sizes and checksum stand behind the content.
  EXPECT_EQ(faultAfter([](std::string& file, size_t entry) {
              put<uint16_t>(file, entry + 8, 8);
              put<uint16_t>(file, 6, 8);
              for (const size_t at : {14, 18, 22}) put<uint32_t>(file, at, 0);
            }),
            "no error");
}

TEST(ZipArchive, ChecksumsAreVerified) {
  const std::string fault =
      "'a' in 'x.zip' cannot be read: at its end, behind byte 3: its bytes do not have the checksum of the archive" +
      kNoMember;
  EXPECT_EQ(faultAfter([](std::string& file, size_t) { file[31] ^= 1; }), fault);
  EXPECT_EQ(faultAfter([](std::string& file, size_t) { file[37] ^= 1; }, true), fault);
}

TEST(ZipArchive, SizesAreCheckedBeforeMemoryIsTaken) {
  const std::string packed = deflatedByZlib(std::string(1000, 'x'));
  const uint32_t most = 1032 * static_cast<uint32_t>(packed.size());
  EXPECT_EQ(faultOf(archiveOfDeflated(packed, "", 0xf0000000)),
            "'a' in 'x.zip' cannot be read: it should have 4026531840 bytes, which the " +
                std::to_string(packed.size()) + " bytes in the archive cannot become" + kNoMember);
  EXPECT_EQ(faultOf(archiveOfDeflated(packed, "", most)),
            "'a' in 'x.zip' cannot be read: it ends at byte 1000 of " + std::to_string(most) + kNoMember);
  EXPECT_EQ(faultAfter([](std::string& file, size_t entry) { put<uint32_t>(file, entry + 24, 4); }),
            "'a' in 'x.zip' cannot be read: it should have 4 bytes, which the 3 bytes in the archive cannot become" +
                kNoMember);
}

TEST(ZipArchive, DeflatedBytesEndWhereTheyShould) {
  const std::string data = "some text, some text, and some text";
  const std::string packed = deflatedByZlib(data);
  EXPECT_EQ(faultOf(archiveOfDeflated(packed, data, data.size())), "no error");
  EXPECT_EQ(faultOf(archiveOfDeflated(packed, data, data.size() - 1)),
            "'a' in 'x.zip' cannot be read: it does not end at byte 34, as the archive says" + kNoMember);
  EXPECT_EQ(faultOf(archiveOfDeflated(packed + "!", data, data.size())),
            "'a' in 'x.zip' cannot be read: it does not end at byte 35, as the archive says" + kNoMember);
  EXPECT_EQ(faultOf(archiveOfDeflated(packed, data, data.size() + 1)),
            "'a' in 'x.zip' cannot be read: it ends at byte 35 of 36" + kNoMember);
  const std::string cut = faultOf(archiveOfDeflated(packed.substr(0, packed.size() - 4), data, data.size()));
  EXPECT_TRUE(cut.starts_with("'a' in 'x.zip' cannot be read: behind byte ")) << cut;
  EXPECT_TRUE(cut.ends_with(" of 35: its deflated bytes end too early" + kNoMember)) << cut;
  EXPECT_EQ(faultOf(archiveOfDeflated("", "", 1)),
            "'a' in 'x.zip' cannot be read: behind byte 0 of 1: its deflated bytes end too early" + kNoMember);
  EXPECT_EQ(faultOf(archiveOfDeflated("\x07 no such block", data, data.size())),
            "'a' in 'x.zip' cannot be read: behind byte 0 of 35: its bytes cannot be inflated (invalid block type)" +
                kNoMember);
}

TEST(ZipArchive, ChangesNeverCrashIt) {
  const std::string good = archiveOf({{"a", std::string(16, '\1')}, {"b", std::string(48, '\2'), true}});
  std::mt19937 random(17);
  int read = 0;
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bad = good;
    const size_t changes = 1 + random() % 3;
    for (size_t i = 0; i < changes; ++i) bad[random() % bad.size()] = static_cast<char>(random());
    if (round % 5 == 0) bad.insert(random() % bad.size(), number(random(), 4));
    const std::string fault = faultOf(bad);
    const bool is_read = fault == "no error";
    ++(is_read ? read : refused);
    EXPECT_TRUE(is_read || fault.find("'x.zip'") != std::string::npos) << fault;
  }
  EXPECT_GT(refused, 5000);
  EXPECT_GT(read, 500);  // times and versions of members are ignored
}

}  // namespace
}  // namespace boxcar::io
