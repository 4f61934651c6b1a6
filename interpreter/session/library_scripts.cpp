#include <boxcar/interpreter/bytecode/bytecode.h>
#include <boxcar/interpreter/session/library_scripts.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace boxcar::detail {

extern const std::string_view kFusedScript;
extern const std::string_view kNnScript;
extern const std::string_view kOptimScript;
extern const std::string_view kRewritesScript;
extern const std::string_view kTorchScriptScript;
extern const std::string_view kTrainingScript;

}  // namespace boxcar::detail

namespace boxcar::interp {
namespace {

constexpr std::pair<std::string_view, const std::string_view*> kLibrary[] = {
    {"fused.ops", &boxcar::detail::kFusedScript},
    {"nn.ops", &boxcar::detail::kNnScript},
    {"optim.ops", &boxcar::detail::kOptimScript},
    {"rewrites.ops", &boxcar::detail::kRewritesScript},
    {"torchscript.ops", &boxcar::detail::kTorchScriptScript},
    {"training.ops", &boxcar::detail::kTrainingScript},
};

}  // namespace

std::vector<std::string_view> libraryScripts() {
  std::vector<std::string_view> names;
  for (const auto& [name, text] : kLibrary) names.push_back(name);
  return names;
}

bool isLibraryScript(std::string_view name) noexcept {
  return std::ranges::any_of(kLibrary, [name](const auto& script) { return script.first == name; });
}

std::optional<std::string_view> libraryText(std::string_view key) noexcept {
  if (!key.starts_with(kLibraryFolder)) return std::nullopt;
  for (const auto& [name, text] : kLibrary) {
    if (key.substr(kLibraryFolder.size()) == name) return *text;
  }
  return std::nullopt;
}

ScriptFile importedScript(std::string_view importer, std::string_view path) {
  namespace fs = std::filesystem;
  const std::string library_name = std::string(kLibraryFolder) + std::string(path);
  const bool is_from_library = importer.starts_with(kLibraryFolder);
  if (is_from_library && libraryText(library_name)) return {library_name, library_name};
  const fs::path file = (is_from_library ? fs::path() : fs::path(importer).parent_path()) / path;
  std::error_code error;
  if (libraryText(library_name) && !fs::exists(file, error)) return {library_name, library_name};
  const fs::path key = fs::weakly_canonical(file, error);
  return {error ? file.string() : key.string(), file.lexically_normal().string()};
}

}  // namespace boxcar::interp
