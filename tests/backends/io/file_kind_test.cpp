#include <boxcar/backends/io/file_kind.h>
#include <boxcar/backends/io/npy.h>
#include <boxcar/ivalue/file_access.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <utility>

#include "tests/backends/tensor_helpers.h"
#include "tests/temporary_folder.h"

namespace boxcar::io {
namespace {

using namespace std::string_literals;

std::string kindOf(const std::string& file) {
  const ForeignKind* const kind = findForeignKind(std::as_bytes(std::span(file)));
  return kind == nullptr ? "" : std::string(kind->what);
}

// Returns eight bytes with the length of [header], followed by the header.
std::string safetensorsOf(const std::string& header) {
  std::string file;
  for (size_t i = 0, length = header.size(); i < 8; ++i, length >>= 8) file += static_cast<char>(length);
  return file + header;
}

TEST(FileKind, IsToldByTheFirstBytes) {
  const std::string rest(300, '\0');
  const std::pair<std::string, std::string> files[] = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n", "a pointer of Git LFS"},
      {"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02" + rest,
       "a PyTorch checkpoint of the old kind (a pickle)"},
      {"\x80\x04\x95\x0b\0\0\0\0\0\0\0]"s, "a Python pickle"},
      {"\x89HDF\r\n\x1a\n" + rest, "an HDF5 file, as Keras and h5py write"},
      {"GGUF\3\0\0\0"s + rest, "a GGUF file of llama.cpp's"},
      {"\x1c\0\0\0TFL3"s + rest, "a TFLite model"},
      {"MATLAB 5.0 MAT-file, Platform: GLNXA64" + rest, "a MATLAB file"},
      {"\x08\x08\x12\x07pytorch\x1a\x03"
       "2.1:" +
           rest,
       "an ONNX model"},
      {"\x08\x0a\x3a\xff\x01" + rest, "an ONNX model"},
      {"\x08\x01\x12\xff\xff\x01" + rest, "a SavedModel of TensorFlow's"},
      {"\x1f\x8b\x08\0\0\0\0\0\0\3"s + rest, "compressed by gzip"},
      {"\x28\xb5\x2f\xfd" + rest, "compressed by zstd"},
      {"\xfd\x37zXZ\0"s + rest, "compressed by xz"},
      {"BZh91AY&SY" + rest, "compressed by bzip2"},
      {"7z\xbc\xaf\x27\x1c" + rest, "a 7z archive"},
      {"weights/a.bin" + std::string(244, '\0') + "ustar  " + rest, "a tar archive"},
      {"\x89PNG\r\n\x1a\n" + rest, "a picture (PNG)"},
      {"\xff\xd8\xff\xe0" + rest, "a picture (JPEG)"},
      {"\xef\xbb\xbf\n <!DOCTYPE HTML>\n<title>404</title>", "a page of the web (HTML)"},
      {"<html><body>Access denied</body></html>", "a page of the web (HTML)"},
      {"{\"metadata\": {}, \"weight_map\": {\"a\": \"model-00001-of-00002.safetensors\"}}",
       "the index of a model in several files"},
      {"{\"a\": [1, 2]}", "JSON"},
      {"1.0, 2.0\n3.0, 4.0\n", "a text"},
  };
  for (const auto& [file, kind] : files) EXPECT_EQ(kindOf(file), kind) << file.substr(0, 12);
}

TEST(FileKind, FilesThatMayBeReadAreNotForeign) {
  EXPECT_EQ(kindOf(""), "");
  EXPECT_EQ(kindOf("PK"), "");
  EXPECT_EQ(kindOf("\x93NUMPY\x01"), "");
  EXPECT_EQ(kindOf("PK\x05\x06" + std::string(18, '\0')), "");
  EXPECT_EQ(kindOf(safetensorsOf("{}")), "");
  EXPECT_EQ(kindOf(std::string(64, '\xee')), "");
  // Header lengths that look like the starts of other files.
  for (const size_t length : {size_t{0x0280}, size_t{0x0580}, size_t{0x088b1f}, size_t{0x120108}}) {
    std::string header = "{}";
    header.resize(length, ' ');
    EXPECT_EQ(kindOf(safetensorsOf(header)), "") << length;
  }
  EXPECT_EQ(kindOf("\x80\x02}q\0."s), "a Python pickle") << "no header of such a length follows";
}

TEST(FileKind, MessageSaysWhatTheFileIsAndWhatToDo) {
  const TemporaryFolder folder;
  const FileAccessGuard guard(FileAccess{.folder = folder.path()});
  folder.write("model.safetensors", "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_EQ(errorOf([] { io::load("model.safetensors"); }),
            "'" + (folder / "model.safetensors") +
                "' is a pointer of Git LFS, not a file that io::load "
                "reads: fetch the real file with `git lfs install` and `git lfs pull`");
  folder.write("model.npz", "<!doctype html><p>moved");
  EXPECT_EQ(errorOf([] { io::load("model.npz"); }),
            "'" + (folder / "model.npz") +
                "' is a page of the web (HTML), not a file that io::load reads: "
                "a server answered with it; download the file itself");
  folder.write("a.onnx", "\x08\x08\x12\x07pytorch");
  EXPECT_EQ(errorOf([] { io::load("a.onnx"); }),
            "'" + (folder / "a.onnx") +
                "' is an ONNX model, not a file that io::load reads: write its weights in Python, numpy.savez('x.npz', "
                "**{w.name: onnx.numpy_helper.to_array(w) for w in onnx.load(…).graph.initializer})");
  folder.write("a.npy", "\x80\x04\x95 a pickle");
  EXPECT_EQ(errorOf([] { io::load_npy("a.npy"); }),
            "'" + (folder / "a.npy") +
                "' is a Python pickle, not a file that io::load_npy reads: write its tensors in Python, "
                "safetensors.torch.save_file(torch.load(…), 'x.safetensors'), and load that file");
  folder.write("b.npy", safetensorsOf("{}"));
  EXPECT_EQ(errorOf([] { io::load_npy("b.npy"); }),
            "'" + (folder / "b.npy") + "' is not a .npy file, but a safetensors file: io::load reads it");
}

TEST(FileKind, MembersOfAnArchiveTellIt) {
  EXPECT_EQ(findForeignKind(std::vector<std::string_view>{"net/model.weights.h5"})->what, "a Keras model");
  EXPECT_EQ(findForeignKind(std::vector<std::string_view>{"a.npy", "my_model.weights.h5"}), nullptr);
}

}  // namespace
}  // namespace boxcar::io
