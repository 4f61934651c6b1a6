#pragma once

#include <boxcar/interpreter/compiler/compile_unit.h>
#include <boxcar/interpreter/runtime/executable.h>
#include <boxcar/interpreter/runtime/machine.h>
#include <boxcar/interpreter/syntax/grammar.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace boxcar::interp {

// Compiles a script that must be right.
inline CodeUnit compileScript(std::string text) {
  Diagnostics diagnostics;
  const syntax::SyntaxTree tree = syntax::parse(Source::create("test.ops", std::move(text)), diagnostics);
  if (!diagnostics.hasErrors()) {
    CodeUnit unit = compileUnit(tree, diagnostics);
    if (!diagnostics.hasErrors()) return unit;
  }
  diagnostics.throwIfErrors();
  return {};
}

// Returns all errors of a script as text.
inline std::string errorsOf(std::string text) {
  try {
    compileScript(std::move(text));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Returns the output of a script that defines no operators, followed by its error, if any.
inline std::string outputOf(std::string text) {
  testing::internal::CaptureStdout();
  std::string failure;
  try {
    Executable program(compileScript(std::move(text)));
    program.link();
    Stack stack;
    Machine::current().call(program, 0, stack);
  } catch (const Error& error) {
    failure = error.what();
  }
  std::string output = testing::internal::GetCapturedStdout();
  if (!failure.empty()) output += (output.empty() || output.back() == '\n' ? "" : "\n") + failure;
  return output;
}

}  // namespace boxcar::interp
