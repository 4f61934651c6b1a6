#include <boxcar/backends/io/safetensors.h>
#include <boxcar/ivalue/file_access.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/backends/tensor_helpers.h"
#include "tests/temporary_folder.h"

namespace boxcar::io {
namespace {

class Sharded : public testing::Test {
 protected:
  Sharded() : guard_(FileAccess{.folder = folder_.path()}) {
    save("model-1.safetensors", "a", ints({1}));
    save("model-2.safetensors", "b", ints({2}));
  }
  void save(const std::string& file, const std::string& name, const Tensor& tensor) const {
    Dict<std::string, Tensor> tensors;
    tensors.insert(name, tensor);
    folder_.write("models/" + file, "");
    saveSafetensors(tensors, "models/" + file);
  }
  Dict<std::string, Tensor> load(const std::string& map) const {
    folder_.write("models/m.index.json", "{\"metadata\": {\"total_size\": 16}, \"weight_map\": {" + map + "}}");
    return io::load("models/m.index.json");
  }
  std::string faultOf(const std::string& map) const {
    const std::string message = errorOf([&] { load(map); });
    const std::string begin = "'" + (folder_ / "models/m.index.json") + "' ";
    return message.starts_with(begin) ? message.substr(begin.size()) : message;
  }

  const TemporaryFolder folder_;

 private:
  const FileAccessGuard guard_;
};

TEST_F(Sharded, TensorsComeFromTheFilesBesideTheIndex) {
  const auto tensors = load("\"b\": \"model-2.safetensors\", \"a\": \"model-1.safetensors\"");
  EXPECT_EQ(toString(tensors), "{'a': tensor([1]), 'b': tensor([2])}");
  EXPECT_EQ(toString(load("\"b\": \"model-2.safetensors\"")), "{'b': tensor([2])}");
}

TEST_F(Sharded, FilesMayBeCheckpoints) {
  const std::string sample = readWholeFile(std::string(BOXCAR_TEST_DATA) + "/checkpoints/state_dict_now.pt");
  folder_.write("models/pytorch_model-1.bin", sample);
  EXPECT_EQ(toString(load("\"offset\": \"pytorch_model-1.bin\"")), "{'offset': tensor([5., 7., 9.])}");
}

TEST_F(Sharded, NamesLeadNowhereElse) {
  folder_.write("a.safetensors", folder_.read("models/model-1.safetensors"));
  for (const std::string name :
       {"../a.safetensors", "/a.safetensors", "..", ".", "", "sub/a.safetensors", "..\\\\a.safetensors"}) {
    const std::string fault = faultOf("\"a\": \"" + name + "\"");
    EXPECT_EQ(fault, "cannot be loaded: it says that the tensor 'a' is in \"" + name +
                         "\", and only names of files in its own folder are followed");
  }
}

TEST_F(Sharded, WhatIsMissingIsNamed) {
  EXPECT_EQ(faultOf("\"c\": \"model-1.safetensors\""),
            "cannot be loaded: it says that the tensor 'c' is in 'model-1.safetensors', which does not have it");
  EXPECT_EQ(faultOf("\"c\": \"model-3.safetensors\""),
            "cannot open '" + (folder_ / "models/model-3.safetensors") + "': No such file or directory");
  EXPECT_EQ(faultOf("\"c\": 3"), "is not a valid index: the file of the tensor 'c' is a number, not a string");
  EXPECT_EQ(faultOf("\"c\": \"m.index.json\""), "is the index of a model in several files, and another index names it");
  folder_.write("models/m.index.json", "{\"weight_map\": []}");
  EXPECT_EQ(errorOf([] { io::load("models/m.index.json"); }),
            "'" + (folder_ / "models/m.index.json") +
                "' is not a valid index of a model in several files: its \"weight_map\" is not an object");
}

}  // namespace
}  // namespace boxcar::io
