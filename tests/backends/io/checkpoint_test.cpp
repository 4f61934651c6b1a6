#include <boxcar/ivalue/file_access.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/backends/io/hand_made_zip.h"
#include "tests/backends/tensor_helpers.h"
#include "tests/temporary_folder.h"

// Checkpoints that PyTorch wrote (tests/data/checkpoints/make.py), in both formats.

namespace boxcar::io {
namespace {

using namespace std::string_literals;

using Numbers = std::vector<int64_t>;
Numbers numbers(std::span<const int64_t> values) { return {values.begin(), values.end()}; }

class Checkpoint : public testing::TestWithParam<std::string> {
 protected:
  Checkpoint() : guard_(FileAccess{.folder = std::string(BOXCAR_TEST_DATA) + "/checkpoints"}) {}
  static std::string fileOf(const std::string& name) { return name + "_" + GetParam() + ".pt"; }

 private:
  const FileAccessGuard guard_;
};

TEST_P(Checkpoint, TensorsOfAStateDict) {
  const auto state = io::load(fileOf("state_dict"));
  const Tensor weight = state.at("weight");
  EXPECT_EQ(numbers(weight.sizes()), (Numbers{4, 6}));
  for (int64_t i = 0; i < 24; ++i) EXPECT_EQ(weight.data_ptr<float>()[i], static_cast<float>(i));
  EXPECT_FALSE(weight.requires_grad());
  // Views share the storage, with their strides and offsets.
  const Tensor transposed = state.at("transposed");
  EXPECT_EQ(numbers(transposed.strides()), (Numbers{1, 6}));
  EXPECT_EQ(transposed.data_ptr(), weight.data_ptr());
  EXPECT_EQ(transposed.storage().get(), weight.storage().get());
  const Tensor offset = state.at("offset");
  EXPECT_EQ(offset.storage_offset(), 5);
  EXPECT_EQ(toString(offset), "tensor([5., 7., 9.])");
  EXPECT_EQ(offset.storage().get(), weight.storage().get());
  EXPECT_EQ(numbers(state.at("expanded").strides()), (Numbers{0, 0}));
  EXPECT_EQ(toString(state.at("expanded")),
            "tensor([[1.5000, 1.5000],\n        [1.5000, 1.5000],\n        [1.5000, 1.5000]])");
  EXPECT_EQ(toString(state.at("scalar")), "tensor(7)");
  EXPECT_EQ(numbers(state.at("empty").sizes()), (Numbers{2, 0, 3}));
  size_t dtypes = 0;
  for (const auto& entry : state) {
    const std::optional<ScalarType> dtype = parseDtype(entry.key());
    if (!dtype) continue;
    ++dtypes;
    const Tensor tensor = entry.value();
    EXPECT_EQ(tensor.scalar_type(), *dtype);
    EXPECT_EQ(toString(ne(tensor, 0)), "tensor([False,  True, False,  True, False])") << entry.key();
  }
  EXPECT_EQ(dtypes, 12U);
  EXPECT_EQ(state.size(), 18U);
}

TEST_P(Checkpoint, AllThatATrainingKeeps) {
  EXPECT_EQ(
      repr(io::load_checkpoint(fileOf("training"))),
      "{'epoch': 3, 'best': 0.25, 'count': -5, 'flag': True, 'none': None, 'name': 'größe', 'bytes': '\\x00\\xff', "
      "'list': [1, 2.5, 'x', [True]], 'tuple': (1, (2, 3)), 'size': [2, 3], 'dtype': 6, "
      "'device': device(type='cpu'), 'set': [1], 'complex': (1+2j), 'int': -9223372036854775808, "
      "'counter': {1: 2, 2: 1}, 'default': {1: [2]}, 'model': {'w': tensor([0.5000, 0.5000])}, "
      "'optimizer': {0: {'momentum_buffer': tensor([1., 1.])}}, 3: 'key', (1, 2): 'key'}");
}

TEST_P(Checkpoint, LoadSaysWhatElseTheFileHolds) {
  const std::string path = std::string(BOXCAR_TEST_DATA) + "/checkpoints/" + fileOf("training");
  EXPECT_EQ(errorOf([] { io::load(fileOf("training")); }),
            "'" + path +
                "' holds not only tensors by name, but a dict of 'epoch' (int), 'best' (float), 'count' (int), 'flag' "
                "(bool), "
                "'none' (None) and 16 more: io::load_checkpoint returns it as it is");
}

INSTANTIATE_TEST_SUITE_P(Formats, Checkpoint, testing::Values("now", "old", "now_legacy", "old_legacy"));

class CheckpointFile : public testing::Test {
 protected:
  CheckpointFile() : guard_(FileAccess{.folder = folder_.path()}) {}
  static std::string sample(const std::string& name) {
    const FileAccessGuard guard(FileAccess{.folder = std::string(BOXCAR_TEST_DATA) + "/checkpoints"});
    return readWholeFile(name);
  }
  // Returns the error of loading [bytes] after "'…/x.pt' ".
  std::string faultOf(const std::string& bytes) const {
    folder_.write("x.pt", bytes);
    const std::string message = errorOf([] { io::load_checkpoint("x.pt"); });
    const std::string begin = "'" + (folder_ / "x.pt") + "' ";
    return message.starts_with(begin) ? message.substr(begin.size()) : message;
  }
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  const TemporaryFolder folder_;

