#include <boxcar/backends/transforms/fake_rules.h>
#include <boxcar/backends/transforms/fake_tensor.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/no_elements_error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace boxcar::transforms {
namespace {

// Operators that take tensors of two devices, whose results are where the first one is.
constexpr std::string_view kMixing[] = {
    "aten::copy_",      "aten::_to_copy",         "aten::index", "aten::index_put",
    "aten::index_put_", "aten::_index_put_impl_", "aten::set_",  "aten::_pack_padded_sequence",
};

// Operators made of others whose kernels have quicker ways of their own for some devices.
constexpr std::string_view kWithOwnWays[] = {"aten::scaled_dot_product_attention", "aten::rms_norm",
                                             "aten::_fused_rms_norm", "aten::batch_norm_backward"};

bool isNumber(const Tensor& tensor) { return tensor.dim() == 0 && tensor.is_cpu(); }

bool hasMask(const IValue& indices) {
  bool found = false;
  visitTensors(indices, [&](const Tensor& tensor) {
    found |= tensor.scalar_type() == ScalarType::Bool || tensor.scalar_type() == ScalarType::Byte;
  });
  return found;
}

}  // namespace

bool passesFakes(const OperatorHandle& op) {
  const FunctionSchema& schema = op.schema();
  if (schema.is_vararg() || op.hasTag(Tag::differentiation) || op.operator_name().name.starts_with("func::")) {
    return true;
  }
  return std::ranges::any_of(schema.arguments(),
                             [](const Argument& argument) { return argument.type()->kind() == TypeKind::Function; });
}

bool needsElements(const OperatorHandle& op, std::span<const IValue> arguments) {
  if (!op.hasTag(Tag::data_dependent_output) && !op.hasTag(Tag::dynamic_output_shape)) return false;
  const std::string& name = op.operator_name().name;
  // Indices that are no masks give their own sizes, and is-nonzero of one tensor is another overload of where.
  if (name == "aten::index") return arguments.size() > 1 && hasMask(arguments[1]);
  return true;
}

bool writesMemoryItself(const OperatorHandle& op) {
  const std::string& name = op.operator_name().name;
  return name.starts_with("fused::") || std::ranges::find(kWithOwnWays, name) != std::end(kWithOwnWays);
}

std::optional<Device> deviceArgument(const FunctionSchema& schema, std::span<const IValue> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (schema.arguments()[i].name() == "device" && arguments[i].isDevice()) return withIndex(arguments[i].toDevice());
  }
  return std::nullopt;
}

Device deviceOfResults(const OperatorHandle& op, std::span<const IValue> arguments,
                       const std::vector<PlacedTensor>& tensors) {
  const bool mixes = std::ranges::find(kMixing, op.operator_name().name) != std::end(kMixing);
  std::optional<Device> common;
  bool only_numbers = true;
  for (const PlacedTensor& placed : tensors) {
    const Device device = placed.tensor.device();
    if (!common) {
      common = device;
      only_numbers = isNumber(placed.tensor);
    } else if (isNumber(placed.tensor)) {
      continue;
    } else if (only_numbers) {
      common = device;
      only_numbers = false;
    } else if (device != *common && !mixes) {
      BOXCAR_FAIL(
          "{}: Expected all tensors to be on the same device, but found at least two devices, {} and {}! Move one with "
          ".to('{}')",
          toString(op), *common, device, common->is_cpu() ? device : *common);
    }
  }
  if (const std::optional<Device> named = deviceArgument(op.schema(), arguments)) return *named;
  return common.value_or(Device(DeviceType::CPU));
}

void failWithoutElements(const OperatorHandle& op, const std::string& name, const std::vector<PlacedTensor>& tensors) {
  const bool is_index = op.operator_name().name == "aten::index";
  const auto fake = std::ranges::find_if(tensors, [&](const PlacedTensor& placed) {
    return is_index ? placed.index == 1 && hasMask(placed.tensor) : !constantOf(placed.tensor).defined();
  });
  throw NoElementsError(fmt::format(
      "{}: {} on the elements of {}, which is fake and has none; call it on a real tensor, outside of fake()", name,
      op.hasTag(Tag::dynamic_output_shape) ? "the sizes of its result depend" : "its result depends",
      fake == tensors.end() ? "its arguments" : fake->place));
}

}  // namespace boxcar::transforms
