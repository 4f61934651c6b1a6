#include <boxcar/ivalue/file_access.h>
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/backends/io/hand_made_zip.h"
#include "tests/backends/tensor_helpers.h"
#include "tests/temporary_folder.h"

// tests/data/pt2/make.py writes views.pt2; the other archives are made here, and most are broken.

namespace boxcar::io {
namespace {

// An entry of a model with one weight, "w"; each field is JSON.
struct Described {
  std::string path_name = "\"weight_0\"";
  std::string use_pickle = "false";
  std::string dtype = "7";
  std::string sizes = R"([{"as_int": 2}])";
  std::string strides = R"([{"as_int": 1}])";
  std::string offset = R"({"as_int": 0})";
  std::string layout = "7";
};

std::string configOf(const Described& entry) {
  return R"({"config": {"w": {"path_name": )" + entry.path_name + R"(, "is_param": true, "use_pickle": )" +
         entry.use_pickle + R"(, "tensor_meta": {"dtype": )" + entry.dtype + R"(, "sizes": )" + entry.sizes +
         R"(, "strides": )" + entry.strides + R"(, "storage_offset": )" + entry.offset + R"(, "layout": )" +
         entry.layout + "}}}}";
}

std::vector<HandMadeMember> membersOf(const std::string& config, const std::string& storage = std::string(8, '\0')) {
  return {{"m/data/weights/weight_0", storage},
          {"m/data/weights/model_weights_config.json", config},
          {"m/data/constants/model_constants_config.json", R"({"config": {}})"},
          {"m/models/model.json", "{}"},
          {"m/archive_format", "pt2"}};
}

std::string faultOf(const std::vector<HandMadeMember>& members) {
  const TemporaryFolder folder;
  const FileAccessGuard guard(FileAccess{.folder = folder.path()});
  folder.write("m.pt2", archiveOf(members));
  std::string fault = errorOf([] { load("m.pt2"); });
  for (size_t at = 0; (at = fault.find(folder.path() + "/")) != std::string::npos;)
    fault.erase(at, folder.path().size() + 1);
  return fault;
}
std::string faultOf(const Described& entry, const std::string& storage = std::string(8, '\0')) {
  return faultOf(membersOf(configOf(entry), storage));
}

const std::string kConfig = "'m/data/weights/model_weights_config.json' in 'm.pt2'";
const std::string kInvalid = kConfig + " is not valid: ";
const std::string kRemedy = "; the archive may be damaged, so write it again by torch.export.save";

TEST(Pt2, WeightsAndConstantsKeepTheirViewsAndDtypes) {
  const auto tensors = load(BOXCAR_TEST_DATA "/pt2/views.pt2");
  EXPECT_EQ(tensors.size(), 21U);
  EXPECT_EQ(shapeText(tensors.at("embed.weight")), "float32[4, 3]");
  EXPECT_EQ(elements<float>(tensors.at("head.weight")), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(shapeText(tensors.at("transposed")), "float32[3, 4]");
  EXPECT_EQ(elements<float>(tensors.at("transposed")), (std::vector<float>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
  EXPECT_EQ(elements<float>(tensors.at("column")), (std::vector<float>{4, 7, 10}));
  EXPECT_EQ(elements<float>(tensors.at("expanded")), (std::vector<float>{9, 10, 11, 9, 10, 11}));
  EXPECT_EQ(elements<int32_t>(tensors.at("bits")), (std::vector<int32_t>{0x3f800000, 0x40000000}));
  EXPECT_EQ(shapeText(tensors.at("empty")), "float64[0, 3]");
  EXPECT_EQ(shapeText(tensors.at("scalar")), "int64[]");
  EXPECT_EQ(elements<int64_t>(tensors.at("scalar")), (std::vector<int64_t>{7}));
  EXPECT_EQ(elements<bool>(tensors.at("mask")), (std::vector<bool>{true, false, false, true}));
  for (const char* name : {"uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64",
                           "complex128", "bool", "bfloat16"}) {
    const Tensor& tensor = tensors.at(name);
    EXPECT_EQ(shapeText(tensor), std::string(name) + "[2]");
    if (isComplexType(tensor.dtype())) continue;
    EXPECT_EQ(elements<float>(to(tensor, ScalarType::Float)), (std::vector<float>{1, 0})) << name;
  }
  EXPECT_EQ(elements<std::complex<double>>(tensors.at("complex128")), (std::vector<std::complex<double>>{{1, -1}, 0}));
}

TEST(Pt2, TensorsOfOneStorageShareItInTheMappedFile) {
  const auto tensors = load(BOXCAR_TEST_DATA "/pt2/views.pt2");
  Tensor embed = tensors.at("embed.weight");
  for (const char* name : {"head.weight", "transposed", "column", "bits"})
    EXPECT_EQ(tensors.at(name).storage().get(), embed.storage().get()) << name;
  EXPECT_NE(tensors.at("scalar").storage().get(), embed.storage().get());
  // Mapped files begin at a page, and the storages at multiples of 64 in it.
  EXPECT_EQ(reinterpret_cast<uintptr_t>(embed.data_ptr()) % 64, 0U);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensors.at("scalar").data_ptr()) % 64, 0U);
  // A write is seen by all of them, and not by the file.
  fill_(embed, 5);
  EXPECT_EQ(elements<float>(tensors.at("column")), (std::vector<float>{5, 5, 5}));
  EXPECT_EQ(elements<float>(load(BOXCAR_TEST_DATA "/pt2/views.pt2").at("column")), (std::vector<float>{4, 7, 10}));
}

TEST(Pt2, DeflatedAndUnalignedStoragesAreCopied) {
  const TemporaryFolder folder;
  const FileAccessGuard guard(FileAccess{.folder = folder.path()});
  for (const bool is_deflated : {false, true}) {
    auto members = membersOf(configOf({.dtype = "8"}), std::string(16, '\0'));
    for (HandMadeMember& member : members) member.is_deflated = is_deflated;
    for (const char* extra : {"", "x", "xxxx"}) {
      members[0].extra = extra;
      folder.write("m.pt2", archiveOf(members));
      EXPECT_EQ(elements<double>(load("m.pt2").at("w")), (std::vector<double>{0, 0}));
    }
  }
}

TEST(Pt2, ViewsStayInTheirStorages) {
  const auto leaves = [](const std::string& dtype, const std::string& shape, size_t bytes) {
    return kInvalid + "its entry 'w' of dtype " + dtype + ", " + shape +
           ", leaves its storage 'm/data/weights/weight_0', which has " + std::to_string(bytes) + " bytes; ";
  };
  const std::string again = "write the archive again by torch.export.save";
  EXPECT_EQ(faultOf(Described{}), "no error");
  EXPECT_EQ(faultOf(Described{.sizes = R"([{"as_int": 3}])"}),
            leaves("float32", "sizes [3], strides [1] and storage_offset 0", 8) + again);
  EXPECT_EQ(faultOf(Described{.offset = R"({"as_int": 1})"}),
            leaves("float32", "sizes [2], strides [1] and storage_offset 1", 8) + again);
  EXPECT_EQ(faultOf(Described{}, "1234567"),
            leaves("float32", "sizes [2], strides [1] and storage_offset 0", 7) + again);
  EXPECT_EQ(faultOf(Described{}, ""),
            leaves("float32", "sizes [2], strides [1] and storage_offset 0", 0) +
                "it may be a fake tensor, without content: give the model real tensors before the export");
  const std::string most = "9223372036854775807";
  EXPECT_EQ(faultOf(Described{.strides = R"([{"as_int": )" + most + "}]"}),
            leaves("float32", "sizes [2], strides [" + most + "] and storage_offset 0", 8) + again);
  EXPECT_EQ(faultOf(Described{.offset = R"({"as_int": )" + most + "}"}),
            leaves("float32", "sizes [2], strides [1] and storage_offset " + most, 8) + again);
  EXPECT_EQ(faultOf(Described{.sizes = R"([{"as_int": )" + most + "}]", .strides = R"([{"as_int": 0}])"}),
            leaves("float32", "sizes [" + most + "], strides [0] and storage_offset 0", 8) + again);
  // No element leaves a storage.
  EXPECT_EQ(faultOf(Described{.sizes = R"([{"as_int": 0}])", .strides = R"([{"as_int": )" + most + "}]"}), "no error");
  EXPECT_EQ(faultOf(Described{.sizes = R"([{"as_int": 0}])", .offset = R"({"as_int": 3})"}),
            leaves("float32", "sizes [0], strides [1] and storage_offset 3", 8) + again);
  EXPECT_EQ(
      faultOf(Described{.dtype = "12", .offset = R"({"as_int": 5})"}, std::string("\0\0\0\0\0\0\2\0", 8)),
      kInvalid + "byte 6 of 'm/data/weights/weight_0', where its entry 'w' has bools, is 2, neither 0 nor 1; " + again);
  EXPECT_EQ(faultOf(Described{.path_name = R"("../weight_0")"}),
            kInvalid +
                "its entry 'w' names 'm/data/weights/../weight_0', which the archive does not have; write it "
                "again by torch.export.save");
}

TEST(Pt2, EntriesThatAreNoTensorsOfBoxcarAreNamed) {
  const std::string cannot = kConfig + " cannot be loaded: its entry 'w' ";
  const std::pair<const char*, const char*> dtypes[] = {
      {"9", "complex32"},       {"28", "uint16"},          {"29", "float8_e4m3fn"},
      {"30", "float8_e5m2"},    {"31", "float8_e4m3fnuz"}, {"32", "float8_e5m2fnuz"},
      {"33", "float8_e8m0fnu"}, {"34", "uint32"},          {"35", "uint64"}};
  for (const auto& [number, name] : dtypes) {
    EXPECT_EQ(faultOf(Described{.dtype = number}),
              cannot + "has the dtype " + name + ", which boxcar does not have; convert it before the export");
  }
  EXPECT_EQ(faultOf(Described{.dtype = "0"}),
            kInvalid + "the dtype of its entry 'w' is 0, which torch.export has not" + kRemedy);
  EXPECT_EQ(faultOf(Described{.layout = "2"}),
            cannot +
                "is not strided (its layout is 2), and boxcar has no other tensors; call to_dense() before the "
                "export");
  for (const auto& entry : {Described{.use_pickle = "true"}, Described{.path_name = R"("custom_obj_0")"},
                            Described{.path_name = R"("opaque_obj_3")"}}) {
    EXPECT_EQ(faultOf(entry), cannot + "is a Python object in a pickle, '" +
                                  entry.path_name.substr(1, entry.path_name.size() - 2) +
                                  "', and io::load reads tensors only; export a model without it, or save its tensors "
                                  "by safetensors.torch.save_file");
  }
}

TEST(Pt2, FaultsOfTheJsonAreNamed) {
  const auto fault = [](const std::string& text) { return kInvalid + text + kRemedy; };
  EXPECT_EQ(faultOf(membersOf("")), fault("it is not JSON (at byte 1 of 0)"));
  EXPECT_EQ(faultOf(membersOf("[]")), fault("it is an array instead of an object"));
  EXPECT_EQ(faultOf(membersOf("{}")), fault("it has no config"));
  EXPECT_EQ(faultOf(membersOf(R"({"config": 3})")), fault("the config of it is 3 instead of an object"));
  EXPECT_EQ(faultOf(membersOf(R"({"config": {"w": 3}})")), fault("its entry 'w' is a number instead of an object"));
  EXPECT_EQ(faultOf(membersOf(R"({"config": {"w": {}}})")), fault("its entry 'w' has no path_name"));
  EXPECT_EQ(faultOf(Described{.path_name = "3"}), fault("the path_name of its entry 'w' is 3 instead of a string"));
  EXPECT_EQ(
      faultOf(Described{.sizes = "[2]"}),
      fault("the sizes of its entry 'w' have 2 instead of {\"as_int\": …} with a whole number from 0 to 2^63 - 1"));
  EXPECT_EQ(
      faultOf(Described{.strides = R"([{"as_int": -1}])"}),
      fault("the strides of its entry 'w' have {\"as_int\":-1} instead of {\"as_int\": …} with a whole number from "
            "0 to 2^63 - 1"));
  EXPECT_EQ(faultOf(Described{.sizes = R"([{"as_expr": {"expr_str": "s0"}}])"}),
            fault("the sizes of its entry 'w' have {...} instead of {\"as_int\": …} with a whole number from 0 to "
                  "2^63 - 1"));
  EXPECT_EQ(faultOf(Described{.strides = "[]"}), fault("its entry 'w' has 1 sizes and 0 strides"));
  EXPECT_NE(faultOf(membersOf(std::string(100'000, '['))), "no error");
}

TEST(Pt2, ArchivesWithoutOneModelSayWhy) {
  const Described entry;
  auto members = membersOf(configOf(entry));
  members.erase(members.begin() + 1);
  EXPECT_EQ(
      faultOf(members),
      "'m.pt2' cannot be loaded: it has no 'm/data/weights/model_weights_config.json'; versions of PyTorch before "
      "2.9 kept tensors in pickles, so load it in Python by torch.export.load, and save it again with a newer "
      "PyTorch");
  EXPECT_EQ(faultOf(std::vector<HandMadeMember>{{"m/archive_format", "pt2"}, {"m/data/aotinductor/model/x.so", ""}}),
            "'m.pt2' cannot be loaded: it has no model of torch.export's, only what was compiled for one machine; save "
            "the program by torch.export.save");
  members = membersOf(configOf(entry));
  members.push_back({"m/models/it's.json", "{}"});
  EXPECT_EQ(faultOf(members),
            "'m.pt2' cannot be loaded: it has 2 models, 'model', \"it's\"; name one, as in 'm.pt2:model'");
  members = membersOf(configOf(entry));
  members[2].data = members[1].data;
  members.push_back({"m/data/constants/weight_0", std::string(8, '\0')});
  EXPECT_EQ(faultOf(members),
            "'m/data/constants/model_constants_config.json' in 'm.pt2' is not valid: its entry 'w' is also one of the "
            "model's weights; write the archive again by torch.export.save");
}

TEST(LoadZip, GivesTheBytesOfMembersByName) {
  const TemporaryFolder folder;
  const FileAccessGuard guard(FileAccess{.folder = folder.path()});
  folder.write("x.zip", archiveOf({{"a/", ""}, {"a/b", "abc"}, {"../c", "defg", true}, {"", "x"}, {"empty", ""}}));
  const auto members = load_zip("x.zip");
  ASSERT_EQ(members.size(), 4U);
  EXPECT_EQ(members.entryAt(0).first, "a/b");
  EXPECT_EQ(elements<uint8_t>(members.at("a/b")), (std::vector<uint8_t>{'a', 'b', 'c'}));
  EXPECT_EQ(elements<uint8_t>(members.at("../c")), (std::vector<uint8_t>{'d', 'e', 'f', 'g'}));
  EXPECT_EQ(elements<uint8_t>(members.at("")), (std::vector<uint8_t>{'x'}));
  EXPECT_EQ(shapeText(members.at("empty")), "uint8[0]");
  // Writes change neither the file nor what is loaded later.
  Tensor written = members.at("a/b");
  fill_(written, 0);
  EXPECT_EQ(elements<uint8_t>(load_zip("x.zip").at("a/b")), (std::vector<uint8_t>{'a', 'b', 'c'}));
  folder.write("text", "no archive");
  EXPECT_EQ(errorOf([] { load_zip("text"); }),
            "'" + (folder / "text") +
                "' is not a valid zip archive: it has 10 bytes, and does not end with the record that ends an archive; "
                "it may be cut off or damaged, so fetch or write it again");
}

}  // namespace
}  // namespace boxcar::io
