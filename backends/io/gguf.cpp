#include <boxcar/backends/io/gguf.h>
#include <boxcar/backends/io/tensor_file.h>
#include <boxcar/ivalue/dims.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace boxcar::io {
namespace {

constexpr std::string_view kGguf = "GGUF";

// The types of values in the metadata.
enum class GgufKind : uint32_t { UInt32 = 4, String = 8, Array = 9, Count = 13 };
// The bytes of a value of each type; 0 for strings and arrays.
constexpr std::array<uint8_t, static_cast<size_t>(GgufKind::Count)> kGgufKindBytes = {1, 1, 2, 2, 4, 4, 4,
                                                                                      1, 0, 0, 8, 8, 8};

struct GgufType {
  uint32_t number;
  std::string_view name;
  ScalarType dtype = ScalarType::Undefined;  // of types that are not quantised
};
constexpr auto kGgufTypes = std::to_array<GgufType>({
    {0, "F32", ScalarType::Float},
    {1, "F16", ScalarType::Half},
    {24, "I8", ScalarType::Char},
    {25, "I16", ScalarType::Short},
    {26, "I32", ScalarType::Int},
    {27, "I64", ScalarType::Long},
    {28, "F64", ScalarType::Double},
    {30, "BF16", ScalarType::BFloat16},
    {2, "Q4_0"},
    {3, "Q4_1"},
    {6, "Q5_0"},
    {7, "Q5_1"},
    {8, "Q8_0"},
    {9, "Q8_1"},
    {10, "Q2_K"},
    {11, "Q3_K"},
    {12, "Q4_K"},
    {13, "Q5_K"},
    {14, "Q6_K"},
    {15, "Q8_K"},
    {16, "IQ2_XXS"},
    {17, "IQ2_XS"},
    {18, "IQ3_XXS"},
    {19, "IQ1_S"},
    {20, "IQ4_NL"},
    {21, "IQ3_S"},
    {22, "IQ2_S"},
    {23, "IQ4_XS"},
    {29, "IQ1_M"},
    {34, "TQ1_0"},
    {35, "TQ2_0"},
    {39, "MXFP4"},
});

struct GgufEntry {
  std::string_view name;
  ScalarType dtype;
  std::vector<int64_t> sizes;
  uint64_t offset;
};

// Reads the start of the file: metadata, of which only the alignment counts, and the descriptions of tensors.
class GgufReader final {
 public:
  GgufReader(std::span<const std::byte> file, const std::string& path)
      : file_(reinterpret_cast<const char*>(file.data()), file.size()), path_(path), at_(kGguf.size()) {}

  std::vector<GgufEntry> read() {
    const auto version = number<uint32_t>();
    if (version != 0 && version % 0x10000 == 0) fail(4, "it is big-endian: write it again for little-endian machines");
    if (version != 2 && version != 3) fail(4, fmt::format("its version is {}, and 2 and 3 are read", version));
    const auto tensors = number<uint64_t>();
    const auto metadata = number<uint64_t>();
    for (uint64_t i = 0; i < metadata; ++i) readMetadata();
    std::vector<GgufEntry> entries;
    for (uint64_t i = 0; i < tensors; ++i) entries.push_back(entry());
    return entries;
  }
  // Where the elements of tensors begin.
  uint64_t dataBegin() const noexcept { return (at_ + alignment_ - 1) / alignment_ * alignment_; }

