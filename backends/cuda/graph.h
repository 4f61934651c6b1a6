#pragma once

#include <boxcar/backends/cuda/driver.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <functional>

namespace boxcar::cuda {

// Work of a device that is captured once and then launched as one: without what it costs to start each of its kernels,
// and without the program that put them there.
//
//   Graph graph;
//   graph.capture([&] { y = model(x); });  // nothing runs
//   graph.launch();                        // y holds what model gives for what x holds now
//
// A launch reads and writes the memory that the work had: tensors from outside must still be there, and those that it
// made hold the results until the next launch; the graph keeps their memory to itself. What is run for the first time
// may open libraries, so that work should have run before it is captured.
class BOXCAR_API Graph final {
 public:
  // Of the thread's current device.
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Once. An Error where [work] does what cannot be captured, such as wait for the device; then there is no graph.
  void capture(const std::function<void()>& work);
  // Puts it to the current stream of its device.
  void launch() const;

 private:
  const int device_;
  const uint64_t id_;
  GraphHandle handle_ = nullptr;
};

}  // namespace boxcar::cuda
