#include <boxcar/dispatcher/handlers/record/packed_bytes.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>

#include "tests/test_support.h"

namespace boxcar {
namespace {

TEST(PackedBytes, ComeBackAsTheyWere) {
  PackedWriter writer;
  const uint64_t numbers[] = {0, 1, 127, 128, 300, UINT64_MAX};
  const int64_t signed_numbers[] = {0, -1, 1, -64, 64, INT64_MIN, INT64_MAX};
  const double reals[] = {0.0, -0.0, 1.5, std::numeric_limits<double>::quiet_NaN()};
  for (const uint64_t number : numbers) writer.number(number);
  for (const int64_t number : signed_numbers) writer.signedNumber(number);
  for (const double real : reals) writer.real(real);
  writer.text("");
  writer.text(std::string_view("a\0b", 3));
  PackedReader reader(writer.bytes());
  for (const uint64_t number : numbers) EXPECT_EQ(reader.number(), number);
  for (const int64_t number : signed_numbers) EXPECT_EQ(reader.signedNumber(), number);
  for (const double real : reals) EXPECT_EQ(std::bit_cast<uint64_t>(reader.real()), std::bit_cast<uint64_t>(real));
  EXPECT_EQ(reader.text(), "");
  EXPECT_EQ(reader.text(), std::string("a\0b", 3));
  reader.finish();
}

TEST(PackedBytes, SmallNumbersTakeOneByte) {
  PackedWriter writer;
  writer.number(127);
  writer.signedNumber(-64);
  EXPECT_EQ(writer.bytes().size(), 2U);
}

TEST(PackedBytes, SayWhatIsWrong) {
  const auto read = [](std::vector<int> bytes, auto&& body) {
    std::vector<std::byte> given;
    for (const int byte : bytes) given.push_back(static_cast<std::byte>(byte));
    PackedReader reader(given);
    return errorOf([&] { body(reader); });
  };
  EXPECT_EQ(read({}, [](PackedReader& reader) { reader.number(); }), "it ends too soon");
  EXPECT_EQ(read({0x80}, [](PackedReader& reader) { reader.number(); }), "it ends too soon");
  EXPECT_EQ(read({1, 2, 3}, [](PackedReader& reader) { reader.real(); }), "it ends too soon");
  EXPECT_EQ(read({255, 255, 255, 255, 255, 255, 255, 255, 255, 2}, [](PackedReader& reader) { reader.number(); }),
            "a number has more than 64 bits");
  EXPECT_EQ(read({2}, [](PackedReader& reader) { reader.flag(); }),
            "there is the number 2 where at most 1 is possible");
  EXPECT_EQ(read({3, 'a'}, [](PackedReader& reader) { reader.text(); }), "it ends too soon");
  EXPECT_EQ(read({1, 2}, [](PackedReader& reader) { reader.finish(); }), "2 bytes follow its end");
}

}  // namespace
}  // namespace boxcar