 private:
  [[noreturn]] void fail(uint64_t at, std::string_view problem) const {
    BOXCAR_FAIL("'{}' is not a GGUF file that can be loaded: at byte {}, {}", path_, at, problem);
  }
  std::string_view take(uint64_t count) {
    if (count > file_.size() - at_)
      fail(at_, fmt::format("{} more bytes should follow, and {} do", count, file_.size() - at_));
    at_ += count;
    return file_.substr(at_ - count, count);
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view text() { return take(number<uint64_t>()); }

  uint32_t kind() {
    const auto value = number<uint32_t>();
    if (value >= kGgufKindBytes.size()) fail(at_ - sizeof(value), fmt::format("{} is no type of a value", value));
    return value;
  }
  void readMetadata() {
    const std::string_view key = text();
    const uint64_t at = at_;
    const uint32_t type = kind();
    if (key != "general.alignment") return skip(type, 0);
    if (static_cast<GgufKind>(type) != GgufKind::UInt32) fail(at, "'general.alignment' is not a number of 32 bits");
    alignment_ = number<uint32_t>();
    if (alignment_ == 0 || alignment_ % 8 != 0)
      fail(at, fmt::format("'general.alignment' is {}, no multiple of 8", alignment_));
  }
  void skip(uint32_t type, int depth) {
    constexpr int kDeepest = 8;
    if (static_cast<GgufKind>(type) == GgufKind::String) {
      text();
    } else if (static_cast<GgufKind>(type) == GgufKind::Array) {
      if (depth == kDeepest) fail(at_, fmt::format("arrays are nested more than {} deep", kDeepest));
      const uint32_t element = kind();
      const auto count = number<uint64_t>();
      if (const uint64_t bytes = kGgufKindBytes[element]) {
        if (count > file_.size()) fail(at_, fmt::format("an array should have {} elements", count));
        take(count * bytes);
      } else {
        for (uint64_t i = 0; i < count; ++i) skip(element, depth + 1);
      }
    } else {
      take(kGgufKindBytes[type]);
    }
  }

  GgufEntry entry() {
    constexpr uint32_t kMostDims = 64;
    const std::string_view name = text();
    const uint64_t at = at_;
    const auto rank = number<uint32_t>();
    if (rank > kMostDims) fail(at, fmt::format("the tensor {} has {} dimensions", shownName(name), rank));
    GgufEntry entry{.name = name, .dtype = ScalarType::Undefined, .sizes = {}, .offset = 0};
    for (uint32_t i = 0; i < rank; ++i) {
      entry.sizes.push_back(static_cast<int64_t>(number<uint64_t>()));
      if (entry.sizes.back() < 0) fail(at, fmt::format("the tensor {} has too large a size", shownName(name)));
    }
    std::ranges::reverse(entry.sizes);
    entry.dtype = dtypeOf(number<uint32_t>(), name);
    entry.offset = number<uint64_t>();
    return entry;
  }
  ScalarType dtypeOf(uint32_t type, std::string_view name) const {
    const auto* const known = std::ranges::find(kGgufTypes, type, &GgufType::number);
    if (known != kGgufTypes.end() && known->dtype != ScalarType::Undefined) return known->dtype;
    fail(at_ - sizeof(type),
         fmt::format("the tensor {} has the type {}, and quantised tensors are not read: take a file with F16, BF16 or "
                     "F32, or the "
                     "model's safetensors files",
                     shownName(name),
                     known != kGgufTypes.end() ? std::string(known->name) : fmt::format("{}, which is unknown", type)));
  }
  static std::string shownName(std::string_view name) { return pythonStringRepr(name.substr(0, 80)); }

  const std::string_view file_;
  const std::string& path_;
  uint64_t at_;
  uint64_t alignment_ = 32;
};

}  // namespace

bool isGguf(std::span<const std::byte> file) noexcept {
  return std::string_view(reinterpret_cast<const char*>(file.data()), file.size()).starts_with(kGguf);
}

Dict<std::string, Tensor> loadGguf(const IntrusivePtr<MappedFile>& file, const std::string& path) {
  const std::span<const std::byte> bytes = file->bytes();
  BOXCAR_CHECK(isGguf(bytes), "'{}' is not a GGUF file: it does not begin with 'GGUF'", path);
  GgufReader reader(bytes, path);
  const std::vector<GgufEntry> entries = reader.read();
  Dict<std::string, Tensor> tensors;
  for (const GgufEntry& entry : entries) {
    const std::optional<uint64_t> size = bytesOfElements(entry.dtype, entry.sizes);
    const uint64_t begin = reader.dataBegin();
    const uint64_t available = begin <= bytes.size() ? bytes.size() - begin : 0;
    BOXCAR_CHECK(size && entry.offset <= available && *size <= available - entry.offset,
                 "'{}' is not a valid GGUF file: the tensor {} of {} and sizes [{}] begins at byte {} of the data, "
                 "which has {} bytes",
                 path, pythonStringRepr(entry.name.substr(0, 80)), dtypeName(entry.dtype), fmt::join(entry.sizes, ", "),
                 entry.offset, available);
    BOXCAR_CHECK(!tensors.contains(std::string(entry.name)), "'{}' is not a valid GGUF file: it has two tensors {}",
                 path, pythonStringRepr(entry.name.substr(0, 80)));
    std::vector<int64_t> strides(entry.sizes.size());
    contiguousStrides(entry.sizes, strides);
    tensors.insert_or_assign(
        std::string(entry.name),
        tensorInFile(file, *size == 0 ? std::span<const std::byte>() : bytes.subspan(begin + entry.offset, *size),
                     entry.dtype, entry.sizes, strides));
  }
  return tensors;
}

}  // namespace boxcar::io
