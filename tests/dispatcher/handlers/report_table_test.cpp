#include <boxcar/dispatcher/handlers/report_table.h>
#include <gtest/gtest.h>

namespace boxcar {
namespace {

TEST(ReportTable, AlignsTheFirstColumnLeftAndTheOthersRight) {
  EXPECT_EQ(reportTable({{"operator", "calls"}, {"aten::mm", "12"}, {"a", "3", "x"}}),
            "operator  calls\n"
            "aten::mm     12\n"
            "a             3  x\n");
  EXPECT_EQ(reportTable({}), "");
}

TEST(ReportTable, AlignsColumnsToTheSidesThatAreAskedFor) {
  EXPECT_EQ(reportTable({{"key", "kernel"}, {"CPU", "boxed"}}, "<"),
            "key  kernel\n"
            "CPU  boxed\n");
  EXPECT_EQ(reportTable({{"name", "calls", "shapes", "at"}, {"mm", "3", "[2]", "a"}}, "<><"),
            "name  calls  shapes  at\n"
            "mm        3  [2]     a\n");
}

TEST(ReportTable, CountsCharactersNotBytes) {
  EXPECT_EQ(reportTable({{"µs", "1"}, {"abc", "20"}}),
            "µs    1\n"
            "abc  20\n");
}

TEST(ReportTable, SeveralThingsArePlural) {
  EXPECT_EQ(plural(1, "call"), "1 call");
  EXPECT_EQ(plural(0, "fallthrough key"), "0 fallthrough keys");
}

TEST(ReportTable, BytesHaveBinaryUnits) {
  EXPECT_EQ(bytesText(0), "0 B");
  EXPECT_EQ(bytesText(1023), "1023 B");
  EXPECT_EQ(bytesText(1024), "1.0 KiB");
  EXPECT_EQ(bytesText((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(bytesText(uint64_t{3} << 29), "1.5 GiB");
  EXPECT_EQ(bytesText(uint64_t{1} << 63), "8388608.0 TiB");
}

TEST(ReportTable, CountsHaveDecimalUnits) {
  EXPECT_EQ(countText(0), "0");
  EXPECT_EQ(countText(12.5), "12.5");
  EXPECT_EQ(countText(999), "999");
  EXPECT_EQ(countText(1500), "1.50 k");
  EXPECT_EQ(countText(999'999), "1.00 M");
  EXPECT_EQ(countText(2e9), "2.00 G");
  EXPECT_EQ(countText(5e15), "5000.00 T");
}

}  // namespace
}  // namespace boxcar
