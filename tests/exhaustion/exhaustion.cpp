// Tests boxcar while memory is short: each case of cases.h ends with an error or normally, leaves nothing behind, and
// is right the next time. `exhaustion [NAME]` runs the cases whose names contain NAME.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/exhaustion/cases.h"

int main(int argc, char** argv) {
  using namespace boxcar::exhaustion;
  std::string folder = (std::filesystem::temp_directory_path() / "boxcar_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return 2;
  quietStandardStreams();
  std::vector<CaseMaker> cases;
  addCallCases(cases);
  addRegistrationCases(cases);
  addFileCases(cases, folder);
  addScriptCases(cases, folder);
  int failed = 0;
  int run = 0;
  for (const CaseMaker& make : cases) {
    const ExhaustedCase each = make();
    if (argc > 1 && each.name.find(argv[1]) == std::string::npos) continue;
    ++run;
    failed += passes(each) ? 0 : 1;
  }
  std::filesystem::remove_all(folder);
  say(std::to_string(run) + " cases, " + std::to_string(failed) + " failed");
  return failed == 0 && run != 0 ? 0 : 1;
}
