#pragma once

#include <boxcar/backends/cuda/driver.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <functional>

namespace boxcar::cuda {

// Device work that is captured once and then launched as a whole, without the cost of starting each kernel and without
// the program that put the work there.
//
//   Graph graph;
//   graph.capture([&] { y = model(x); });  // nothing runs
//   graph.launch();                        // y holds what model gives for what x holds now
//
// A launch reads and writes the memory that the captured work used. Tensors from outside must still exist. Tensors
// created by the work hold the results until the next launch; the graph keeps their memory to itself. Work may open
// libraries when it first runs, so run it once before capturing it.
class BOXCAR_API Graph final {
 public:
  // For the thread's current device.
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Captures [work]; may be called once. Throws Error if [work] does what cannot be captured, such as waiting for the
  // device; then there is no graph.
  void capture(const std::function<void()>& work);
  // Launches the graph on the current stream of its device.
  void launch() const;

 private:
  const int device_;
  const uint64_t id_;
  GraphHandle handle_ = nullptr;
};

}  // namespace boxcar::cuda
