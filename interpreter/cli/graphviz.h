#pragma once

#include <string>

namespace boxcar::cli {

// An Error that names the package when Graphviz's program `dot` is not installed.
void checkGraphviz();

// The picture of a graph in Graphviz's language, as SVG: what `dot -Tsvg` makes of it.
std::string drawSvg(const std::string& graph);

}  // namespace boxcar::cli
