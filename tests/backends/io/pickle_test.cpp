#include <boxcar/backends/io/pickle.h>
#include <boxcar/backends/io/torch_names.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// Pickles made by hand, most of them broken. checkpoint_test.cpp reads what PyTorch writes.

namespace boxcar::io {
namespace {

using namespace std::string_literals;

Unpickled readAt(const std::string& file, size_t begin, PickleNames& names) {
  return unpickle(std::as_bytes(std::span(file)), begin, "'x.pt'", names);
}

// A storage of 8 bytes under every key.
Storage smallStorage(const StorageId&, const PicklePlace&) { return StorageImpl::allocate(8, Device(DeviceType::CPU)); }

IValue read(const std::string& pickle) {
  TorchNames names(smallStorage);
  return readAt(pickle, 0, names).value;
}

std::string shown(const std::string& pickle) { return repr(read(pickle)); }

// Returns the error after "'x.pt' cannot be loaded: ".
std::string faultOf(const std::string& pickle) {
  const std::string begin = "'x.pt' cannot be loaded: ";
  const std::string message = errorOf([&] { read(pickle); });
  return message.starts_with(begin) ? message.substr(begin.size()) : message;
}

std::string repeated(const std::string& text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(Pickle, PlainValuesOfAllProtocols) {
  const std::pair<std::string, std::string> pickles[] = {
      {"N.", "None"},
      {"I01\n.", "True"},
      {"I-7\n.", "-7"},
      {"L12345678901L\n.", "12345678901"},
      {"F2.5\n.", "2.5"},
      {"Finf\n.", "inf"},
      {"S'a\\'b\\x41\\n'\n.", R"("a'bA\n")"},
      {"Vgr\\u00f6\xdf e\n.", "'größ e'"},
      {"(lp0\nI1\naI2\na.", "[1, 2]"},
      {"(I1\n(I2\nI3\ntd.", "{1: (2, 3)}"},
      {"\x80\x02K\x05."s, "5"},
      {"\x80\x02M\x01\x02."s, "513"},
      {"\x80\x02J\xff\xff\xff\xff."s, "-1"},
      {"\x80\x02\x8a\x00."s, "0"},
      {"\x80\x02\x8a\x01\xff."s, "-1"},
      {"\x80\x02\x8a\x09\xff\xff\xff\xff\xff\xff\xff\x7f\x00."s, "9223372036854775807"},
      {"\x80\x02\x8b\x02\x00\x00\x00\x00\x80."s, "-32768"},
      {"\x80\x02G\xbf\xf8\x00\x00\x00\x00\x00\x00."s, "-1.5"},
      {"\x80\x02\x88\x89\x86."s, "(True, False)"},
      {"\x80\x02]q\x00(K\x01U\x01xe."s, "[1, 'x']"},
      {"\x80\x02}q\x00(X\x01\x00\x00\x00"
       "aK\x01u."s,
       "{'a': 1}"},
      {"\x80\x03"
       "C\x02\x00\xff."s,
       R"('\x00\xff')"},
      {"\x80\x04\x95\x04\x00\x00\x00\x00\x00\x00\x00\x8c\x01"
       "a."s,
       "'a'"},
      {"\x80\x04\x8f\x94(K\x01K\x02\x90."s, "[1, 2]"},
      {"\x80\x04(K\x01\x91."s, "[1]"},
      {"\x80\x05\x96\x02\x00\x00\x00\x00\x00\x00\x00"
       "ab."s,
       "'ab'"},
      {"K\x01K\x02"
       "0."s,
       "1"},
      {"K\x01(K\x02"
       "1."s,
       "1"},
      {"](K\x01"
       "2e."s,
       "[1, 1]"},
  };
  for (const auto& [pickle, text] : pickles) EXPECT_EQ(shown(pickle), text) << pickle;
}

TEST(Pickle, EndsBehindItsStop) {
  TorchNames names(smallStorage);
  const std::string file = "K\x01.K\x02.";
  EXPECT_EQ(readAt(file, 0, names).end, 3U);
  EXPECT_EQ(readAt(file, 3, names).value.toInt(), 2);
}

TEST(Pickle, WhatIsRememberedIsShared) {
  const IValue value = read(
      "](]q\x05h\x05"
      "e.");
  ASSERT_EQ(repr(value), "[[], []]");
  EXPECT_TRUE(value.elementAt(0).is(value.elementAt(1)));
  EXPECT_EQ(shown("\x80\x04K\x07\x94h\x00\x86."s), "(7, 7)");
  EXPECT_EQ(faultOf("h\x03."), "at byte 0, its pickle recalls value 3, which it has not remembered");
  EXPECT_EQ(faultOf("K\x01r\xff\xff\xff\xff."),
            "at byte 2, its pickle remembers a value as number 4294967295, which is too high");
  EXPECT_EQ(faultOf("K\x01p-1\n."), "at byte 2, '-1' is no number of a remembered value of a pickle");
}

TEST(Pickle, KnownClassesBecomePlainValues) {
  const std::string dict = "ccollections\nOrderedDict\n";
  EXPECT_EQ(shown(dict + ")RK\x01K\x02s."), "{1: 2}");
  EXPECT_EQ(shown(dict + "((l((U\x01"
                         "aK\x01letR."),
            "{'a': 1}")
      << "as Python 2 wrote it";
  EXPECT_EQ(shown(dict + ")R}U\x01"
                         "xK\x01sb."),
            "{}")
      << "attributes are dropped";
  EXPECT_EQ(shown("c__builtin__\nset\n((lK\x01"
                  "atR."),
            "[1]");
  EXPECT_EQ(shown("cbuiltins\ncomplex\n(F1\nF2\ntR."), "(1+2j)");
  EXPECT_EQ(shown("c_codecs\nencode\n(X\x03\x00\x00\x00"
                  "a\xc3\xbfX\x06\x00\x00\x00latin1tR."s),
            R"('a\xff')");
  EXPECT_EQ(shown("ctorch\nSize\n((K\x02K\x03ttR."), "[2, 3]");
  EXPECT_EQ(shown("ctorch\ndevice\n(U\x04"
                  "cudaK\x01tR."),
            "device(type='cuda', index=1)");
  EXPECT_EQ(shown("ctorch\nfloat64\n."), "7");
  EXPECT_EQ(shown("(ctorch\nSize\n(K\x02to."), "[2]") << "OBJ";
  EXPECT_EQ(shown("((K\x02titorch\nSize\n."), "[2]") << "INST";
  EXPECT_EQ(shown("\x80\x04\x8c\x05torch\x8c\x04Size\x93)\x85\x81."s), "[]") << "NEWOBJ";
  const std::string number =
      "cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(U\x02"
      "f8I00\nI01\ntR(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tbU\x08"s;
  EXPECT_EQ(shown(number + "\0\0\0\0\0\0\xf8\x3ftR."s), "1.5");
}

TEST(Pickle, NothingElseIsNamed) {
  const std::string remedy =
      ", and only tensors and plain values are loaded, because a file must not run code: save a state_dict in Python, "
      "torch.save(model.state_dict(), …), or a safetensors file, and load that";
  EXPECT_EQ(faultOf("cos\nsystem\n(S'true'\ntR."), "at byte 0, its pickle asks for 'os.system'" + remedy);
  EXPECT_EQ(faultOf("cbuiltins\neval\n."), "at byte 0, its pickle asks for 'builtins.eval'" + remedy);
  EXPECT_EQ(faultOf("\x80\x04N0\x8c\x02os\x8c\x06system\x93."s),
            "at byte 16, its pickle asks for 'os.system'" + remedy);
  EXPECT_EQ(faultOf("(ios\nsystem\n."), "at byte 1, its pickle asks for 'os.system'" + remedy);
  EXPECT_EQ(faultOf("\x82\x01."), "at byte 0, its pickle asks for something by a number of Python's copyreg" + remedy);
  EXPECT_EQ(faultOf("ctorch.nn.parameter\nParameter\n)R."),
            "at byte 31, its pickle asks for torch.nn.parameter.Parameter with arguments" + remedy);
  EXPECT_EQ(
      faultOf("ctorch\nfloat8_e4m3fn\n."),
      "at byte 0, a tensor has the dtype torch.float8_e4m3fn, which boxcar does not have: save x.float() or x.long()");
  EXPECT_EQ(faultOf("ctorch._utils\n_rebuild_sparse_tensor\n."),
            "at byte 0, a tensor is sparse, which boxcar's are not: save x.to_dense()");
  EXPECT_EQ(faultOf("ctorch\nQInt8Storage\n."), "at byte 0, its pickle asks for 'torch.QInt8Storage'" + remedy);
  EXPECT_EQ(faultOf("K\x01)R."), "at byte 3, its pickle calls a value of type int");
  EXPECT_EQ(faultOf("]}b."), "at byte 2, its pickle sets attributes of a value of type list");
  EXPECT_EQ(faultOf("ctorch\nSize\n."),
            "at byte 12, its pickle ends, and what it holds has torch.Size in it, which is no value that boxcar has");
  EXPECT_EQ(faultOf("\x97."), "at byte 0, its pickle takes a buffer that lies outside of the file");
}

TEST(Pickle, BrokenOnesAreRefused) {
  const std::pair<std::string, std::string> pickles[] = {
      {"", "at byte 0, 1 more bytes of its pickle should follow, and 0 do"},
      {"K", "at byte 0, 1 more bytes of its pickle should follow, and 0 do"},
      {"K\x01", "at byte 2, 1 more bytes of its pickle should follow, and 0 do"},
      {"X\xff\xff\xff\xff"
       "a",
       "at byte 0, 4294967295 more bytes of its pickle should follow, and 1 do"},
      {"\x8d\xff\xff\xff\xff\xff\xff\xff\xff",
       "at byte 0, 18446744073709551615 more bytes of its pickle should follow, and 0 do"},
      {"T\xff\xff\xff\xff", "at byte 0, a length in its pickle is -1"},
      {"\x8b\xff\xff\xff\xff", "at byte 0, a length in its pickle is -1"},
      {"\x95\xff\0\0\0\0\0\0\0"s, "at byte 0, a frame of 255 bytes should follow, and 0 do"},
      {"\x80\x06."s, "at byte 0, its pickle has protocol 6, and 0 to 5 are known"},
      {"\xff.", "at byte 0, 0xff is no opcode of a pickle of protocols 0 to 5"},
      {"I1", "at byte 0, a line of its pickle has no end"},
      {"I0x1\n.", "at byte 0, '0x1' is no int of 64 bits of a pickle"},
      {"L9223372036854775808L\n.", "at byte 0, '9223372036854775808L' is no int of 64 bits of a pickle"},
      {"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00."s,
       "at byte 0, an int of 9 bytes does not fit the 64 bits that boxcar's ints have"},
      {"F1.5x\n.", "at byte 0, '1.5x' is no float of a pickle"},
      {"Sabc\n.", "at byte 0, 'abc' is no str of a pickle"},
      {".", "at byte 0, its pickle takes a value from an empty stack"},
      {"K\x01(\x85.", "at byte 3, its pickle takes a value from an empty stack"},
      {"K\x01t.", "at byte 2, its pickle takes what follows a mark, and there is none"},
      {"}(K\x01u.", "at byte 4, a key of a dict in its pickle has no value"},
      {"K\x01K\x02"
       "a.",
       "at byte 4, its pickle appends to a value of type int"},
      {"]K\x01K\x02s.", "at byte 5, its pickle sets items of a value of type list"},
      {"}]K\x01s.",
       "at byte 4, a key of a dict or set in its pickle is of type list, and is or holds what cannot be a key"},
      {"})\x85K\x01s.",
       "at byte 5, a key of a dict or set in its pickle is of type tuple, and is or holds what cannot be a key"},
  };
  for (const auto& [pickle, fault] : pickles) EXPECT_EQ(faultOf(pickle), fault) << pickle;
}

TEST(Pickle, ValuesThatContainThemselvesAreRefused) {
  const std::string fault = "its pickle ends, and a list, dict or object of it contains itself";
  EXPECT_EQ(faultOf("]q\x01h\x01"
                    "a."),
            "at byte 6, " + fault);
  EXPECT_EQ(faultOf("}q\x01K\x01h\x01s."), "at byte 8, " + fault);
  EXPECT_EQ(faultOf("]q\x01(h\x01\x85\x65K\x01."s), "at byte 10, " + fault) << "in what is left over";
  EXPECT_EQ(faultOf("]q\x01h\x01"
                    "a\xff"),
            "at byte 6, 0xff is no opcode of a pickle of protocols 0 to 5")
      << "is freed, too";
}

TEST(Pickle, DepthIsLimited) {
  const std::string fault = "its pickle ends, and its values are nested more than 1000 deep";
  EXPECT_EQ(faultOf(")" + repeated("\x85", 200'000) + "."), "at byte 200001, " + fault);
  EXPECT_EQ(faultOf(repeated("]", 200'000) + repeated("a", 199'999) + "."), "at byte 399999, " + fault);
  EXPECT_EQ(faultOf(repeated("}K\x01", 100'000) + "N" + repeated("s", 100'000) + "."), "at byte 400001, " + fault);
  EXPECT_EQ(read(")" + repeated("\x85", 999) + ".").length(), 1U);
  EXPECT_EQ(faultOf(")" + repeated("\x85", 200'000)).substr(0, 17), "at byte 200001, 1") << "frees deep ones";
}

TEST(Pickle, SmallFilesMakeNothingLarge) {
  // Each tuple holds the one before twice: 2^200 elements that are never counted.
  EXPECT_EQ(read(")" + repeated("2\x86", 200) + ".").length(), 2U);
  // A long text is recalled and encoded over and over.
  const std::string text = "X\0\0\x10\0"s + std::string(1 << 20, 'a');
  const std::string many = repeated("c_codecs\nencode\n(h\x00U\x06latin1tR0"s, 5000);
  EXPECT_EQ(faultOf(text +
                    "q\x00"
                    "0"s +
                    many + "N.")
                    .find("its pickle makes much more of its values than it has bytes") != std::string::npos,
            true);
}

// A tensor of (storage, offset, sizes, strides), all in opcodes.
std::string tensorPickle(const std::string& offset, const std::string& sizes, const std::string& strides,
                         const std::string& numel = "K\x02") {
  return "ctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nFloatStorage\nU\x01"
         "0U\x03"
         "cpu"s +
         numel + "tQ" + offset + "(" + sizes + "t(" + strides +
         "t\x89"
         "ccollections\nOrderedDict\n)RtR.";
}

TEST(Pickle, TensorsStayInTheirStorage) {
  EXPECT_EQ(read(tensorPickle("K\x00"s, "K\x02", "K\x01")).toTensor().numel(), 2);
  EXPECT_EQ(read(tensorPickle("K\x01", "", "")).toTensor().storage_offset(), 1);
  EXPECT_EQ(read(tensorPickle("K\x00"s, "K\x05K\x02", "K\x00K\x01"s)).toTensor().numel(), 10) << "expanded";
  EXPECT_EQ(read(tensorPickle("K\x09", "K\x00"s, "K\x01")).toTensor().numel(), 0);
  const auto fault = [](const std::string& pickle) {
    const std::string message = faultOf(pickle);
    return message.substr(message.find(", ") + 2);
  };
  EXPECT_EQ(fault(tensorPickle("K\x00"s, "K\x03", "K\x01")),
            "a tensor of sizes [3], strides [1] and offset 0 does not fit the 8 bytes of its storage");
  EXPECT_EQ(fault(tensorPickle("K\x02", "", "")),
            "a tensor of sizes [], strides [] and offset 2 does not fit the 8 bytes of its storage");
  EXPECT_EQ(fault(tensorPickle("J\xff\xff\xff\xff", "K\x01", "K\x01")),
            "a tensor of sizes [1], strides [1] and offset -1 does not fit the 8 bytes of its storage");
  EXPECT_EQ(fault(tensorPickle("K\x01", "K\x02", "J\xff\xff\xff\xff")),
            "a tensor of sizes [2], strides [-1] and offset 1 does not fit the 8 bytes of its storage");
  EXPECT_EQ(fault(tensorPickle("K\x00"s, "K\x02", "K\x01K\x01")),
            "a tensor of sizes [2], strides [1, 1] and offset 0 does not fit the 8 bytes of its storage");
  const std::string huge = "\x8a\x08\0\0\0\0\0\0\0\x40"s;
  EXPECT_EQ(fault(tensorPickle("K\x00"s, huge + huge, "K\x00K\x00"s)),
            "a tensor of sizes [4611686018427387904, 4611686018427387904], strides [0, 0] and offset 0 does not fit "
            "the 8 bytes of its storage");
  EXPECT_EQ(
      fault(tensorPickle("K\x00"s, "K\x02", huge)),
      "a tensor of sizes [2], strides [4611686018427387904] and offset 0 does not fit the 8 bytes of its storage");
  EXPECT_EQ(fault(tensorPickle("K\x00"s, "K\x02", "K\x01", huge)),
            "a storage has 4611686018427387904 elements, more than fit memory");
  EXPECT_EQ(fault(tensorPickle("K\x00"s, "N", "K\x01")), "a value of type None stands where a size should");
}

TEST(Pickle, CallersKnowOtherNames) {
  class Classes final : public TorchNames {
   public:
    Classes() : TorchNames(smallStorage) {}
    bool keepsObjects() const noexcept override { return true; }
    IValue find(std::string_view name, const PicklePlace& place) override {
      if (!name.starts_with("__torch__.")) return TorchNames::find(name, place);
      return makeIntrusive<PickleFunction>(
          std::string(name), [its = std::string(name)](std::span<const IValue> arguments, const PicklePlace&) {
            return IValue(makeIntrusive<PickledObject>(its, arguments));
          });
    }
  } classes;
  const IValue module = readAt("c__torch__.net\nNet\n)\x81}U\x01wK\x03sb.", 0, classes).value;
  const auto& object = dynamic_cast<const PickledObject&>(*module.toObject());
  EXPECT_EQ(object.className(), "__torch__.net.Net");
  EXPECT_EQ(repr(object.state()), "{'w': 3}");
  EXPECT_EQ(errorOf([&] {
              readAt(
                  "c__torch__.net\nNet\n)\x81q\x01h\x01"
                  "b.",
                  0, classes);
            }),
            "'x.pt' cannot be loaded: at byte 26, its pickle ends, and a list, dict or object of it contains itself");
  EXPECT_EQ(errorOf([&] { readAt("cos\nsystem\n.", 0, classes); }).substr(0, 60),
            "'x.pt' cannot be loaded: at byte 0, its pickle asks for 'os.");
}

}  // namespace
}  // namespace boxcar::io
