#pragma once

#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>
#include <vector>

// Models that other programs wrote, as scripts.

namespace boxcar::interp {

struct ImportOptions {
  // The file that the script loads its weights from; the archive itself, if empty.
  std::string weights;
  // Puts a call that fails where something cannot be had, instead of failing at once.
  bool is_lenient = false;
  // If not null, it receives the names of weights that are others under second names, which the script does not need.
  std::vector<std::string>* tied_weights = nullptr;
};

// Whether [path] is that of a model, by its ending: ".pt2", ".pt" and the like for TorchScript, or
// ".onnx", which importModel() refuses with a remedy.
BOXCAR_API bool isModelPath(std::string_view path) noexcept;

// Returns the model in the archive [path] as a script, in the layout of formatSource(), whose function `forward` is the
// model. Throws Error that lists all that the script cannot have.
BOXCAR_API std::string importModel(const std::string& path, const ImportOptions& options = {});

}  // namespace boxcar::interp
