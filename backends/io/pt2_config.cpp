#include <boxcar/backends/io/json_header.h>
#include <boxcar/backends/io/pt2_config.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/exported_dtypes.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace boxcar::io {
namespace {

// How deep a size is: config, entry, tensor_meta, sizes, {"as_int": 3}, and the number in it.
constexpr size_t kDeepest = 6;

constexpr int64_t kStrided = 7;  // of torch.export's Layout

class Pt2ConfigReader final {
 public:
  explicit Pt2ConfigReader(const std::string& what) : what_(what) {}

  std::vector<Pt2Entry> read(std::string_view text) {
    const JsonHeader header = readJsonHeader(text, kDeepest);
    if (!header.problem.empty()) fail(fmt::format("it {}", header.problem));
    if (!header.root.isObject()) fail(fmt::format("it is {} instead of an object", boxcar::io::describe(header.root)));
    std::vector<Pt2Entry> entries;
    for (const JsonValue& entry : get(header.root, "config", Kind::Object).values) {
      entry_ = fmt::format("its entry {}", pythonStringRepr(entry.key));
      entries.push_back(readEntry(entry));
    }
    return entries;
  }

 private:
  using Kind = JsonValue::Kind;

  [[noreturn]] void fail(const std::string& fault) const {
    BOXCAR_FAIL("{} is not valid: {}; the archive may be damaged, so write it again by torch.export.save", what_,
                fault);
  }

  const JsonValue& get(const JsonValue& object, std::string_view field, Kind kind) const {
    const JsonValue* value = object.find(field);
    if (value == nullptr) fail(fmt::format("{} has no {}", entry_, field));
    if (value->kind != kind)
      fail(fmt::format("the {} of {} is {} instead of {}", field, entry_, shown(*value),
                       boxcar::io::describe(JsonValue(kind))));
    return *value;
  }

  // Returns the number of {"as_int": 3}.
  int64_t asInt(const JsonValue& value, std::string_view field) const {
    const JsonValue* number = value.find("as_int");
    if (number == nullptr || !number->count.has_value())
      fail(fmt::format("the {} of {} have {} instead of {{\"as_int\": …}} with a whole number from 0 to 2^63 - 1",
                       field, entry_, shown(value)));
    return *number->count;
  }

  std::vector<int64_t> integers(const JsonValue& meta, std::string_view field) const {
    std::vector<int64_t> numbers;
    for (const JsonValue& value : get(meta, field, Kind::Array).values) numbers.push_back(asInt(value, field));
    return numbers;
  }

  Pt2Entry readEntry(const JsonValue& value) const {
    if (!value.isObject()) fail(fmt::format("{} is {} instead of an object", entry_, boxcar::io::describe(value)));
    Pt2Entry entry;
    entry.name = value.key;
    entry.member = get(value, "path_name", Kind::String).text;
    // Objects of other classes are called custom_obj_0 and opaque_obj_0, and have no tensor_meta.
    BOXCAR_CHECK(
        get(value, "use_pickle", Kind::Boolean).text == "false" && !entry.member.starts_with("custom_obj_") &&
            !entry.member.starts_with("opaque_obj_"),
        "{} cannot be loaded: {} is a Python object in a pickle, {}, and io::load reads tensors only; export a "
        "model without it, or save its tensors by safetensors.torch.save_file",
        what_, entry_, pythonStringRepr(entry.member));
    const JsonValue& meta = get(value, "tensor_meta", Kind::Object);
    entry.dtype = readDtype(meta);
    const JsonValue& layout = get(meta, "layout", Kind::Number);
    BOXCAR_CHECK(layout.count == kStrided,
                 "{} cannot be loaded: {} is not strided (its layout is {}), and boxcar has no other tensors; call "
                 "to_dense() before the export",
                 what_, entry_, shown(layout));
    entry.sizes = integers(meta, "sizes");
    entry.strides = integers(meta, "strides");
    if (entry.sizes.size() != entry.strides.size())
      fail(fmt::format("{} has {} sizes and {} strides", entry_, entry.sizes.size(), entry.strides.size()));
    entry.offset = asInt(get(meta, "storage_offset", Kind::Object), "storage_offset");
    return entry;
  }

  ScalarType readDtype(const JsonValue& meta) const {
    const JsonValue& value = get(meta, "dtype", Kind::Number);
    const ExportedDtype* const found = findExportedDtype(value.count);
    if (found == nullptr) fail(fmt::format("the dtype of {} is {}, which torch.export has not", entry_, shown(value)));
    BOXCAR_CHECK(found->dtype != ScalarType::Undefined,
                 "{} cannot be loaded: {} has the dtype {}, which boxcar does not have; convert it before the export",
                 what_, entry_, found->name);
    return found->dtype;
  }

  const std::string& what_;
  std::string entry_ = "it";
};

}  // namespace

std::vector<Pt2Entry> parsePt2Config(std::string_view text, const std::string& what) {
  return Pt2ConfigReader(what).read(text);
}

}  // namespace boxcar::io
