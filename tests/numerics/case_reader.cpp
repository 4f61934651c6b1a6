#include "tests/numerics/case_reader.h"

#include <boxcar/backends/io/safetensors.h>
#include <boxcar/ivalue/dict.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

namespace boxcar::numerics {
namespace {

using nlohmann::json;
using Sizes = std::vector<int64_t>;

// kVersion in generator/gradients.py.
constexpr const char* kGradientsVersion = "1";

ScalarType dtypeOf(std::string_view name) {
  const auto dtype = parseDtype(name);
  BOXCAR_CHECK(dtype.has_value(), "'{}' is no dtype", name);
  return *dtype;
}

double floatOf(const json& value) {
  if (!value.is_object()) return value.get<double>();
  const auto& text = value.at("f").get_ref<const std::string&>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return text == "inf" ? HUGE_VAL : -HUGE_VAL;
}

bool isFloat(const json& value) { return value.is_number_float() || (value.is_object() && value.contains("f")); }

IValue numberOf(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (isFloat(value)) return floatOf(value);
  const json& parts = value.at("c");
  return std::complex<double>(floatOf(parts[0]), floatOf(parts[1]));
}

// Makes list elements one by one with [make].
template <class T>
IValue listOf(const json& value, const auto& make) {
  const List<T> list;
  if (!value.is_array()) {
    list.push_back(make(value));
  } else {
    for (const json& element : value) list.push_back(make(element));
  }
  return list;
}

}  // namespace

std::string Case::op() const { return json_->at("op").get<std::string>(); }
std::string Case::dtype() const { return json_->at("dtype").get<std::string>(); }
bool Case::isError() const { return json_->contains("err"); }
std::string Case::error() const { return json_->at("err").get<std::string>(); }
bool Case::comparesStrides() const { return json_->value("strides", true); }
bool Case::comparesValues() const { return json_->value("values", true); }
bool Case::comparesMagnitudes() const { return json_->value("mag", false); }
const json& Case::results() const { return json_->at("res"); }

std::optional<std::pair<double, double>> Case::tolerance() const {
  if (!json_->contains("tol")) return std::nullopt;
  const json& pair = json_->at("tol");
  return std::pair(pair[0].get<double>(), pair[1].get<double>());
}

Tensor Case::elementsAt(std::string_view dtype, int64_t first, const Sizes& sizes) const {
  const Tensor made = Tensor::allocate(sizes, dtypeOf(dtype));
  if (made.numel() == 0) return made;
  const auto found = elements_->find(std::string(dtype));
  BOXCAR_CHECK(found != elements_->end(), "the file has no elements of {}", dtype);
  const Tensor& row = found->second;
  const size_t begin = static_cast<size_t>(first) * made.itemsize();
  BOXCAR_CHECK(first >= 0 && begin + made.nbytes() <= row.nbytes(), "the file has too few elements of {}", dtype);
  std::memcpy(made.data_ptr(), static_cast<const std::byte*>(row.data_ptr()) + begin, made.nbytes());
  return made;
}

IValue Case::constant(const json& value, TypePtr type) {
  if (type->isOptional()) return value.is_null() ? IValue() : constant(value, type->element());
  switch (type->kind()) {
    case TypeKind::Float: return floatOf(value);
    case TypeKind::Complex: {
      if (!value.is_object() || !value.contains("c")) return std::complex<double>(floatOf(value));
      return numberOf(value);
    }
    case TypeKind::List: {
      const TypePtr element = type->element();
      switch (element->kind()) {
        case TypeKind::Int:
        case TypeKind::SymInt: return listOf<int64_t>(value, [](const json& v) { return v.get<int64_t>(); });
        case TypeKind::Float: return listOf<double>(value, floatOf);
        case TypeKind::Bool: return listOf<bool>(value, [](const json& v) { return v.get<bool>(); });
        case TypeKind::Complex:
          return listOf<std::complex<double>>(value,
                                              [&](const json& v) { return constant(v, element).toComplexDouble(); });
        default: return listOf<IValue>(value, [&](const json& v) { return constant(v, element); });
      }
    }
    default: break;
  }
  if (value.is_null()) return IValue();
  if (value.is_string()) {
    if (type->kind() == TypeKind::Device) return Device(value.get<std::string>());
    return value.get<std::string>();
  }
  if (value.is_object()) {
    if (value.contains("dtype")) return dtypeOf(value.at("dtype").get<std::string>());
    if (value.contains("device")) return Device(value.at("device").get<std::string>());
    if (value.contains("layout")) return parseLayout(value.at("layout").get<std::string>()).value();
    if (value.contains("format")) return parseMemoryFormat(value.at("format").get<std::string>()).value();
  }
  return numberOf(value);
}

IValue Case::value(const json& value, TypePtr type, const CaseArguments& arguments) const {
  if (value.is_object() && value.contains("t")) return arguments.tensors.at(value.at("t").get<size_t>());
  const TypePtr inner = type->isOptional() ? type->element() : type;
  if (inner->isList() && value.is_array()) {
    const TypePtr element = inner->element();
    const auto make = [&](const json& v) { return this->value(v, element, arguments); };
    if (element->kind() == TypeKind::Tensor) {
      return listOf<Tensor>(value, [&](const json& v) { return make(v).toTensor(); });
    }
    if (element->isOptional()) return listOf<IValue>(value, make);
  }
  return constant(value, type);
}

CaseArguments Case::makeArguments(const FunctionSchema& schema) const {
  CaseArguments made;
  for (const json& storage : json_->at("st")) {
    const auto dtype = storage[0].get<std::string>();
    const Sizes count{storage[2].get<int64_t>()};
    made.storages.push_back(elementsAt(dtype, storage[1].get<int64_t>(), count));
    made.initial.push_back(elementsAt(dtype, storage[1].get<int64_t>(), count));
  }
  for (const json& tensor : json_->at("te")) {
    made.tensors.push_back(made.storages.at(tensor[0].get<size_t>())
                               .view(tensor[1].get<Sizes>(), tensor[2].get<Sizes>(), tensor[3].get<int64_t>()));
    made.sizes.push_back(tensor[1].get<Sizes>());
  }
  const json& given = json_->at("args");
  size_t used = 0;
  for (const Argument& argument : schema.arguments()) {
    const auto found = given.find(argument.name());
    if (found != given.end()) {
      made.values.push_back(value(*found, argument.type(), made));
      ++used;
    } else {
      BOXCAR_CHECK(argument.default_value().has_value() || argument.type()->isOptional(), "no value for argument '{}'",
                   argument.name());
      made.values.push_back(argument.default_value().value_or(IValue()));
    }
  }
  BOXCAR_CHECK(used == given.size(), "the case has arguments that {} does not have", toString(schema));
  return made;
}

ExpectedTensor Case::expectedTensor(const json& x) const {
  ExpectedTensor expected{elementsAt(x[0].get<std::string>(), x[3].get<int64_t>(), x[1].get<Sizes>()), std::nullopt,
                          x[4].get<int64_t>()};
  if (!x[2].is_null()) expected.strides = x[2].get<Sizes>();
  return expected;
}

std::optional<ExpectedTensor> Case::after(size_t index) const {
  const auto after = json_->find("after");
  if (after == json_->end()) return std::nullopt;
  const auto found = after->find(std::to_string(index));
  if (found == after->end()) return std::nullopt;
  return expectedTensor(*found);
}

const json* Case::gradients() const {
  const auto found = json_->find("grad");
  return found == json_->end() ? nullptr : &*found;
}

std::optional<Tensor> Case::gradient(size_t index) const {
  const json& place = gradients()->at("in").at(std::to_string(index));
  if (place.is_null()) return std::nullopt;
  const json& tensor = json_->at("te").at(index);
  const auto dtype = json_->at("st").at(tensor[0].get<size_t>())[0].get<std::string>();
  return elementsAt(dtype, place.get<int64_t>(), tensor[1].get<Sizes>());
}

CaseFile::CaseFile(const std::string& path) : family_(std::filesystem::path(path).stem().string()) {
  const std::string absolute = std::filesystem::absolute(path).string();
  const Dict<std::string, Tensor> tensors = io::load(absolute);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto [name, tensor] = tensors.entryAt(i);
    elements_.emplace(name, tensor);
  }
  try {
    const auto metadata = io::loadSafetensorsMetadata(absolute);
    json_ = std::make_unique<json>(json::parse(metadata.at("cases")));
    // Older files have no gradients.
    const std::string version = metadata.contains("gradients") ? metadata.at("gradients") : kGradientsVersion;
    BOXCAR_CHECK(version == kGradientsVersion,
                 "'{}' has gradients of version {}, but this program reads version {}; make the file again", path,
                 version, kGradientsVersion);
  } catch (const json::exception& error) {
    BOXCAR_FAIL("'{}' is no file of cases: {}", path, error.what());
  }
  for (size_t i = 0; i < json_->size(); ++i) cases_.emplace_back(&(*json_)[i], &elements_, family_, i);
}

CaseFile::~CaseFile() = default;

std::vector<std::unique_ptr<CaseFile>> readCaseFiles(const std::string& folder,
                                                     const std::vector<std::string>& families) {
  std::vector<std::string> paths;
  if (std::filesystem::is_directory(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const bool is_wanted =
          families.empty() || std::ranges::find(families, entry.path().stem().string()) != families.end();
      if (is_wanted && entry.path().extension() == ".safetensors") paths.push_back(entry.path().string());
    }
  }
  std::ranges::sort(paths);
  std::vector<std::unique_ptr<CaseFile>> files;
  for (const std::string& path : paths) files.push_back(std::make_unique<CaseFile>(path));
  return files;
}

}  // namespace boxcar::numerics
