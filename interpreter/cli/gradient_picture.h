#pragma once

#include <boxcar/backends/autograd/anomaly_mode.h>
#include <boxcar/backends/autograd/gradient_graph.h>
#include <boxcar/ivalue/output_file.h>

#include <optional>
#include <string>

namespace boxcar::cli {

// Draws what the first backward pass differentiates that this thread begins while it lives: as a picture for a file
// that ends in .svg, else in Graphviz's language.
class GradientPicture final {
 public:
  // Throws Error if [path] cannot be written, or if Graphviz is missing that draws it.
  explicit GradientPicture(const std::string& path);
  // Writes the file. Throws Error if no pass began.
  void write();

 private:
  const std::string path_;
  const bool is_svg_;
  OutputFile file_;
  std::optional<autograd::GradientGraph> graph_;
  autograd::BackwardObserverGuard observer_;
  // Nodes remember the lines of the script.
  autograd::DetectAnomalyGuard remembering_{false};
};

// Returns what is wrong with the name of such a file; "" if nothing is.
std::string faultOfPicture(const std::string& path);

}  // namespace boxcar::cli
