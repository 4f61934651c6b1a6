#pragma once

#include <boxcar/interpreter/syntax/grammar.h>

#include <string>
#include <utility>

#include "syntax_text.h"

namespace boxcar::syntax {

// Returns the statements of a script, one per line, or its printed diagnostics.
inline std::string parsed(std::string text) {
  const SourcePtr source = Source::create("t.ops", std::move(text));
  Diagnostics diagnostics;
  const SyntaxTree tree = parse(source, diagnostics);
  if (diagnostics.hasErrors()) return toString(diagnostics.all());
  std::string out;
  for (const StmtPtr& stmt : tree.statements) out += (out.empty() ? "" : "\n") + textOf(*stmt, *source);
  return out;
}

// The same without blanks, because some blanks in signatures and types have no meaning.
inline std::string parsedWithoutBlanks(std::string text) {
  std::string tree = parsed(std::move(text));
  std::erase_if(tree, [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; });
  return tree;
}

// Returns the errors of a script as `line:column: message` without source lines; notes follow ` | `.
inline std::string errorsOf(std::string text) {
  const SourcePtr source = Source::create("t.ops", std::move(text));
  Diagnostics diagnostics;
  const SyntaxTree tree = parse(source, diagnostics);
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    const LineColumn at = source->position(diagnostic.span.begin);
    out += fmt::format("{}{}:{}: {}", out.empty() ? "" : "\n", at.line, at.column, diagnostic.message);
    for (const Diagnostic::Note& note : diagnostic.notes) out += " | " + note.text;
  }
  return out;
}

// Returns the tree of the readable part and the number of errors.
inline std::string recovered(std::string text) {
  const SourcePtr source = Source::create("t.ops", std::move(text));
  Diagnostics diagnostics;
  const SyntaxTree tree = parse(source, diagnostics);
  std::string out = fmt::format("{} errors:", diagnostics.error_count());
  for (const StmtPtr& stmt : tree.statements) out += " " + textOf(*stmt, *source);
  return out;
}

}  // namespace boxcar::syntax
