#include <boxcar/interpreter/export/export_program.h>
#include <boxcar/interpreter/export/exported_graph.h>
#include <boxcar/interpreter/export/exported_weights.h>
#include <boxcar/interpreter/export/value_names.h>
#include <fmt/format.h>

#include <utility>

namespace boxcar::interp {
namespace {

using exported::Json;

// What these programs are like, of PyTorch 2.15.
constexpr int kSchemaMajor = 8;
constexpr int kSchemaMinor = 20;
constexpr int kOpsetOfAten = 10;
constexpr const char* kTorchVersion = "2.15.0";

}  // namespace

std::vector<ExportedMember> exportFunction(const TracedFunction& function, const std::string& folder) {
  exported::ValueNames names;
  const exported::ExportedWeights weights = exported::weightsOf(function, names);
  Json program;
  program["graph_module"] = exported::ExportedGraph(function, weights, names).graphModule();
  program["opset_version"]["aten"] = kOpsetOfAten;
  program["range_constraints"] = Json::object();
  program["schema_version"]["major"] = kSchemaMajor;
  program["schema_version"]["minor"] = kSchemaMinor;
  program["verifiers"] = Json::array({"TRAINING"});
  program["torch_version"] = kTorchVersion;
  program["guards_code"] = Json::array();

  std::vector<ExportedMember> members;
  const auto add = [&](const std::string& name, std::string text, Tensor storage = {}) {
    members.push_back({folder + "/" + name, std::move(text), std::move(storage)});
  };
  for (size_t i = 0; i < weights.storages.size(); ++i) {
    add(fmt::format("data/weights/weight_{}", i), {}, weights.storages[i]);
  }
  add("data/weights/model_weights_config.json", exported::textOf(exported::weightsConfig(weights)));
  Json no_constants;
  no_constants["config"] = Json::object();
  add("data/constants/model_constants_config.json", exported::textOf(no_constants));
  add("models/model.json", exported::textOf(program));
  // PyTorch asks for it; without content, the program has no sample inputs.
  add("data/sample_inputs/model.pt", "");
  add("archive_format", "pt2");
  add("archive_version", "0");
  add(".data/version", "6");
  add("byteorder", "little");
  return members;
}

}  // namespace boxcar::interp
