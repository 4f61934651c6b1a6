#pragma once

#include <boxcar/dispatcher/handlers/trace/traced_function.h>
#include <boxcar/interpreter/export/program_json.h>
#include <boxcar/interpreter/export/value_names.h>

#include <string>
#include <vector>

namespace boxcar::interp::exported {

// A tensor that a program brings along. A parameter is one of floating-point numbers that has a name in the script,
// that no call writes, and that is no running statistic; others are buffers.
struct ExportedWeight {
  const TracedFunction::Weight* weight;
  std::string key;    // "fc1.weight"
  std::string value;  // the graph's input, "p_fc1_weight"
  bool is_parameter;
  // Whether each call makes it anew, and writes to it.
  bool is_copied;
  size_t storage;  // the position of its storage
};

// The weights of a program, and the storages that they are in.
struct ExportedWeights {
  std::vector<ExportedWeight> weights;
  std::vector<Tensor> storages;  // their elements
};

// Takes the names of the graph's inputs from [names]. Throws Error if a weight has no elements.
ExportedWeights weightsOf(const TracedFunction& function, ValueNames& names);

// Returns what the archive's model_weights_config.json says.
Json weightsConfig(const ExportedWeights& weights);

}  // namespace boxcar::interp::exported
