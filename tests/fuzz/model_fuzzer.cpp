// The JSON of a program of torch.export -> a script -> compiled.

#include <boxcar/interpreter/import/pt2/exported_program.h>
#include <boxcar/interpreter/import/pt2/program_text.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/syntax/formatter.h>

#include <new>
#include <string>
#include <utility>

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace boxcar;
  fuzz::runHarmlessly([&] {
    try {
      const interp::pt2::ExportedProgram program =
          interp::pt2::readExportedProgram(fuzz::textOf(data, size), "'fuzz.pt2'");
      const bool is_whole = interp::pt2::missingParts(program).empty();
      std::string text =
          interp::pt2::programText(program, {.title = "fuzz.pt2", .weights = "fuzz.pt2", .has_missing = !is_whole});
      Diagnostics diagnostics;
      std::string script = formatSource(Source::create("fuzz.ops", std::move(text)), diagnostics);
      Program::compile(std::move(script), "fuzz.ops");
    } catch (const std::bad_alloc&) {
      // Memory ran out.
    }
  });
  return 0;
}
