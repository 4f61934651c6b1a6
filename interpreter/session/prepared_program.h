#pragma once

#include <boxcar/ivalue/macros.h>

#include <map>
#include <string>
#include <vector>

namespace boxcar::interp {

// A script, prepared, and the files that it imports, directly or by others, which are prepared with it.
struct PreparedScript {
  struct File {
    std::string name;  // its path, as messages spell it
    std::string text;
  };

  std::string text;
  // By the key of ScriptFile: the files whose text is another one, and those that import such files.
  std::map<std::string, File> imports;
};

// Returns a script as preparedText() writes it. [rules]: paths of scripts with more rules, tried first, each before
// those after it. Throws CompileError if the script or one of these is wrong, and Error if a file cannot be read.
BOXCAR_API PreparedScript prepareScript(std::string text, std::string name, const std::vector<std::string>& rules = {});

// Returns the files that [prepared], a script called [name], consists of where it is written to the file [output] in
// the same folder: first this one, then those that it imports, each in the folder of the file that it is made of:
// `layers.fast.ops` of `layers.ops` for `fast.ops`. The imports between them are changed accordingly.
BOXCAR_API std::vector<PreparedScript::File> filesOf(const PreparedScript& prepared, const std::string& name,
                                                     const std::string& output);
// How the first line of the imported ones begins.
inline constexpr const char* kPreparedFileLine = "# boxcar optimize has written this file";

// Returns what is wrong with the rules of the script at [path], a sentence for each whose sides differ by more than
// 1e-5 of the largest value for the examples of its parameters, or fail. Throws as prepareScript() does.
BOXCAR_API std::vector<std::string> faultsOfRules(const std::string& path);
// The same for the rules of the library.
BOXCAR_API std::vector<std::string> faultsOfLibraryRules();

// Whether models that scripts import are prepared; so it is at first. Set it before programs are loaded.
BOXCAR_API void setPreparesImports(bool prepares) noexcept;
BOXCAR_API bool preparesImports() noexcept;

}  // namespace boxcar::interp
