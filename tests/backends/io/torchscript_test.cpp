#include <boxcar/ivalue/file_access.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/backends/io/hand_made_zip.h"
#include "tests/backends/tensor_helpers.h"
#include "tests/temporary_folder.h"

// Archives that torch.jit.save wrote (tests/data/torchscript/make.py).

namespace boxcar::io {
namespace {

class TorchScript : public testing::Test {
 protected:
  TorchScript() : guard_(FileAccess{.folder = std::string(BOXCAR_TEST_DATA) + "/torchscript"}) {}

 private:
  const FileAccessGuard guard_;
};

std::vector<std::string> keysOf(const Dict<std::string, Tensor>& tensors) {
  std::vector<std::string> keys;
  for (const auto& entry : tensors) keys.push_back(entry.key());
  std::sort(keys.begin(), keys.end());
  return keys;
}

TEST_F(TorchScript, TensorsHaveTheNamesOfTheirPlaces) {
  EXPECT_EQ(keysOf(io::load("mlp.pt")),
            (std::vector<std::string>{"layers.0.bias", "layers.0.weight", "layers.2.bias", "layers.2.weight"}));
  EXPECT_EQ(keysOf(io::load("attributes.pt")), (std::vector<std::string>{"tensors.w"}));
  const auto shared = io::load("shared.pt");
  EXPECT_EQ(shared.at("a.weight").storage().get(), shared.at("c.weight").storage().get());
}

TEST_F(TorchScript, ObjectsAreDictsOfTheirAttributes) {
  const GenericDict module = io::load_torchscript("attributes.pt").at("data").toGenericDict();
  EXPECT_EQ(module.at("__class__"), IValue("__torch__.Attributes"));
  const GenericDict state = module.at("state").toGenericDict();
  EXPECT_EQ(state.at("ratio"), IValue(0.25));
  EXPECT_TRUE(state.at("missing").isNone());
  EXPECT_EQ(state.at("names").length(), 2U);
  EXPECT_EQ(state.at("pair").elementAt(1), IValue("x\"y"));
}

TEST(TorchScriptFile, AnObjectOfSeveralAttributesIsOne) {
  const TemporaryFolder folder;
  const FileAccessGuard guard(FileAccess{.folder = folder.path()});
  const std::string one = "c__torch__\nInner\n)\x81q\x01}b";
  const std::string two = "c__torch__\nInner\n)\x81}b";
  const std::string pickle =
      "\x80\x02"
      "c__torch__\nNet\n)\x81}(U\x01"
      "a" +
      one +
      "U\x01"
      "bh\x01U\x01"
      "c" +
      two + "ub.";
  folder.write("x.pt", archiveOf({{"a/data.pkl", pickle}, {"a/constants.pkl", ")."}}));
  const GenericDict state = io::load_torchscript("x.pt").at("data").toGenericDict().at("state").toGenericDict();
  EXPECT_TRUE(state.at("a").is(state.at("b")));
  EXPECT_FALSE(state.at("a").is(state.at("c")));
}

TEST_F(TorchScript, MembersOfEnumsKeepTheirValue) {
  const GenericDict state = io::load_torchscript("enums.pt").at("data").toGenericDict().at("state").toGenericDict();
  const GenericDict color = state.at("color").toGenericDict();
  EXPECT_EQ(color.at("__class__"), IValue("__torch__.Color"));
  EXPECT_EQ(color.at("arguments").elementAt(0), IValue(2));
}

TEST(TorchScriptFile, OtherFilesAreRefused) {
  const TemporaryFolder folder;
  const FileAccessGuard guard(FileAccess{.folder = folder.path()});
  folder.write("x.pt", archiveOf({{"a/data.pkl", "N."}}));
  EXPECT_EQ(errorOf([] { io::load_torchscript("x.pt"); }),
            "'" + (folder / "x.pt") + "' is no program of torch.jit.save's, which has a data.pkl and a constants.pkl");
  folder.write("y.pt", archiveOf({{"a/data.pkl", "cos\nsystem\n."}, {"a/constants.pkl", "(t."}}));
  const std::string fault = errorOf([] { io::load_torchscript("y.pt"); });
  EXPECT_NE(fault.find("'a/data.pkl' in '" + (folder / "y.pt") + "' cannot be loaded: at byte "), std::string::npos)
      << fault;
  EXPECT_NE(fault.find("'os.system'"), std::string::npos) << fault;
}

}  // namespace
}  // namespace boxcar::io
