#include <boxcar/interpreter/export/program_json.h>
#include <boxcar/interpreter/import/pt2/node_text.h>
#include <boxcar/ivalue/dict.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/exported_dtypes.h>
#include <boxcar/ivalue/layout.h>
#include <boxcar/ivalue/scalar_type.h>
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

namespace boxcar::interp::exported {
namespace {

constexpr int64_t kStridedLayout = 7;

[[noreturn]] void cannotHold(const std::string& what) { throw RuntimeError(what); }

Json one(const char* kind, Json content) {
  Json object = Json::object();
  object[kind] = std::move(content);
  return object;
}

Json numbers(std::span<const int64_t> values) {
  Json list = Json::array();
  for (const int64_t value : values) list.push_back(one("as_int", value));
  return list;
}

// JSON has no such numbers, so PyTorch writes words.
Json floatJson(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

int64_t dtypeNumberOf(ScalarType dtype) {
  const std::optional<int64_t> number = exportedNumberOf(dtype);
  if (!number.has_value()) cannotHold(fmt::format("the dtype {}", dtypeName(dtype)));
  return *number;
}

Json deviceJson(Device device) {
  Json json;
  json["type"] = fmt::format("{}", Device(device.type()));
  json["index"] = device.has_index() ? Json(device.index()) : Json(nullptr);
  return json;
}

TypePtr withoutOptional(TypePtr type) {
  while (type->isOptional()) type = type->element();
  return type;
}

// ---- Lists ----

using NameOf = std::function<std::string(const Tensor&)>;

bool isAbsent(const IValue& value) { return value.isNone() || (value.isTensor() && !value.toTensor().defined()); }

bool areAll(const IValue& list, bool (IValue::*is)() const noexcept) {
  for (size_t i = 0; i < list.length(); ++i) {
    if (!(list.elementAt(i).*is)()) return false;
  }
  return true;
}

Json listOf(const IValue& list, const std::function<Json(const IValue&)>& convert) {
  Json result = Json::array();
  for (size_t i = 0; i < list.length(); ++i) result.push_back(convert(list.elementAt(i)));
  return result;
}

Json tensorList(const IValue& list, const NameOf& nameOf) {
  bool has_none = false;
  for (size_t i = 0; i < list.length(); ++i) has_none = has_none || isAbsent(list.elementAt(i));
  const auto named = [&nameOf](const IValue& value) { return one("name", nameOf(value.toTensor())); };
  if (!has_none) return one("as_tensors", listOf(list, named));
  return one("as_optional_tensors", listOf(list, [&named](const IValue& value) {
               return isAbsent(value) ? one("as_none", true) : one("as_tensor", named(value));
             }));
}

const char* kindOfEmpty(TypePtr element) {
  switch (withoutOptional(element)->kind()) {
    case TypeKind::Tensor: return "as_tensors";
    case TypeKind::Float: return "as_floats";
    case TypeKind::Bool: return "as_bools";
    case TypeKind::String: return "as_strings";
    default: return "as_ints";
  }
}

Json listArgument(const IValue& list, TypePtr type, const NameOf& nameOf) {
  const TypePtr element = type->isList() ? type->element() : Type::any();
  if (list.length() == 0) return one(kindOfEmpty(element), Json::array());
  if (withoutOptional(element)->kind() == TypeKind::Tensor) return tensorList(list, nameOf);
  const auto intOf = [](const IValue& value) { return Json(value.toInt()); };
  const auto floatOf = [](const IValue& value) {
    return floatJson(value.isInt() ? static_cast<double>(value.toInt()) : value.toDouble());
  };
  if (areAll(list, &IValue::isBool)) {
    return one("as_bools", listOf(list, [](const IValue& value) { return Json(value.toBool()); }));
  }
  if (areAll(list, &IValue::isInt)) return one("as_ints", listOf(list, intOf));
  if (areAll(list, &IValue::isDouble)) return one("as_floats", listOf(list, floatOf));
  if (areAll(list, &IValue::isString)) {
    return one("as_strings", listOf(list, [](const IValue& value) { return Json(value.toStringRef()); }));
  }
  cannotHold(fmt::format("a list of values of several kinds, or of lists, {}", list));
}

// "pair_0", "named_k".
std::string nameWithin(const std::string& name, const std::string& key) { return name + "_" + key; }

}  // namespace

std::string textOf(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json tensorArgument(const std::string& name) { return one("as_tensor", one("name", name)); }

Json tensorMeta(const Tensor& tensor, std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset,
                bool requires_grad) {
  const std::optional<int64_t> dtype = exportedNumberOf(tensor.scalar_type());
  BOXCAR_CHECK(dtype.has_value(), "a tensor of {} cannot be exported: PyTorch's programs have no such tensors",
               dtypeName(tensor.scalar_type()));
  Json meta;
  meta["dtype"] = *dtype;
  meta["sizes"] = numbers(sizes);
  meta["requires_grad"] = requires_grad;
  meta["device"] = deviceJson(tensor.device());
  meta["strides"] = numbers(strides);
  meta["storage_offset"] = one("as_int", offset);
  meta["layout"] = kStridedLayout;
  return meta;
}

Json tensorMeta(const Tensor& tensor) {
  return tensorMeta(tensor, tensor.sizes(), tensor.strides(), tensor.storage_offset(), false);
}

Json constantArgument(const IValue& value) {
  switch (value.tag()) {
    case IValue::Tag::None: return one("as_none", true);
    case IValue::Tag::Bool: return one("as_bool", value.toBool());
    case IValue::Tag::Int: return one("as_int", value.toInt());
    case IValue::Tag::Double: return one("as_float", floatJson(value.toDouble()));
    case IValue::Tag::String: return one("as_string", value.toStringRef());
    default: cannotHold(fmt::format("a value of kind {}", value.tagKind()));
  }
}

Json operatorArgument(const IValue& value, TypePtr type, const NameOf& nameOf) {
  if (isAbsent(value)) return one("as_none", true);
  type = withoutOptional(type);
  if (value.isTensor()) return tensorArgument(nameOf(value.toTensor()));
  if (value.isDevice()) return one("as_device", deviceJson(value.toDevice()));
  if (value.isInt()) {
    switch (type->kind()) {
      case TypeKind::ScalarType: return one("as_scalar_type", dtypeNumberOf(value.toScalarType()));
      case TypeKind::Layout: return one("as_layout", kStridedLayout);  // the only one there is
      case TypeKind::MemoryFormat: {
        const auto format = static_cast<MemoryFormat>(value.toInt());
        return one("as_memory_format", pt2::numberOfMemoryFormat(memoryFormatName(format)).value_or(0));
      }
      case TypeKind::Float: return one("as_float", static_cast<double>(value.toInt()));
      default: break;
    }
  }
  if (value.isComplexDouble()) {
    Json parts;
    parts["real"] = floatJson(value.toComplexDouble().real());
    parts["imag"] = floatJson(value.toComplexDouble().imag());
    return one("as_complex", parts);
  }
  if (value.isList()) return listArgument(value, type, nameOf);
  return constantArgument(value);
}

// ---- Trees ----

Json treeOf(const char* type, const Json& context, Json children) {
  Json tree;
  tree["type"] = type == nullptr ? Json(nullptr) : Json(type);
  tree["context"] = type == nullptr ? Json(nullptr) : Json(textOf(context));
  tree["children_spec"] = std::move(children);
  return tree;
}

std::string treeText(const Json& tree) { return textOf(Json::array({1, tree})); }

Flattened flatten(const IValue& value, const std::string& name) {
  Flattened result;
  Json children = Json::array();
  const auto add = [&](const IValue& part, const std::string& key) {
    Flattened inner = flatten(part, nameWithin(name, key));
    children.push_back(std::move(inner.tree));
    for (size_t i = 0; i < inner.leaves.size(); ++i) {
      result.leaves.push_back(std::move(inner.leaves[i]));
      result.names.push_back(std::move(inner.names[i]));
    }
  };
  if (value.isGenericDict()) {
    const GenericDict dict = value.toGenericDict();
    Json keys = Json::array();
    for (size_t i = 0; i < dict.size(); ++i) {
      const auto [key, held] = dict.entryAt(i);
      if (!key.isString() && !key.isInt()) cannotHold(fmt::format("a dict with the key {}", key));
      keys.push_back(key.isString() ? Json(key.toStringRef()) : Json(key.toInt()));
      add(held, key.isString() ? key.toStringRef() : std::to_string(key.toInt()));
    }
    result.tree = treeOf("builtins.dict", keys, std::move(children));
  } else if (value.isList() || value.isTuple()) {
    for (size_t i = 0; i < value.length(); ++i) add(value.elementAt(i), std::to_string(i));
    result.tree = treeOf(value.isTuple() ? "builtins.tuple" : "builtins.list", nullptr, std::move(children));
  } else {
    result.tree = treeOf(nullptr, nullptr, Json::array());
    result.leaves.push_back(value);
    result.names.push_back(name);
  }
  return result;
}

}  // namespace boxcar::interp::exported
