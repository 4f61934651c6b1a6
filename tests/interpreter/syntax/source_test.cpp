#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <boxcar/ivalue/append_utf8.h>
#include <gtest/gtest.h>

namespace boxcar {
namespace {

TEST(Source, PositionsCountLinesAndCodePointsFromOne) {
  const SourcePtr source = Source::create("a.ops", "ab\né€x\n\nlast");
  EXPECT_EQ(source->position(0), (LineColumn{1, 1}));
  EXPECT_EQ(source->position(2), (LineColumn{1, 3}));  // the line break belongs to its line
  EXPECT_EQ(source->position(3), (LineColumn{2, 1}));
  EXPECT_EQ(source->position(5), (LineColumn{2, 2}));   // after a character of two bytes
  EXPECT_EQ(source->position(8), (LineColumn{2, 3}));   // after one of three more bytes
  EXPECT_EQ(source->position(10), (LineColumn{3, 1}));  // an empty line
  EXPECT_EQ(source->position(11), (LineColumn{4, 1}));
  EXPECT_EQ(source->position(15), (LineColumn{4, 5}));
}

TEST(Source, OffsetsPastTheEndCountAsTheEnd) {
  const SourcePtr source = Source::create("a.ops", "ab");
  EXPECT_EQ(source->position(1000), (LineColumn{1, 3}));
  EXPECT_EQ(source->text({1, 1000}), "b");
  EXPECT_EQ(source->text({5, 7}), "");
  EXPECT_EQ(source->text({2, 1}), "");
}

TEST(Source, LinesComeWithoutTheirBreaks) {
  const SourcePtr source = Source::create("a.ops", "one\r\ntwo\n");
  EXPECT_EQ(source->line_count(), 3u);
  EXPECT_EQ(source->line(1), "one");
  EXPECT_EQ(source->line(2), "two");
  EXPECT_EQ(source->line(3), "");
  EXPECT_EQ(source->line(4), "");
  EXPECT_EQ(source->line(0), "");
  EXPECT_EQ(source->lineSpan(2), (Span{5, 8}));
}

TEST(Source, AnEmptyTextHasOneLine) {
  const SourcePtr source = Source::create("a.ops", "");
  EXPECT_EQ(source->line_count(), 1u);
  EXPECT_EQ(source->position(0), (LineColumn{1, 1}));
}

TEST(Source, LocationsPrintFileLineAndColumn) {
  EXPECT_EQ(toString(Location{Source::create("dir/a.ops", "x\n  y"), {4, 5}}), "dir/a.ops:2:3");
}

TEST(Source, SpansJoin) {
  EXPECT_EQ(join({3, 5}, {1, 4}), (Span{1, 5}));
  EXPECT_EQ(join({1, 2}, {7, 9}), (Span{1, 9}));
}

TEST(Utf8, DecodesOnlyTheShortestFormsOfScalarValues) {
  EXPECT_EQ(utf8::decode("a").length, 1u);
  EXPECT_EQ(utf8::decode("\xC3\xA9").value, U'\u00E9');
  EXPECT_EQ(utf8::decode("\xE2\x82\xAC").value, U'\u20AC');
  EXPECT_EQ(utf8::decode("\xF0\x9F\x98\x80").value, U'\U0001F600');
  for (const char* bad : {"\x80", "\xC3", "\xC3x", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                          "\xF0\x80\x80\x80", "\xFF", "\xE2\x82"}) {
    EXPECT_EQ(utf8::decode(bad).length, 0u) << bad;
  }
}

TEST(Utf8, AppendIsTheInverseOfDecode) {
  for (const char32_t value : {0x0u, 0x7Fu, 0x80u, 0x7FFu, 0x800u, 0xD7FFu, 0xE000u, 0xFFFFu, 0x10000u, 0x10FFFFu}) {
    std::string text;
    appendUtf8(text, value);
    EXPECT_EQ(utf8::decode(text).value, value);
    EXPECT_EQ(utf8::decode(text).length, text.size());
    EXPECT_EQ(utf8::countCodePoints(text), 1u);
  }
}

}  // namespace
}  // namespace boxcar
