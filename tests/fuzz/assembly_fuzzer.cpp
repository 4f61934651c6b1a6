// Bytecode as text -> read and verified -> printed, which reads and prints as the same -> run.

#include <boxcar/interpreter/bytecode/assembler.h>
#include <boxcar/interpreter/bytecode/disassembler.h>
#include <boxcar/interpreter/session/program.h>

#include <new>
#include <string>
#include <utility>

#include "tests/fuzz/fuzz.h"

namespace boxcar::interp {
namespace {

CodeUnit unitOf(std::string text) { return assemble(Source::create("fuzz.asm", std::move(text))); }

void assembleAndRun(std::string text) {
  CodeUnit unit = unitOf(std::move(text));
  const std::string printed = disassemble(unit);
  const bool reads = fuzz::runToError(
      [&] { fuzz::require(disassemble(unitOf(printed)) == printed, "bytecode that was printed reads as another"); });
  fuzz::require(reads, "bytecode that was printed does not read");
  Program program = Program::fromUnit(std::move(unit));
  program.setLimits(fuzz::kLimits);
  program.run();
}

}  // namespace
}  // namespace boxcar::interp

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace boxcar;
  fuzz::runHarmlessly([&] {
    try {
      interp::assembleAndRun(std::string(fuzz::textOf(data, size)));
    } catch (const std::bad_alloc&) {
      // Memory ran out while the assembly was read; an embedding program can meet this, too.
    }
  });
  return 0;
}
