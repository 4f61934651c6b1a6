#include <boxcar/dispatcher/handlers/page_data.h>
#include <gtest/gtest.h>

namespace boxcar {
namespace {

TEST(PageWithData, PutsTheDataInItsPlace) {
  EXPECT_EQ(pageWithData("<script>{{data}}</script>", "[1, 2]"), "<script>[1, 2]</script>");
}

TEST(PageWithData, NoTextEndsTheScriptElementOrStandsForThePlace) {
  EXPECT_EQ(pageWithData("<{{data}}>", R"(["</script><!--", "{{data}}"])"),
            R"(<["\u003c/script>\u003c!--", "{{data}}"]>)");
}

}  // namespace
}  // namespace boxcar
