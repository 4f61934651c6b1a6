#pragma once

#include <boxcar/interpreter/compiler/import_chain.h>
#include <boxcar/ivalue/macros.h>

#include <optional>
#include <string_view>
#include <vector>

// The scripts of scripts/lib/. They are part of the program, so that `import "nn.ops"` finds them wherever the
// importing script lies, and in a sandbox.

namespace boxcar::interp {

// Returns the names of all of them: "nn.ops".
std::vector<std::string_view> libraryScripts();

// Whether a script of the library is called so.
BOXCAR_API bool isLibraryScript(std::string_view name) noexcept;

// Returns the text of the script that is identified by [key]; nothing if it is not one of the library.
std::optional<std::string_view> libraryText(std::string_view key) noexcept;

// Returns the file that `import "[path]"` means in the script called [importer]: a path from its folder, or a script of
// the library, if there is no such file.
ScriptFile importedScript(std::string_view importer, std::string_view path);

}  // namespace boxcar::interp
