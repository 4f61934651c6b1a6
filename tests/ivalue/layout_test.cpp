#include <boxcar/ivalue/layout.h>
#include <gtest/gtest.h>

namespace boxcar {
namespace {

TEST(Layout, HasItsNumbersAndNames) {
  const char* names[][2] = {{"Strided", "strided"},      {"Sparse", "sparse_coo"},    {"SparseCsr", "sparse_csr"},
                            {"Mkldnn", "_mkldnn"},       {"SparseCsc", "sparse_csc"}, {"SparseBsr", "sparse_bsr"},
                            {"SparseBsc", "sparse_bsc"}, {"Jagged", "jagged"}};
  for (int i = 0; i < static_cast<int>(Layout::NumOptions); ++i) {
    const auto layout = static_cast<Layout>(i);
    EXPECT_EQ(toString(layout), names[i][0]);
    EXPECT_EQ(layoutName(layout), names[i][1]);
    EXPECT_EQ(parseLayout(names[i][1]), layout);
  }
  EXPECT_EQ(Layout::Strided, static_cast<Layout>(0));
  EXPECT_EQ(parseLayout("torch.strided"), Layout::Strided);
  EXPECT_EQ(parseLayout("Strided"), std::nullopt);
  EXPECT_EQ(toString(Layout::NumOptions), "Unknown");
}

TEST(MemoryFormat, HasItsNumbersAndNames) {
  const char* names[][2] = {{"Contiguous", "contiguous_format"},
                            {"Preserve", "preserve_format"},
                            {"ChannelsLast", "channels_last"},
                            {"ChannelsLast3d", "channels_last_3d"}};
  for (int i = 0; i < static_cast<int>(MemoryFormat::NumOptions); ++i) {
    const auto format = static_cast<MemoryFormat>(i);
    EXPECT_EQ(toString(format), names[i][0]);
    EXPECT_EQ(memoryFormatName(format), names[i][1]);
    EXPECT_EQ(parseMemoryFormat(names[i][1]), format);
  }
  EXPECT_EQ(parseMemoryFormat("torch.channels_last"), MemoryFormat::ChannelsLast);
  EXPECT_EQ(parseMemoryFormat("contiguous"), std::nullopt);
}

}  // namespace
}  // namespace boxcar
