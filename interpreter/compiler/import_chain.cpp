#include <boxcar/interpreter/compiler/import_chain.h>

#include <boxcar/ivalue/error.h>

#include <algorithm>

namespace boxcar::interp {

std::string ImportChain::cycleAt(const ScriptFile& file) const {
  const auto first = std::ranges::find(files_, file.key, &ScriptFile::key);
  if (first == files_.end()) return "";
  std::string text = "the imports form a cycle: ";
  for (auto step = first; step != files_.end(); ++step) text += step->name + " -> ";
  return text + first->name;
}

void ImportChain::push(ScriptFile file) {
  constexpr size_t kMostFiles = 100;
  BOXCAR_CHECK(files_.size() < kMostFiles, "more than {} files import one another in a chain", kMostFiles);
  files_.push_back(std::move(file));
}

}  // namespace boxcar::interp
