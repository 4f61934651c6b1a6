#include <boxcar/backends/io/checkpoint.h>
#include <boxcar/backends/io/torch_names.h>
#include <boxcar/backends/io/torchscript.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar::io {
namespace {

constexpr std::string_view kConstantsMember = "constants.pkl";
constexpr std::string_view kDataMember = "data.pkl";

// The names of checkpoints, the classes of the archive, and the functions that give lists their types.
class TorchScriptNames final : public TorchNames {
 public:
  using TorchNames::TorchNames;

  IValue find(std::string_view name, const PicklePlace& place) override {
    if (name.starts_with("__torch__.")) {
      const auto make = [its = std::string(name)](std::span<const IValue> arguments, const PicklePlace&) {
        return IValue(makeIntrusive<PickledObject>(its, arguments));
      };
      return makeIntrusive<PickleFunction>(std::string(name), make);
    }
    constexpr std::string_view kModule = "torch.jit._pickle.";
    if (name.starts_with(kModule) &&
        (name.substr(kModule.size()).starts_with("build_") || name.ends_with(".restore_type_tag"))) {
      return makeIntrusive<PickleFunction>(std::string(name), first);
    }
    return TorchNames::find(name, place);
  }
  bool keepsObjects() const noexcept override { return true; }

 private:
  // The list, or the value whose type is restored.
  static IValue first(std::span<const IValue> arguments, const PicklePlace& place) {
    if (arguments.empty() || arguments[0].isInt()) place.fail("a list of an old TorchScript archive has no elements");
    return arguments[0];
  }
};

// Makes values of the language of what a pickle holds. Its nesting is bounded by unpickle().
class Objects final {
 public:
  IValue convert(const IValue& value) {
    if (value.isTuple()) {
      std::vector<IValue> elements;
      for (const IValue& each : value.unsafeGet<IValue::Tag::Tuple>()->elements()) elements.push_back(convert(each));
      return Tuple(std::move(elements));
    }
    const void* const address = value.isObject() || value.isGenericDict() || value.isList() ? value.object() : nullptr;
    if (address == nullptr) return value;
    if (const auto found = done_.find(address); found != done_.end()) return found->second;
    IValue result = converted(value);
    done_.emplace(address, result);
    return result;
  }

 private:
  IValue converted(const IValue& value) {
    if (value.isList()) {
      List<IValue> list;
      for (size_t i = 0; i < value.length(); ++i) list.push_back(convert(value.elementAt(i)));
      return list;
    }
    Dict<IValue, IValue> dict;
    if (value.isGenericDict()) {
      for (const auto& entry : value.toGenericDict()) dict.insert_or_assign(entry.key(), convert(entry.value()));
      return dict;
    }
    const auto* const object = dynamic_cast<const PickledObject*>(value.object());
    if (object == nullptr) return value;
    dict.insert_or_assign("__class__", object->className());
    dict.insert_or_assign("state", convert(object->state()));
    if (!object->arguments().empty()) {
      List<IValue> arguments;
      for (const IValue& each : object->arguments()) arguments.push_back(convert(each));
      dict.insert_or_assign("arguments", arguments);
    }
    return dict;
  }

  std::unordered_map<const void*, IValue> done_;
};

// Collects tensors by their places.
class Tensors final {
 public:
  explicit Tensors(Dict<std::string, Tensor>& out) : out_(out) {}

  void collect(const IValue& value, const std::string& path) {
    if (value.isTensor()) {
      out_.insert_or_assign(path, value.toTensor());
      return;
    }
    const std::string start = path.empty() ? "" : path + ".";
    if (value.isTuple() || value.isList()) {
      for (size_t i = 0; i < value.length(); ++i) collect(value.elementAt(i), fmt::format("{}{}", start, i));
    }
    if (!value.isGenericDict()) return;
    const GenericDict dict = value.toGenericDict();
    const IValue state = dict.contains("__class__") ? dict.get("state").value_or(IValue()) : IValue();
    if (!state.isNone()) return collect(state, path);
    for (const auto& entry : dict) {
      const IValue key = entry.key();
      collect(entry.value(), start + (key.isString() ? key.toStringRef() : repr(key)));
    }
  }

 private:
  Dict<std::string, Tensor>& out_;
};

}  // namespace

bool isTorchScript(const ZipArchive& archive) noexcept {
  return findRootMember(archive, kDataMember) != nullptr && findRootMember(archive, kConstantsMember) != nullptr;
}

Dict<std::string, IValue> loadTorchScript(const IntrusivePtr<MappedFile>& file, const ZipArchive& archive,
                                          const std::string& path) {
  BOXCAR_CHECK(isTorchScript(archive),
               "'{}' is no program of torch.jit.save's, which has a data.pkl and a constants.pkl", path);
  Dict<std::string, IValue> result;
  const auto read = [&](std::string_view member, std::string_view storages) {
    const IValue pickled =
        readRootPickle(file, archive, *findRootMember(archive, member), storages, path,
                       [](StorageFinder finder) { return std::make_unique<TorchScriptNames>(std::move(finder)); });
    return Objects().convert(pickled);
  };
  result.insert_or_assign("data", read(kDataMember, "data"));
  List<IValue> constants;
  const IValue pickled = read(kConstantsMember, "constants");
  if (pickled.isTuple() || pickled.isList()) {
    for (size_t i = 0; i < pickled.length(); ++i) constants.push_back(pickled.elementAt(i));
  }
  result.insert_or_assign("constants", constants);
  return result;
}

Dict<std::string, Tensor> tensorsOfTorchScript(const Dict<std::string, IValue>& archive) {
  Dict<std::string, Tensor> tensors;
  Tensors(tensors).collect(archive.at("data"), "");
  Tensors(tensors).collect(archive.at("constants"), "constants");
  return tensors;
}

}  // namespace boxcar::io
