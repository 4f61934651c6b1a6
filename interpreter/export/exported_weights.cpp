#include <boxcar/interpreter/export/exported_weights.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace boxcar::interp::exported {
namespace {

// What calls do with the tensors that they take.
struct Uses {
  std::unordered_set<const StorageImpl*> written;
  std::unordered_set<const TensorImpl*> statistics;  // of a batch norm
};

Uses usesIn(const TracedFunction& function) {
  Uses uses;
  for (const TracedFunction::Call& call : function.calls) {
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const Argument& argument = call.op.schema().arguments()[i];
      visitTensors(call.arguments[i], [&](const Tensor& tensor) {
        if (argument.is_write()) uses.written.insert(tensor.storage().get());
        if (argument.name().starts_with("running_")) uses.statistics.insert(tensor.unsafeGetTensorImpl());
      });
    }
  }
  return uses;
}

// Attributes of PyTorch's modules, which no tensor or module in them may be called.
constexpr auto kModuleAttributes = std::to_array<std::string_view>({"T_destination",
                                                                    "add_module",
                                                                    "add_submodule",
                                                                    "apply",
                                                                    "bfloat16",
                                                                    "buffers",
                                                                    "call_super_init",
                                                                    "children",
                                                                    "code",
                                                                    "compile",
                                                                    "cpu",
                                                                    "cuda",
                                                                    "delete_all_unused_submodules",
                                                                    "delete_submodule",
                                                                    "double",
                                                                    "dump_patches",
                                                                    "eval",
                                                                    "extra_repr",
                                                                    "float",
                                                                    "forward",
                                                                    "get_buffer",
                                                                    "get_extra_state",
                                                                    "get_parameter",
                                                                    "get_submodule",
                                                                    "graph",
                                                                    "half",
                                                                    "ipu",
                                                                    "load_state_dict",
                                                                    "meta",
                                                                    "modules",
                                                                    "mtia",
                                                                    "named_buffers",
                                                                    "named_children",
                                                                    "named_modules",
                                                                    "named_parameters",
                                                                    "parameters",
                                                                    "print_readable",
                                                                    "range_constraints",
                                                                    "recompile",
                                                                    "register_backward_hook",
                                                                    "register_buffer",
                                                                    "register_forward_hook",
                                                                    "register_forward_pre_hook",
                                                                    "register_full_backward_hook",
                                                                    "register_full_backward_pre_hook",
                                                                    "register_load_state_dict_post_hook",
                                                                    "register_load_state_dict_pre_hook",
                                                                    "register_module",
                                                                    "register_parameter",
                                                                    "register_state_dict_post_hook",
                                                                    "register_state_dict_pre_hook",
                                                                    "requires_grad_",
                                                                    "set_extra_state",
                                                                    "set_submodule",
                                                                    "shape_env",
                                                                    "share_memory",
                                                                    "state_dict",
                                                                    "to",
                                                                    "to_empty",
                                                                    "to_folder",
                                                                    "train",
                                                                    "training",
                                                                    "type",
                                                                    "validate_inputs",
                                                                    "xpu",
                                                                    "zero_grad"});

bool isModuleAttribute(std::string_view name) {
  return std::ranges::find(kModuleAttributes, name) != kModuleAttributes.end();
}

// Makes keys that PyTorch has as names of a module's parts: no part is empty or an
// attribute of modules, and none is both a tensor and a module.
class Keys final {
 public:
  std::string take(const std::string& wanted) {
    std::string key;
    for (size_t begin = 0; begin <= wanted.size();) {
      const size_t end = std::min(wanted.find('.', begin), wanted.size());
      const std::string part = wanted.substr(begin, end - begin);
      key += (begin == 0 ? "" : ".") + part + (part.empty() || isModuleAttribute(part) ? "_" : "");
      begin = end + 1;
    }
    std::string free = key;
    for (int number = 1; isTaken(free); ++number) free = fmt::format("{}_{}", key, number);
    tensors_.insert(free);
    for (size_t dot = free.find('.'); dot != std::string::npos; dot = free.find('.', dot + 1)) {
      modules_.insert(free.substr(0, dot));
    }
    return free;
  }

 private:
  bool isTaken(const std::string& key) const {
    if (tensors_.contains(key) || modules_.contains(key)) return true;
    for (size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1)) {
      if (tensors_.contains(key.substr(0, dot))) return true;
    }
    return false;
  }

  std::set<std::string> tensors_;
  std::set<std::string> modules_;
};

}  // namespace

ExportedWeights weightsOf(const TracedFunction& function, ValueNames& names) {
  const Uses uses = usesIn(function);
  ExportedWeights result;
  Keys keys;
  std::unordered_map<const StorageImpl*, size_t> storages;
  size_t unnamed = 0;
  for (const TracedFunction::Weight& weight : function.weights) {
    const StorageImpl* const storage = weight.tensor.storage().get();
    const auto [place, is_new] = storages.try_emplace(storage, result.storages.size());
    const std::string shown =
        weight.key.empty() ? "a tensor without a name" : fmt::format("the tensor '{}'", weight.key);
    BOXCAR_CHECK(!weight.tensor.is_meta(), "{} cannot be exported: {} is on the meta device, so it has no elements",
                 function.schema.name(), shown);
    BOXCAR_CHECK(!weight.tensor.key_set().has(DispatchKey::Fake),
                 "{} cannot be exported: {} is fake, so it has no elements", function.schema.name(), shown);
    BOXCAR_CHECK(!is_new || weight.elements.defined(),
                 "{} cannot be exported: {} shares memory with an argument, which a program cannot say; pass a clone() "
                 "of the argument",
                 function.schema.name(), shown);
    if (is_new) result.storages.push_back(weight.elements);
    const bool is_written = uses.written.contains(storage);
    const bool is_parameter = !weight.key.empty() && isFloatingType(weight.tensor.scalar_type()) && !is_written &&
                              !uses.statistics.contains(weight.tensor.unsafeGetTensorImpl());
    const std::string key = keys.take(weight.key.empty() ? fmt::format("w{}", unnamed++) : weight.key);
    const std::string value = names.take((is_parameter ? "p_" : "b_") + key);
    result.weights.push_back({&weight, key, value, is_parameter, weight.key.empty() && is_written, place->second});
  }
  return result;
}

Json weightsConfig(const ExportedWeights& weights) {
  Json config = Json::object();
  for (const ExportedWeight& each : weights.weights) {
    const TracedFunction::Weight& weight = *each.weight;
    Json entry;
    entry["path_name"] = fmt::format("weight_{}", each.storage);
    entry["is_param"] = each.is_parameter;
    entry["use_pickle"] = false;
    entry["tensor_meta"] = tensorMeta(weight.tensor, weight.sizes, weight.strides, weight.offset, each.is_parameter);
    config[each.key] = std::move(entry);
  }
  Json root;
  root["config"] = std::move(config);
  return root;
}

}  // namespace boxcar::interp::exported
