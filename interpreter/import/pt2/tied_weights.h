#pragma once

#include <boxcar/interpreter/import/pt2/exported_program.h>
#include <boxcar/ivalue/dict.h>
#include <boxcar/ivalue/tensor.h>

#include <string>
#include <utility>
#include <vector>

namespace boxcar::interp::pt2 {

// Gives weights that are one tensor under several names the first of the names, as named_parameters() does; PyTorch's
// programs often take the last. [weights]: those of the archive. Returns the other names, each with its first one.
std::vector<std::pair<std::string, std::string>> nameTiedWeights(ExportedProgram& program,
                                                                 const Dict<std::string, Tensor>& weights);

}  // namespace boxcar::interp::pt2
