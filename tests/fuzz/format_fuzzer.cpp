// A script -> formatted -> formatted again: nothing changes. A script that compiles keeps its meaning.

#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/syntax/formatter.h>

#include <new>
#include <optional>
#include <string>

#include "tests/fuzz/fuzz.h"
#include "tests/interpreter/bytecode/unit_equality.h"
#include "tests/interpreter/syntax/without_places.h"

namespace boxcar::fuzz {
namespace {

// Returns nullopt if the text does not compile.
std::optional<interp::CodeUnit> compiled(const std::string& text) {
  Diagnostics diagnostics;
  try {
    return withoutPlaces(interp::compileText(text, "fuzz.ops", diagnostics));
  } catch (const CompileError&) {
    return std::nullopt;
  }
}

void layOut(const std::string& text) {
  Diagnostics diagnostics;
  const std::string once = formatSource(Source::create("fuzz.ops", text), diagnostics);
  if (diagnostics.hasErrors()) {
    require(once == text, "a script with errors was changed");
    return;
  }
  require(formatSource(Source::create("fuzz.ops", once), diagnostics) == once, "a layout is laid out otherwise");
  const auto before = compiled(text), after = compiled(once);
  require(before.has_value() == after.has_value(),
          "a script compiles, and its layout does not, or the other way round");
  if (before) require(differenceOf(*before, *after).empty(), "a layout means something else");
}

}  // namespace
}  // namespace boxcar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  boxcar::fuzz::runHarmlessly([&] {
    try {
      boxcar::fuzz::layOut(std::string(boxcar::fuzz::textOf(data, size)));
    } catch (const std::bad_alloc&) {
      // An embedding program can meet this, too.
    }
  });
  return 0;
}
