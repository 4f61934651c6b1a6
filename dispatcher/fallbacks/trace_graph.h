#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>

namespace boxcar::detail {

// The calls of a trace as a graph in Graphviz's language: what made a tensor, and who took it.
class TraceGraph final {
 public:
  // A tensor that a call takes: its name, and what is written at the edge.
  struct Use {
    std::string name;
    std::string label;
    bool is_written = false;
  };

  // A tensor from outside.
  void addOutside(const std::string& name, const std::string& label);
  // A call; [results] are the names of the tensors that it made.
  void addCall(const std::string& op, std::span<const Use> uses, std::span<const std::string> results);
  // A call that acts outside, such as a print, with what it does.
  void addEffect(const std::string& text, std::span<const Use> uses);

  std::string dot() const;

 private:
  size_t addNode(const std::string& label, const std::string& style);
  void addEdges(size_t node, std::span<const Use> uses);

  size_t count_ = 0;
  std::string body_;
  // The node that a tensor's elements come from.
  std::unordered_map<std::string, size_t> makers_;
};

}  // namespace boxcar::detail
