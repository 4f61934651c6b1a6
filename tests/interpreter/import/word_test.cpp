#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/import/pt2/word.h>
#include <boxcar/interpreter/import/script_words.h>
#include <boxcar/interpreter/session/library_scripts.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace boxcar::interp {
namespace {

// An imported program imports nn.ops, so that a module must not become a function of the same name.
TEST(ImportedNames, NoFunctionOfNnOpsIsTheNameOfAModule) {
  const std::string_view text = libraryText(importedScript("nowhere/x.ops", "nn.ops").key).value();
  int count = 0;
  for (size_t at = text.find("\nfn "); at != std::string_view::npos; at = text.find("\nfn ", at + 1)) {
    const std::string name(text.substr(at + 4, text.find('(', at) - at - 4));
    EXPECT_NE(pt2::functionName(name), name);
    ++count;
  }
  EXPECT_GT(count, 20);
}

TEST(ImportedNames, OperatorsWithTheNameOfAFunctionOfNnOpsAreHidden) {
  const std::string_view text = libraryText(importedScript("nowhere/x.ops", "nn.ops").key).value();
  int count = 0;
  for (size_t at = text.find("\nfn "); at != std::string_view::npos; at = text.find("\nfn ", at + 1)) {
    const std::string name(text.substr(at + 4, text.find('(', at) - at - 4));
    const bool is_operator = !Dispatcher::singleton().findOverloads("aten::" + name).empty();
    EXPECT_EQ(isHiddenByLibrary(name), is_operator) << name;
    if (is_operator) ++count;
  }
  EXPECT_GT(count, 0);
  EXPECT_FALSE(isHiddenByLibrary("relu"));
}

TEST(ImportedNames, WordsOfAClassAreWordsOfItsFunction) {
  EXPECT_EQ(pt2::functionName("torchvision.models.resnet.BasicBlock"), "basic_block");
  EXPECT_EQ(pt2::functionName("torch.nn.modules.linear.Linear"), "linear_module");
  EXPECT_EQ(pt2::variableName("layer_norm_12"), "layer_norm");
  EXPECT_EQ(pt2::resultName("layer_norm_12"), "y");
  EXPECT_EQ(pt2::resultName("softmax_1"), "softmax");
}

}  // namespace
}  // namespace boxcar::interp
