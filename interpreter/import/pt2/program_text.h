#pragma once

#include <boxcar/interpreter/import/pt2/exported_program.h>

#include <string>
#include <utility>
#include <vector>

namespace boxcar::interp::pt2 {

// What the text of a program says besides the program itself.
struct ProgramTextOptions {
  std::string title;    // of the comment at the head: "resnet18.pt2"
  std::string weights;  // the file that the script loads its weights from
  // Whether missingParts() names any: calls of them are calls that fail.
  bool has_missing = false;
  // Names of tied weights, each with the name that the program has for it.
  std::vector<std::pair<std::string, std::string>> tied_weights = {};
};

// Returns what of [program] cannot be had, a line each: "torch.ops.my.op.default (model.py:12)".
std::vector<std::string> missingParts(const ExportedProgram& program);

// Returns the program as a script whose function `forward` is the model. Throws Error for what has no form in a script.
std::string programText(ExportedProgram program, const ProgramTextOptions& options);

}  // namespace boxcar::interp::pt2
