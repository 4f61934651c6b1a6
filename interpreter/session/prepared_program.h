#pragma once

#include <boxcar/ivalue/macros.h>

#include <string>
#include <vector>

namespace boxcar::interp {

// Returns a script as preparedText() writes it. [rules]: paths of scripts with more rules, tried first, each before
// those after it. Throws CompileError if the script or one of these is wrong, and Error if a file cannot be read.
BOXCAR_API std::string prepareScript(std::string text, std::string name, const std::vector<std::string>& rules = {});

// Returns what is wrong with the rules of the script at [path], a sentence for each whose sides differ by more than
// 1e-5 of the largest value for the examples of its parameters, or fail. Throws as prepareScript() does.
BOXCAR_API std::vector<std::string> faultsOfRules(const std::string& path);
// The same for the rules of the library.
BOXCAR_API std::vector<std::string> faultsOfLibraryRules();

// Whether models that scripts import are prepared; so it is at first. Set it before programs are loaded.
BOXCAR_API void setPreparesImports(bool prepares) noexcept;
BOXCAR_API bool preparesImports() noexcept;

}  // namespace boxcar::interp
