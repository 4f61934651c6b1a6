#pragma once

#include <string>

namespace boxcar::cli {

// Throws Error, which names the package, if Graphviz's program `dot` is not installed.
void checkGraphviz();

// Returns the picture of [graph], given in Graphviz's language, as SVG: the output of `dot -Tsvg`.
std::string drawSvg(const std::string& graph);

}  // namespace boxcar::cli
