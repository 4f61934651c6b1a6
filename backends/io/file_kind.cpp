#include <boxcar/backends/io/checkpoint.h>
#include <boxcar/backends/io/file_kind.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>

namespace boxcar::io {
namespace {

std::string_view textOf(std::span<const std::byte> file) noexcept {
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

// ---- What the tables below ask where a signature is no fixed text ----

// Returns the start of a text, without a byte order mark and leading white space.
std::string_view trimmed(std::string_view file) noexcept {
  if (file.starts_with("\xef\xbb\xbf")) file.remove_prefix(3);
  const size_t begin = file.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? std::string_view() : file.substr(begin);
}

bool startsWithAnyCase(std::string_view text, std::string_view lower) noexcept {
  return text.size() >= lower.size() && std::ranges::equal(text.substr(0, lower.size()), lower, [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         });
}

bool isHtml(std::string_view file) noexcept {
  const std::string_view text = trimmed(file);
  return startsWithAnyCase(text, "<!doctype html") || startsWithAnyCase(text, "<html");
}

// Returns whether the start of the file is ASCII text.
bool isText(std::string_view file) noexcept {
  constexpr size_t kFewest = 8, kMost = 4096;
  return file.size() >= kFewest && std::ranges::all_of(file.substr(0, kMost), [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte >= ' ' ? byte < 0x7f : byte == '\n' || byte == '\r' || byte == '\t';
         });
}

bool isJson(std::string_view file) noexcept {
  const std::string_view text = trimmed(file);
  return (text.starts_with('{') || text.starts_with('[')) && isText(file);
}

bool isIndex(std::string_view file) noexcept {
  return isJson(file) && file.find("\"weight_map\"") != std::string_view::npos;
}

bool isPickle(std::string_view file) noexcept {
  return file.size() > 2 && file[0] == '\x80' && file[1] >= 2 && file[1] <= 5;
}

bool isLegacyPickle(std::string_view file) noexcept { return isLegacyCheckpoint(std::as_bytes(std::span(file))); }

// A Protocol Buffers message whose field 1 is a number: `ir_version`, followed by the producer's name (2), the graph
// (7) or the operator sets (8).
bool isOnnx(std::string_view file) noexcept {
  if (file.size() < 5 || file[0] != '\x08' || file[1] < 2 || file[1] > 100) return false;
  if (file[2] == '\x3a' || file[2] == '\x42') return true;
  const auto length = static_cast<unsigned char>(file[3]);
  return file[2] == '\x12' && length < 0x80 && file.size() >= size_t{4} + length &&
         std::ranges::all_of(file.substr(4, length), [](char c) { return c >= ' ' && c <= '~'; });
}

// ---- The signatures ----

struct Signature {
  size_t at;
  std::string_view bytes;
  bool (*holds)(std::string_view file) noexcept;  // used if there are no bytes
  ForeignKind kind;
};

constexpr std::string_view kFromPickle =
    "write its tensors in Python, safetensors.torch.save_file(torch.load(…), 'x.safetensors'), and load that file";
constexpr std::string_view kFromArrays =
    "write its arrays in Python, numpy.savez('x.npz', **arrays), and load that file";
constexpr std::string_view kLoads = "io::load reads it";
constexpr std::string_view kUnpack = "unpack it, and load what is in it";

using namespace std::string_view_literals;

// The first match wins, so more specific signatures come first.
constexpr auto kSignatures = std::to_array<Signature>({
    {0,
     "version https://git-lfs"sv,
     nullptr,
     {"a pointer of Git LFS", "fetch the real file with `git lfs install` and `git lfs pull`"}},
    {0, {}, isLegacyPickle, {"a PyTorch checkpoint of the old kind (a pickle)", kLoads}},
    {0, {}, isPickle, {"a Python pickle", kFromPickle}},
    {0,
     "\x89HDF\r\n\x1a\n"sv,
     nullptr,
     {"an HDF5 file, as Keras and h5py write", "read it in Python with h5py, and write its arrays by numpy.savez"}},
    {0, "GGUF"sv, nullptr, {"a GGUF file of llama.cpp's", kLoads}},
    {4,
     "TFL3"sv,
     nullptr,
     {"a TFLite model", "take the weights of the original model, and write them with numpy.savez"}},
    {0,
     "MATLAB 5.0 MAT-file"sv,
     nullptr,
     {"a MATLAB file",
      "read it in Python by scipy.io.loadmat, and write it by "
      "numpy.savez"}},
    {0,
     {},
     isOnnx,
     {"an ONNX model",
      "write its weights in Python, numpy.savez('x.npz', **{w.name: onnx.numpy_helper.to_array(w) for w in "
      "onnx.load(…).graph.initializer})"}},
    {0,
     "\x08\x01\x12"sv,
     nullptr,
     {"a SavedModel of TensorFlow's", "load it there, and write the arrays of its variables by numpy.savez"}},
    {0, "\x1f\x8b"sv, nullptr, {"compressed by gzip", kUnpack}},
    {0, "\x28\xb5\x2f\xfd"sv, nullptr, {"compressed by zstd", kUnpack}},
    {0, "\xfd\x37zXZ\0"sv, nullptr, {"compressed by xz", kUnpack}},
    {0, "BZh"sv, nullptr, {"compressed by bzip2", kUnpack}},
    {0, "7z\xbc\xaf\x27\x1c"sv, nullptr, {"a 7z archive", kUnpack}},
    {257, "ustar"sv, nullptr, {"a tar archive", kUnpack}},
    {0, "\x89PNG\r\n\x1a\n"sv, nullptr, {"a picture (PNG)", kFromArrays}},
    {0, "\xff\xd8\xff"sv, nullptr, {"a picture (JPEG)", kFromArrays}},
    {0, {}, isHtml, {"a page of the web (HTML)", "a server answered with it; download the file itself"}},
    {0, {}, isIndex, {"the index of a model in several files", kLoads}},
    {0, {}, isJson, {"JSON", "io::read_text reads texts; numbers go into a .npz file by numpy.savez"}},
    {0, {}, isText, {"a text", "io::read_text reads texts; numbers go into a .npz file by numpy.savez"}},
});

// ---- Members of zip archives ----

struct MemberSignature {
  std::string_view end;  // the end of a member's name, or the whole name
  ForeignKind kind;
};

constexpr auto kMembers = std::to_array<MemberSignature>({
    {"archive_format",
     {"a program of torch.export's (.pt2)",
      "write its tensors in Python, safetensors.torch.save_file(torch.export.load(…).state_dict, 'x.safetensors'), and "
      "load that file"}},
    {"serialized_exported_program.json",
     {"a program of torch.export's (.pt2)",
      "write its tensors in Python, safetensors.torch.save_file(torch.export.load(…).state_dict, 'x.safetensors'), and "
      "load that file"}},
    {"model.weights.h5",
     {"a Keras model", "load it there, and write its weights by numpy.savez('x.npz', *model.get_weights())"}},
    {"[Content_Types].xml", {"a document of an office program", kFromArrays}},
});

bool endsWithName(std::string_view name, std::string_view end) noexcept {
  return name.ends_with(end) && (name.size() == end.size() || name[name.size() - end.size() - 1] == '/');
}

}  // namespace

bool isSafetensors(std::span<const std::byte> file) noexcept {
  uint64_t length = 0;
  if (file.size() <= sizeof(length)) return false;
  std::memcpy(&length, file.data(), sizeof(length));
  const std::string_view header = textOf(file).substr(sizeof(length));
  return length <= header.size() && trimmed(header.substr(0, length)).starts_with('{');
}

bool isShardIndex(std::span<const std::byte> file) noexcept { return isIndex(textOf(file)); }

bool isZip(std::span<const std::byte> file) noexcept {
  const std::string_view text = textOf(file);
  // The header of a member, or the end of an archive without members.
  return (text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06")) && !isSafetensors(file);
}

const ForeignKind* findForeignKind(std::span<const std::byte> file) noexcept {
  const std::string_view text = textOf(file);
  if (isSafetensors(file) || isZip(file) || text.starts_with("\x93NUMPY")) return nullptr;
  const auto* found = std::ranges::find_if(kSignatures, [text](const Signature& signature) {
    if (signature.holds != nullptr) return signature.holds(text);
    return text.size() >= signature.at && text.substr(signature.at).starts_with(signature.bytes);
  });
  return found == kSignatures.end() ? nullptr : &found->kind;
}

const ForeignKind* findForeignKind(const std::vector<std::string_view>& members) noexcept {
  for (const MemberSignature& signature : kMembers) {
    if (std::ranges::any_of(members, [&](std::string_view name) { return endsWithName(name, signature.end); }))
      return &signature.kind;
  }
  return nullptr;
}

void failForeign(const ForeignKind& kind, const std::string& path, std::string_view reader) {
  BOXCAR_FAIL("'{}' is {}, not a file that {} reads: {}", path, kind.what, reader, kind.remedy);
}

}  // namespace boxcar::io