 private:
  const FileAccessGuard guard_;
};

TEST_F(CheckpointFile, OneTensorHasNoName) {
  folder_.write("x.pt", sample("tensor_now_legacy.pt"));
  EXPECT_EQ(toString(io::load_checkpoint("x.pt")), "tensor([0, 1, 2])");
  EXPECT_EQ(errorOf([] { io::load("x.pt"); }),
            "'" + (folder_ / "x.pt") +
                "' holds no tensors by name, but a value of type Tensor: io::load_checkpoint returns it as it is");
}

TEST_F(CheckpointFile, WritesStayInThisProcess) {
  folder_.write("x.pt", sample("state_dict_now_legacy.pt"));
  Tensor weight = io::load("x.pt").at("weight");
  zero_(weight);
  EXPECT_EQ(folder_.read("x.pt"), sample("state_dict_now_legacy.pt"));
  EXPECT_EQ(toString(io::load("x.pt").at("offset")), "tensor([5., 7., 9.])");
}

TEST_F(CheckpointFile, ClassesAreRefused) {
  EXPECT_EQ(faultOf(sample("namespace_now_legacy.pt")).substr(0, 77),
            "cannot be loaded: at byte 153, its pickle asks for 'argparse.Namespace', and ");
  const std::string fault = faultOf(sample("module_now.pt"));
  EXPECT_EQ(fault.find("asks for 'torch.nn.modules.linear.Linear', and only tensors and plain values are loaded") !=
                std::string::npos,
            true)
      << fault;
}

TEST_F(CheckpointFile, BrokenLegacyFilesAreRefused) {
  const std::string good = sample("tensor_now_legacy.pt");
  EXPECT_EQ(faultOf(good), "no error");
  EXPECT_EQ(faultOf(replaced(good, "M\xe9\x03.", "M\xea\x03.")),
            "cannot be loaded: at byte 15, the version of the format is not 1001");
  EXPECT_EQ(faultOf(replaced(good, "little_endian\x71\x02\x88", "little_endian\x71\x02\x89")).substr(0, 69),
            "cannot be loaded: at byte 137, it was saved by a big-endian machine, ");
  EXPECT_EQ(faultOf(replaced(good, "LongStorage", "IntsStorage")).substr(0, 69),
            "cannot be loaded: at byte 190, its pickle asks for 'torch.IntsStorage");
  EXPECT_EQ(faultOf(good.substr(0, good.size() - 1)).substr(0, 30), "cannot be loaded: at byte 318,");
  EXPECT_EQ(faultOf(good.substr(0, good.size() - 30)).substr(0, 30), "cannot be loaded: at byte 318,");
  std::string huge = good;
  std::ranges::fill(huge.end() - 32, huge.end() - 24, '\x7f');
  EXPECT_EQ(faultOf(huge).find("elements of 8 bytes, but only 24 bytes follow") != std::string::npos, true)
      << faultOf(huge);
  // Every cut ends in an error.
  for (size_t size = 15; size < good.size(); ++size) EXPECT_NE(faultOf(good.substr(0, size)), "no error") << size;
  // Every changed byte ends in an error or in a value.
  for (size_t i = 0; i < good.size(); ++i) {
    std::string changed = good;
    changed[i] = static_cast<char>(changed[i] ^ 0x11);
    folder_.write("x.pt", changed);
    errorOf([] { io::load_checkpoint("x.pt"); });
  }
}

// A pickle of a tensor of two floats.
const std::string kTensorPickle =
    "\x80\x02"
    "ctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nFloatStorage\nU\x01"
    "0U\x03"
    "cpuK\x02tQK\x00(K\x02t(K\x01t\x89"
    "ccollections\nOrderedDict\n)RtR."s;
const std::string kTwoFloats = "\0\0\x80\x3f\0\0\0\x40"s;

TEST_F(CheckpointFile, MembersMayBeDeflatedOrNotAligned) {
  for (const bool is_deflated : {false, true}) {
    for (const size_t padding : {0, 1, 2, 3, 4, 5, 6, 7}) {
      folder_.write("x.pt", archiveOf({{"any/data.pkl", kTensorPickle, is_deflated, ""},
                                       {"any/data/0", kTwoFloats, is_deflated, std::string(padding, 'x')}}));
      EXPECT_EQ(toString(io::load_checkpoint("x.pt")), "tensor([1., 2.])");
    }
  }
}

TEST_F(CheckpointFile, BrokenArchivesAreRefused) {
  const auto fault = [&](const std::vector<HandMadeMember>& members) { return faultOf(archiveOf(members)); };
  const HandMadeMember pickle = {"a/data.pkl", kTensorPickle, false, ""};
  const std::string begin = "'a/data.pkl' in '" + (folder_ / "x.pt") + "' cannot be loaded: at byte 77, ";
  EXPECT_EQ(fault({pickle}), begin + "the archive has no member 'a/data/0'");
  EXPECT_EQ(fault({pickle, {"a/data/0", "1234567", false, ""}}),
            begin + "the storage '0' should have 8 bytes, but 7 are in the file");
  EXPECT_EQ(fault({pickle, {"a/data/0", kTwoFloats, false, ""}, {"a/byteorder", "big", false, ""}}),
            "cannot be loaded: its member 'a/byteorder' does not say 'little', so it was saved by a big-endian "
            "machine: load it in "
            "Python and save it again");
  const std::string bools = replaced(replaced(kTensorPickle, "FloatStorage", "BoolStorage"), "K\x02tQ", "K\x08tQ");
  EXPECT_EQ(fault({{"a/data.pkl", bools, false, ""}, {"a/data/0", "\0\1\0\1\2\0\0\0"s, false, ""}}),
            "'a/data.pkl' in '" + (folder_ / "x.pt") +
                "' cannot be loaded: at byte 76, element 4 of the storage '0' of bools is neither 0 nor 1");
  const std::string meta = replaced(kTensorPickle,
                                    "U\x03"
                                    "cpu",
                                    "U\x04meta");
  EXPECT_EQ(fault({{"a/data.pkl", meta, false, ""}}),
            "'a/data.pkl' in '" + (folder_ / "x.pt") +
                "' cannot be loaded: at byte 78, a storage is on the device 'meta', and has no elements");
  const std::string cuda = replaced(kTensorPickle,
                                    "U\x03"
                                    "cpu",
                                    "U\x06"
                                    "cuda:0");
  EXPECT_EQ(fault({{"a/data.pkl", cuda, false, ""}, {"a/data/0", kTwoFloats, false, ""}}), "no error");
}

TEST_F(CheckpointFile, StoragesOfAnArchiveAreMapped) {
  folder_.write("x.pt", sample("state_dict_now.pt"));
  Tensor weight = io::load("x.pt").at("weight");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(weight.data_ptr()) % 64, 0U) << "as PyTorch aligned it in the file";
  zero_(weight);
  EXPECT_EQ(folder_.read("x.pt"), sample("state_dict_now.pt"));
}

}  // namespace
}  // namespace boxcar::io
