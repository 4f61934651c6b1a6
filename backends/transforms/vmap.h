#pragma once

#include <boxcar/backends/transforms/vmap_level.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace boxcar::transforms {

struct VmapOptions {
  // For each argument an int, None, or a list or tuple of such for its elements; or one for all arguments.
  IValue in_dims = int64_t{0};
  // For each result, or one for all.
  IValue out_dims = int64_t{0};
  Randomness randomness = Randomness::kError;
  // How many slices are computed at once; all of them by default.
  std::optional<int64_t> chunk_size = {};
  // Which operator maps, a literal.
  std::string_view transform = "func::vmap";
};

// Returns what [function] returns for each slice of [args], along a new dimension of each result. It is called once,
// with tensors that lack the dimension. [what] begins errors. Throws Error if the sizes along the dimensions differ, or
// if the function returns anything but tensors.
BOXCAR_API IValue vmapCall(std::string_view what, const std::function<IValue(std::vector<IValue> args)>& function,
                           const std::vector<IValue>& args, const VmapOptions& options);

// The same for functions of tensors.
using TensorsFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>& args)>;
BOXCAR_API TensorsFunction vmap(TensorsFunction function, std::vector<std::optional<int64_t>> in_dims = {},
                                std::vector<std::optional<int64_t>> out_dims = {},
                                Randomness randomness = Randomness::kError,
                                std::optional<int64_t> chunk_size = std::nullopt);

}  // namespace boxcar::transforms
