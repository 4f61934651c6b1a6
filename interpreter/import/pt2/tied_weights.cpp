#include <boxcar/interpreter/import/pt2/tied_weights.h>

#include <algorithm>
#include <map>

namespace boxcar::interp::pt2 {
namespace {

bool areTied(const Tensor& a, const Tensor& b) {
  return a.numel() != 0 && a.data_ptr() == b.data_ptr() && a.scalar_type() == b.scalar_type() &&
         std::ranges::equal(a.sizes(), b.sizes()) && std::ranges::equal(a.strides(), b.strides());
}

}  // namespace

std::vector<std::pair<std::string, std::string>> nameTiedWeights(ExportedProgram& program,
                                                                 const Dict<std::string, Tensor>& weights) {
  std::map<const void*, std::vector<std::pair<std::string, Tensor>>> firsts;  // by their memory
  std::map<std::string, std::string> first_of;
  std::vector<std::pair<std::string, std::string>> seconds;
  for (InputSpec& input : program.inputs) {
    if (input.kind != InputSpec::Kind::Weight) continue;
    const auto found = weights.find(input.weight);
    if (found == weights.end() || found->value().numel() == 0) continue;
    const Tensor weight = found->value();
    auto& others = firsts[weight.data_ptr()];
    const auto first = std::ranges::find_if(others, [&](const auto& other) { return areTied(other.second, weight); });
    if (first == others.end()) {
      others.emplace_back(input.weight, weight);
      continue;
    }
    seconds.emplace_back(input.weight, first->first);
    first_of.emplace(input.weight, first->first);
    input.weight = first->first;
  }
  for (OutputSpec& output : program.outputs) {
    if (const auto first = first_of.find(output.target); first != first_of.end()) output.target = first->second;
  }
  return seconds;
}

}  // namespace boxcar::interp::pt2
