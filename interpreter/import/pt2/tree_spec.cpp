#include <boxcar/interpreter/import/pt2/json.h>
#include <boxcar/interpreter/import/pt2/tree_spec.h>
#include <boxcar/ivalue/error.h>

#include <utility>

namespace boxcar::interp::pt2 {
namespace {

constexpr int kMostTreeDepth = 64;

// The keys in a context, which is JSON within a string, or an object that holds them; nothing if it has no keys. Of a
// dataclass, it has the names of the fields, and then of those that are None.
std::optional<std::vector<std::string>> keysIn(const json::value& context, const std::string& what) {
  json::value parsed = context;
  if (context.is_string()) {
    const std::string& text = context.get_string();
    // Other types write what they like.
    if (!text.starts_with('[') && !text.starts_with('{')) return std::nullopt;
    parsed = json::parse(text, what);
  }
  if (const json::object* object = parsed.if_object()) {
    const json::value* const inner = object->if_contains("dict_context");
    if (inner == nullptr) return std::nullopt;
    parsed = *inner;
  }
  const json::array* keys = parsed.if_array();
  if (keys == nullptr) return std::nullopt;
  if (keys->size() == 2 && (*keys)[0].is_array() && (*keys)[1].is_array()) keys = (*keys)[0].if_array();
  std::vector<std::string> names;
  for (const json::value& key : *keys) {
    if (key.is_string()) {
      names.emplace_back(key.get_string());
    } else if (key.is_int64()) {
      names.push_back(std::to_string(key.get_int64()));
    } else {
      return std::nullopt;
    }
  }
  return names;
}

TreeSpec readTree(const json::value& value, const std::string& what, int depth) {
  const json::object* const parts = value.if_object();
  const json::value* const type = parts != nullptr ? parts->if_contains("type") : nullptr;
  const json::value* const children = parts != nullptr ? parts->if_contains("children_spec") : nullptr;
  BOXCAR_CHECK(type != nullptr && children != nullptr && children->is_array() && depth <= kMostTreeDepth,
               "{}: the tree of its arguments or results cannot be read", what);
  TreeSpec spec;
  if (type->is_null()) return spec;
  BOXCAR_CHECK(type->is_string(), "{}: the tree of its arguments or results cannot be read", what);
  spec.type = std::string(type->get_string());
  for (const json::value& child : children->get_array()) spec.children.push_back(readTree(child, what, depth + 1));
  if (spec.type == "builtins.tuple" || spec.type == "torch.Size" || spec.type == "collections.namedtuple") {
    spec.kind = TreeSpec::Kind::Tuple;
  } else if (spec.type == "builtins.list" || spec.type == "collections.deque") {
    spec.kind = TreeSpec::Kind::List;
  } else if (const json::value* context = parts->if_contains("context")) {
    std::optional<std::vector<std::string>> keys = keysIn(*context, what);
    if (keys.has_value() && keys->size() == spec.children.size()) {
      spec.kind = TreeSpec::Kind::Dict;
      spec.keys = std::move(*keys);
    } else {
      spec.kind = TreeSpec::Kind::Other;
    }
  } else {
    spec.kind = TreeSpec::Kind::Other;
  }
  return spec;
}

}  // namespace

TreeSpec readTreeSpec(std::string_view text, const std::string& what) {
  const json::value root = json::parse(text, what);
  const json::array* const parts = root.if_array();
  BOXCAR_CHECK(parts != nullptr && parts->size() == 2 && (*parts)[0].is_int64() && (*parts)[0].get_int64() == 1,
               "{}: the tree of its arguments or results has another version than 1", what);
  return readTree((*parts)[1], what, 0);
}

}  // namespace boxcar::interp::pt2
