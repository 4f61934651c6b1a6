#pragma once

#include <string>
#include <vector>

namespace boxcar::interp {

struct ScriptFile {
  std::string key;   // identifies the file, whatever path leads to it
  std::string name;  // its name in messages
};

// The scripts that are being compiled: each imports the next one.
class ImportChain {
 public:
  // Returns the error if the chain holds [file], such as "the imports form a cycle: a.ops -> b.ops -> a.ops", or "".
  std::string cycleAt(const ScriptFile& file) const;

  // Throws Error if the chain is too long.
  void push(ScriptFile file);
  void pop() noexcept { files_.pop_back(); }

 private:
  std::vector<ScriptFile> files_;
};

}  // namespace boxcar::interp
