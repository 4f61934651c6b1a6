#include <boxcar/backends/io/checkpoint.h>
#include <boxcar/backends/io/tensor_file.h>
#include <boxcar/backends/io/torch_names.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar::io {
namespace {

using namespace std::string_view_literals;

std::string_view startOf(std::span<const std::byte> file) noexcept {
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

// The storages of a checkpoint, by key. Each is made when it is first named, and shared from then on.
class StorageTable final {
 public:
  // Returns the bytes of a storage. A copy if it is not in the file or not aligned there.
  using Read = std::function<Storage(const StorageId& id, const PicklePlace& place)>;
  explicit StorageTable(Read read) : read_(std::move(read)) {}

  Storage find(const StorageId& id, const PicklePlace& place) {
    Entry& entry = entries_[id.key];
    if (!entry.storage) entry.storage = read_(id, place);
    const size_t bytes = entry.storage->nbytes();
    if (id.bytes > bytes)
      place.fail(fmt::format("the storage {} should have {} bytes, but {} are in the file", pythonStringRepr(id.key),
                             id.bytes, bytes));
    if (id.dtype == ScalarType::Bool && !std::exchange(entry.has_bools, true)) {
      const std::span<const std::byte> all(static_cast<const std::byte*>(entry.storage->data()), bytes);
      if (const auto at = findNoBool(all))
        place.fail(
            fmt::format("element {} of the storage {} of bools is neither 0 nor 1", *at, pythonStringRepr(id.key)));
    }
    return entry.storage;
  }

 private:
  struct Entry {
    Storage storage;
    bool has_bools = false;
  };
  const Read read_;
  std::unordered_map<std::string, Entry> entries_;
};

// Returns a storage of [bytes] of the file, without a copy if they are aligned for every dtype.
Storage alignedStorage(const IntrusivePtr<MappedFile>& file, std::span<const std::byte> bytes) {
  constexpr size_t kAlignment = 8;
  if (!bytes.empty() && reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment == 0) return storageInFile(file, bytes);
  Storage storage = StorageImpl::allocate(bytes.size(), Device(DeviceType::CPU));
  if (!bytes.empty()) std::memcpy(storage->data(), bytes.data(), bytes.size());
  return storage;
}

// ---- The format before PyTorch 1.6: pickles of a magic number, of a version, of sizes of types, of the value and of
// the storages' keys, then each storage: its number of elements and these.

constexpr std::string_view kCheckpointMagic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."sv;
constexpr std::string_view kMagicInText = "L119547037146038801333356L\n.";  // of protocols 0 and 1

// Returns where the magic number ends; 0 if there is none. Protocols from 4 on put a frame before it.
size_t endOfMagic(std::span<const std::byte> file) noexcept {
  const std::string_view text = startOf(file.first(std::min<size_t>(file.size(), 32)));
  if (text.starts_with(kMagicInText)) return kMagicInText.size();
  const size_t at = text.starts_with('\x80') ? text.find(kCheckpointMagic) : std::string_view::npos;
  return at == std::string_view::npos ? 0 : at + kCheckpointMagic.size();
}

class LegacyCheckpoint final {
 public:
  LegacyCheckpoint(const IntrusivePtr<MappedFile>& file, const std::string& path)
      : file_(file), what_(fmt::format("'{}'", path)), at_(endOfMagic(file->bytes())) {}

  IValue load() {
    checkStart();
    // The storages come behind the value, but their places are known only from what the value says about their dtypes.
    const size_t begin = at_;
    std::unordered_map<std::string, uint64_t> item_bytes;
    read([&](const StorageId& id, const PicklePlace& place) {
      const uint64_t bytes = std::max<size_t>(elementSize(id.dtype), 1);
      if (item_bytes.emplace(id.key, bytes).first->second != bytes)
        place.fail(fmt::format("the storage {} has two dtypes", pythonStringRepr(id.key)));
      return Storage();
    });
    std::unordered_map<std::string, std::span<const std::byte>> storages;
    for (const std::string& key : readKeys()) {
      const auto known = item_bytes.find(key);
      if (known == item_bytes.end())
        fail(fmt::format("no tensor says the dtype of the storage {}", pythonStringRepr(key)));
      storages.insert_or_assign(key, readStorage(known->second, key));
    }
    StorageTable table([&](const StorageId& id, const PicklePlace& place) {
      const auto found = storages.find(id.key);
      if (found == storages.end()) place.fail(fmt::format("the file has no storage {}", pythonStringRepr(id.key)));
      return alignedStorage(file_, found->second);
    });
    at_ = begin;
    return read([&](const StorageId& id, const PicklePlace& place) { return table.find(id, place); });
  }

 private:
  [[noreturn]] void fail(std::string_view problem) const { PicklePlace(what_, at_).fail(problem); }

  IValue read(StorageFinder storages) {
    TorchNames names(std::move(storages));
    const Unpickled read = unpickle(file_->bytes(), at_, what_, names);
    at_ = read.end;
    return read.value;
  }
  IValue readPlain() {
    return read([](const StorageId&, const PicklePlace& place) -> Storage {
      place.fail("a storage stands outside of the value");
    });
  }
  void checkStart() {
    constexpr int64_t kVersion = 1001;
    const size_t begin = at_;
    if (readPlain() != IValue(kVersion)) {
      at_ = begin;
      fail(fmt::format("the version of the format is not {}", kVersion));
    }
    const IValue system = readPlain();
    if (!system.isGenericDict() || system.toGenericDict().get("little_endian") != IValue(true)) {
      fail("it was saved by a big-endian machine, or does not say so: load it in Python and save it again");
    }
  }
  std::vector<std::string> readKeys() {
    const IValue list = readPlain();
    std::vector<std::string> keys;
    if (!list.isGenericList()) fail("a list of the storages' keys should come before this");
    for (const IValue& key : list.toList().span()) {
      if (!key.isString()) fail("a key of a storage is no str");
      keys.push_back(key.toStringRef());
    }
    return keys;
  }
  std::span<const std::byte> readStorage(uint64_t item_bytes, const std::string& key) {
    uint64_t numel = 0;
    const std::span<const std::byte> rest = std::span<const std::byte>(file_->bytes()).subspan(at_);
    uint64_t bytes = 0;
    if (rest.size() < sizeof(numel)) fail(fmt::format("the storage {} is missing", pythonStringRepr(key)));
    std::memcpy(&numel, rest.data(), sizeof(numel));
    if (__builtin_mul_overflow(numel, item_bytes, &bytes) || bytes > rest.size() - sizeof(numel))
      fail(fmt::format("the storage {} should have {} elements of {} bytes, but only {} bytes follow",
                       pythonStringRepr(key), numel, item_bytes, rest.size() - sizeof(numel)));
    at_ += sizeof(numel) + bytes;
    return rest.subspan(sizeof(numel), bytes);
  }

  const IntrusivePtr<MappedFile> file_;
  const std::string what_;
  size_t at_;
};

// ---- The format since PyTorch 1.6: a zip archive with the pickle `archive/data.pkl` and a member `archive/data/KEY`
// for each storage. The name of the folder is any.

constexpr std::string_view kPickleMember = "data.pkl";

// Returns the bytes of a member, in the file or in [copy].
std::span<const std::byte> memberBytes(const ZipArchive& archive, const ZipMember& member,
                                       std::vector<std::byte>& copy) {
  if (member.is_stored) return archive.stored(member);
  copy = archive.read(member);
  return copy;
}

void checkByteOrder(const ZipArchive& archive, const std::string& folder, const std::string& path) {
  const ZipMember* const member = archive.find(folder + "byteorder");
  if (member == nullptr) return;  // older versions do not say it
  std::vector<std::byte> copy;
  BOXCAR_CHECK(
      startOf(memberBytes(archive, *member, copy)) == "little",
      "'{}' cannot be loaded: its member {} does not say 'little', so it was saved by a big-endian machine: load "
      "it in Python and save it again",
      path, pythonStringRepr(member->name));
}

// Returns "'epoch' (int), 'model' (dict) and 3 more".
std::string entriesOf(const GenericDict& dict) {
  constexpr size_t kMost = 5, kLongest = 40;
  std::string text;
  for (size_t i = 0; i < std::min(dict.size(), kMost); ++i) {
    const auto [key, value] = dict.entryAt(i);
    const std::string name =
        key.isString() ? pythonStringRepr(key.toStringView().substr(0, kLongest)) : std::string(pickledKind(key));
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", name, pickledKind(value));
  }
  if (dict.size() > kMost) text += fmt::format(" and {} more", dict.size() - kMost);
  return text;
}

}  // namespace

bool isLegacyCheckpoint(std::span<const std::byte> file) noexcept { return endOfMagic(file) != 0; }

IValue loadLegacyCheckpoint(const IntrusivePtr<MappedFile>& file, const std::string& path) {
  return LegacyCheckpoint(file, path).load();
}

const ZipMember* findRootMember(const ZipArchive& archive, std::string_view name) noexcept {
  const auto found = std::ranges::find_if(archive.members(), [name](const ZipMember& member) {
    const std::string_view whole = member.name;
    return whole.ends_with(name) && whole.find('/') + name.size() + 1 == whole.size();
  });
  return found == archive.members().end() ? nullptr : &*found;
}

IValue readRootPickle(const IntrusivePtr<MappedFile>& file, const ZipArchive& archive, const ZipMember& pickle,
                      std::string_view storages, const std::string& path, const MakeTorchNames& makeNames) {
  const std::string folder = pickle.name.substr(0, pickle.name.find('/') + 1);
  checkByteOrder(archive, folder, path);
  StorageTable table([&](const StorageId& id, const PicklePlace& place) {
    const std::string name = fmt::format("{}{}/{}", folder, storages, id.key);
    const ZipMember* const member = archive.find(name);
    if (member == nullptr)
      place.fail(fmt::format("the archive has no member {}", pythonStringRepr(name.substr(0, 80))));
    if (member->is_stored) return alignedStorage(file, archive.stored(*member));
    const Storage storage = StorageImpl::allocate(member->size, Device(DeviceType::CPU));
    archive.read(*member, {static_cast<std::byte*>(storage->data()), storage->nbytes()});
    return storage;
  });
  const std::unique_ptr<TorchNames> names =
      makeNames([&](const StorageId& id, const PicklePlace& place) { return table.find(id, place); });
  std::vector<std::byte> copy;
  const std::string what = archive.describe(pickle);
  return unpickle(memberBytes(archive, pickle, copy), 0, what, *names).value;
}

bool isZipCheckpoint(const ZipArchive& archive) noexcept { return findRootMember(archive, kPickleMember) != nullptr; }

IValue loadZipCheckpoint(const IntrusivePtr<MappedFile>& file, const ZipArchive& archive, const std::string& path) {
  return readRootPickle(file, archive, *findRootMember(archive, kPickleMember), "data", path,
                        [](StorageFinder storages) { return std::make_unique<TorchNames>(std::move(storages)); });
}

Dict<std::string, Tensor> tensorsOfCheckpoint(const IValue& value, const std::string& path) {
  Dict<std::string, Tensor> tensors;
  if (!value.isGenericDict())
    BOXCAR_FAIL("'{}' holds no tensors by name, but a value of type {}: io::load_checkpoint returns it as it is", path,
                pickledKind(value));
  const GenericDict dict = value.toGenericDict();
  for (const auto& entry : dict) {
    const IValue name = entry.key();
    const IValue tensor = entry.value();
    if (!name.isString() || !tensor.isTensor())
      BOXCAR_FAIL("'{}' holds not only tensors by name, but a dict of {}: io::load_checkpoint returns it as it is",
                  path, entriesOf(dict));
    tensors.insert_or_assign(name.toStringRef(), tensor.toTensor());
  }
  return tensors;
}

}  // namespace boxcar::io
