// Text -> read line by line, as at a prompt -> compiled -> run.

#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/session/session.h>
#include <boxcar/interpreter/syntax/unfinished_input.h>

#include <algorithm>
#include <new>
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz.h"

namespace boxcar::fuzz {
namespace {

// More lines would take too long, because the whole text is read again with each line.
constexpr auto kMostLines = 64;

// The incremental check must agree with a check of the whole text: an input is unfinished whenever its whole text is.
void readLineByLine(std::string_view text) {
  if (std::ranges::count(text, '\n') > kMostLines) return;
  UnfinishedInput input;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const bool goes_on = input.add(text.substr(begin, end - begin));
    if (!goes_on) {
      require(!Session::isUnfinished(std::string(text.substr(0, end))), "an input ends before its text does");
      return;
    }
    begin = end;
  }
}

}  // namespace
}  // namespace boxcar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  boxcar::fuzz::runHarmlessly([&] {
    try {
      boxcar::fuzz::readLineByLine(boxcar::fuzz::textOf(data, size));
      boxcar::Program program = boxcar::Program::compile(std::string(boxcar::fuzz::textOf(data, size)), "fuzz.ops");
      program.setLimits(boxcar::fuzz::kLimits);
      program.run({"argument"});
    } catch (const std::bad_alloc&) {
      // Memory ran out during compilation; an embedding program can meet this, too.
    }
  });
  return 0;
}
