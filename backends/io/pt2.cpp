#include <boxcar/backends/io/pt2.h>
#include <boxcar/backends/io/pt2_config.h>
#include <boxcar/backends/io/tensor_file.h>
#include <boxcar/backends/io/zip_storage.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

namespace boxcar::io {
namespace {

static_assert(std::endian::native == std::endian::little, "raw storages are little-endian, and used as they are");

// A folder of the archive, and the end of the name of the JSON that describes what is in it.
struct Payload {
  std::string_view folder;
  std::string_view config;
};
constexpr Payload kPayloads[] = {{"data/weights/", "_weights_config.json"},
                                 {"data/constants/", "_constants_config.json"}};

// More than any model needs, and little enough to be read at once.
constexpr uint64_t kLongestConfig = 100'000'000;

std::string contentOf(const ZipArchive& archive, const ZipMember& member) {
  const std::vector<std::byte> bytes = archive.read(member);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Loads the entries of a folder of the archive.
class PayloadLoader final {
 public:
  PayloadLoader(const IntrusivePtr<MappedFile>& file, const ZipArchive& archive, std::string folder, std::string what)
      : file_(file), archive_(archive), folder_(std::move(folder)), what_(std::move(what)) {}

  Tensor load(const Pt2Entry& entry) {
    const std::string shown = pythonStringRepr(entry.name);
    const ZipMember* const member = archive_.find(folder_ + entry.member);
    BOXCAR_CHECK(member != nullptr,
                 "{} is not valid: its entry {} names {}, which the archive does not have; write it again by "
                 "torch.export.save",
                 what_, shown, pythonStringRepr(folder_ + entry.member));
    checkBounds(entry, *member);
    const Storage& storage = storageOf(*member);
    if (entry.dtype == ScalarType::Bool) checkBools(entry, *storage);
    return Tensor(makeIntrusive<TensorImpl>(storage, entry.dtype, entry.sizes, entry.strides, entry.offset));
  }

 private:
  const Storage& storageOf(const ZipMember& member) {
    constexpr size_t kMostAligned = alignof(double);
    const auto found = storages_.find(&member);
    if (found != storages_.end()) return found->second;
    return storages_.emplace(&member, storageOfMember(file_, archive_, member, kMostAligned)).first->second;
  }

  // Returns the number of elements in front of the end of what [entry] reaches; nullopt if 63 bits cannot count its
  // bytes, or those of its elements.
  static std::optional<int64_t> endOf(const Pt2Entry& entry) {
    int64_t end = entry.offset;
    int64_t step = 0;
    if (!bytesOfElements(entry.dtype, entry.sizes).has_value()) return std::nullopt;
    if (std::ranges::find(entry.sizes, 0) != entry.sizes.end()) return end;
    for (size_t i = 0; i < entry.sizes.size(); ++i) {
      if (__builtin_mul_overflow(entry.sizes[i] - 1, entry.strides[i], &step) ||
          __builtin_add_overflow(end, step, &end))
        return std::nullopt;
    }
    if (__builtin_add_overflow(end, int64_t{1}, &end)) return std::nullopt;
    return end;
  }

  void checkBounds(const Pt2Entry& entry, const ZipMember& member) const {
    const std::optional<int64_t> end = endOf(entry);
    const uint64_t room = member.size / elementSize(entry.dtype);
    if (end.has_value() && static_cast<uint64_t>(*end) <= room) return;
    const std::string shape =
        fmt::format("sizes [{}], strides [{}] and storage_offset {}", fmt::join(std::span(entry.sizes), ", "),
                    fmt::join(std::span(entry.strides), ", "), entry.offset);
    BOXCAR_FAIL("{} is not valid: its entry {} of dtype {}, {}, leaves its storage {}, which has {} bytes; {}", what_,
                pythonStringRepr(entry.name), dtypeName(entry.dtype), shape, pythonStringRepr(member.name), member.size,
                member.size == 0 ? "it may be a fake tensor, without content: give the model real tensors before the "
                                   "export"
                                 : "write the archive again by torch.export.save");
  }

  // All bytes that a bool tensor spans must be 0 or 1, also those between its elements.
  void checkBools(const Pt2Entry& entry, const StorageImpl& storage) const {
    const auto begin = static_cast<size_t>(entry.offset);
    const auto end = static_cast<size_t>(*endOf(entry));
    if (begin == end) return;
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(storage.data()) + begin, end - begin);
    const std::optional<size_t> fault = findNoBool(bytes);
    BOXCAR_CHECK(!fault.has_value(),
                 "{} is not valid: byte {} of {}, where its entry {} has bools, is {}, neither 0 nor 1; write the "
                 "archive again by torch.export.save",
                 what_, begin + *fault, pythonStringRepr(folder_ + entry.member), pythonStringRepr(entry.name),
                 static_cast<int>(bytes[*fault]));
  }

  const IntrusivePtr<MappedFile>& file_;
  const ZipArchive& archive_;
  const std::string folder_;
  const std::string what_;  // the JSON
  std::map<const ZipMember*, Storage> storages_;
};

// Loads the tensors of [model].
Dict<std::string, Tensor> loadModel(const IntrusivePtr<MappedFile>& file, const ZipArchive& archive,
                                    std::string_view folder, std::string_view model, const std::string& path) {
  Dict<std::string, Tensor> tensors;
  for (const Payload& payload : kPayloads) {
    const std::string place = fmt::format("{}{}", folder, payload.folder);
    const std::string name = fmt::format("{}{}{}", place, model, payload.config);
    const ZipMember* const config = archive.find(name);
    BOXCAR_CHECK(
        config != nullptr,
        "'{}' cannot be loaded: it has no {}; versions of PyTorch before 2.9 kept tensors in pickles, so load it "
        "in Python by torch.export.load, and save it again with a newer PyTorch",
        path, pythonStringRepr(name));
    const std::string what = archive.describe(*config);
    BOXCAR_CHECK(config->size <= kLongestConfig, "{} cannot be loaded: it has {} bytes, and at most {} are read", what,
                 config->size, kLongestConfig);
    PayloadLoader loader(file, archive, place, what);
    for (const Pt2Entry& entry : parsePt2Config(contentOf(archive, *config), what)) {
      BOXCAR_CHECK(!tensors.contains(entry.name),
                   "{} is not valid: its entry {} is also one of the model's weights; write the archive again by "
                   "torch.export.save",
                   what, pythonStringRepr(entry.name));
      tensors.insert_or_assign(entry.name, loader.load(entry));
    }
  }
  return tensors;
}

}  // namespace

std::optional<std::string> findPt2Folder(const ZipArchive& archive) {
  constexpr std::string_view kName = "archive_format";
  constexpr uint64_t kLongest = 16;
  for (const ZipMember& member : archive.members()) {
    if (!member.name.ends_with(kName) || member.size > kLongest) continue;
    std::string folder = member.name.substr(0, member.name.size() - kName.size());
    if (!folder.empty() && folder.find('/') != folder.size() - 1) continue;
    const std::string format = contentOf(archive, member);
    if (format == "pt2" || format == "pt2\n") return folder;
  }
  return std::nullopt;
}

std::vector<std::string> pt2Models(const ZipArchive& archive, std::string_view folder) {
  constexpr Payload kPrograms{"models/", ".json"};
  std::vector<std::string> models;
  const auto add = [&](const Payload& payload) {
    const std::string begin = fmt::format("{}{}", folder, payload.folder);
    for (const ZipMember& member : archive.members()) {
      std::string_view name = member.name;
      if (!name.starts_with(begin) || !name.ends_with(payload.config) ||
          name.size() <= begin.size() + payload.config.size())
        continue;
      name = name.substr(begin.size(), name.size() - begin.size() - payload.config.size());
      if (std::ranges::find(models, name) == models.end()) models.emplace_back(name);
    }
  };
  add(kPrograms);
  for (const Payload& payload : kPayloads) add(payload);
  return models;
}

Dict<std::string, Tensor> loadPt2(const IntrusivePtr<MappedFile>& file, const ZipArchive& archive,
                                  std::string_view folder, const std::string& path, std::string_view wanted) {
  const std::vector<std::string> models = pt2Models(archive, folder);
  BOXCAR_CHECK(!models.empty(),
               "'{}' cannot be loaded: it has no model of torch.export's, only what was compiled for one machine; save "
               "the program by torch.export.save",
               path);
  std::string names;
  for (const std::string& model : models) names += (names.empty() ? "" : ", ") + pythonStringRepr(model);
  if (wanted.empty()) {
    BOXCAR_CHECK(models.size() == 1, "'{}' cannot be loaded: it has {} models, {}; name one, as in '{}:{}'", path,
                 models.size(), names, path, models[0]);
    return loadModel(file, archive, folder, models[0], path);
  }
  BOXCAR_CHECK(std::ranges::find(models, wanted) != models.end(), "'{}' has no model {}; it has {}", path,
               pythonStringRepr(wanted), names);
  return loadModel(file, archive, folder, wanted, path);
}

}  // namespace boxcar::io
