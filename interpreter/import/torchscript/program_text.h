#pragma once

#include <boxcar/interpreter/import/torchscript/compilation_unit.h>
#include <boxcar/ivalue/ivalue.h>

#include <string>
#include <vector>

namespace boxcar::interp::torchscript {

// What the text of a program says besides the program itself.
struct ProgramTextOptions {
  std::string title;    // of the comment at the head: "net.pt"
  std::string weights;  // the file that the script loads its weights from
};

struct ProgramText {
  std::string text;
  std::vector<std::string> missing;  // what the script cannot have, a line each; calls of it are errors
};

// Returns a module as a script: structs for its classes, `model`, and a function for each of its methods that has a
// public name. [module] and [constants] are what io::load_torchscript gives as "data" and "constants". Throws Error for
// what is no program.
ProgramText programText(CompilationUnit& unit, const IValue& module, std::vector<IValue> constants,
                        const ProgramTextOptions& options);

}  // namespace boxcar::interp::torchscript
