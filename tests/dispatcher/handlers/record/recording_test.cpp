#include <boxcar/dispatcher/handlers/record/recorded_call_codec.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "tests/dispatcher/handlers/record/recording_helpers.h"
#include "tests/test_support.h"

namespace boxcar {
namespace {

// A small recording as bytes; tests damage copies of it.
class RecordingTest : public ::testing::Test {
 protected:
  RecordingTest() {
    recordingOf(folder_ / "run.rec", [] {
      Tensor x = rand({2, 2});
      add_(x, 1);
      cat({x, t(x)});
    });
    bytes_ = folder_.read("run.rec");
  }

  // Returns the error of reading a whole recording with these bytes.
  std::string read(const std::string& bytes) {
    folder_.write("damaged.rec", bytes);
    return errorOf([&] {
      const Recording recording = Recording::open(folder_ / "damaged.rec");
      for (size_t i = 0; i < recording.blockCount(); ++i) recording.readBlock(i);
    });
  }
  std::string prefix(size_t at) const {
    return "the recording '" + folder_ / "damaged.rec" + "' is damaged at byte " + std::to_string(at) + ": ";
  }

  TemporaryFolder folder_;
  std::string bytes_;
};

TEST_F(RecordingTest, IsReadAsItIs) { EXPECT_EQ(read(bytes_), "no error"); }

TEST_F(RecordingTest, SaysOfEveryTruncationThatItIsDamaged) {
  ASSERT_GT(bytes_.size(), 500U);
  for (size_t length = 0; length < bytes_.size(); ++length) {
    const std::string error = read(bytes_.substr(0, length));
    if (length < 12) {
      EXPECT_TRUE(error.find("is not a recording") != std::string::npos) << length << ": " << error;
    } else {
      EXPECT_TRUE(error.find("is damaged at byte") != std::string::npos) << length << ": " << error;
    }
  }
}

TEST_F(RecordingTest, SaysOfEveryChangedByteThatSomethingIsWrong) {
  for (size_t at = 0; at < bytes_.size(); ++at) {
    constexpr int kChanges[] = {1, 0x80, 0xff};
    std::string changed = bytes_;
    changed[at] = static_cast<char>(changed[at] ^ kChanges[at % std::size(kChanges)]);
    EXPECT_NE(read(changed), "no error") << at;
  }
}

TEST_F(RecordingTest, NamesWhatIsWrongAndWhere) {
  EXPECT_EQ(read("print(1)"), "'" + folder_ / "damaged.rec" +
                                  "' is not a recording: it does not begin like one; `boxcar record` makes recordings");
  std::string changed = bytes_;
  changed[8] = 9;
  EXPECT_EQ(read(changed), "the recording '" + folder_ / "damaged.rec" +
                               "' has the format 9, and this boxcar reads 2; record the run again");
  changed = bytes_;
  changed[12 + 17] = 2;
  EXPECT_EQ(read(changed), prefix(12) + "the start does not match its checksum; record the run again");
  changed = bytes_;
  changed[30] = '?';
  EXPECT_EQ(read(changed), prefix(30) + "a part of kind 63 begins, but there is no such part; record the run again");
  EXPECT_EQ(read(bytes_ + "x"), prefix(bytes_.size()) + "something follows the end; record the run again");
  EXPECT_EQ(read(bytes_.substr(0, 40)), prefix(30) + "the file ends in the head of a part; record the run again");
}

// A forged file can have correct checksums.
TEST_F(RecordingTest, RefusesCallsThatContradictThemselves) {
  const Recording recording = Recording::open(folder_ / "run.rec");
  const RecordedCounts counts{recording.calls().size(), 0, recording.blockCount()};
  size_t refused = 0;
  size_t taken = 0;
  for (const RecordedCall& call : recording.calls()) {
    PackedWriter writer;
    encode(writer, call, std::nullopt);
    const std::vector<std::byte> good(writer.bytes().begin(), writer.bytes().end());
    std::optional<uint32_t> site;
    EXPECT_EQ(errorOf([&] { decodeCall(good, counts, site); }), "no error");
    for (size_t at = 0; at < good.size(); ++at) {
      for (int change = 1; change < 256; ++change) {
        std::vector<std::byte> forged = good;
        forged[at] ^= static_cast<std::byte>(change);
        const std::string error = errorOf([&] { decodeCall(forged, counts, site); });
        ++(error == "no error" ? taken : refused);
      }
      EXPECT_NE(errorOf([&] { decodeCall(std::span(good).first(at), counts, site); }), "no error");
    }
  }
  // Some changed numbers are as valid as the original ones.
  EXPECT_GT(refused, taken);
  EXPECT_GT(taken, 0U);
}

}  // namespace
}  // namespace boxcar
