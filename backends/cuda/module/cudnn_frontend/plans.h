#pragma once

#include <boxcar/backends/cuda/plan_cache.h>
#include <boxcar/backends/cuda/stream.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

// plans.cpp opens the library, and its functions are looked up in it.
#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#define NV_CUDNN_FRONTEND_DISABLE_LOGGING
#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <cudnn_frontend.h>

// What attention and convolutions share: their plans, which cuDNN takes up to a second to make.

namespace boxcar::cuda::cudnn {

namespace fe = cudnn_frontend;

// How cuDNN computes a call, or that it cannot.
struct Plan {
  fe::graph::Graph graph;
  int64_t workspace_bytes = 0;
  bool is_taken = false;
  bool is_captured = false;  // in a graph, which needs the plan's kernels as long as it exists
};

// Calls that differ only in lengths, as in a script that generates text.
struct Kind {
  int plans = 0;
  std::shared_ptr<fe::KernelCache> kernels = std::make_shared<fe::KernelCache>();
};

// The state for one device. All threads share it, because they use the same plans.
struct Session {
  static constexpr size_t kMostPlans = 512;

  std::mutex mutex;
  cudnnHandle_t handle = nullptr;
  PlanCache<Plan> plans{kMostPlans};
  std::map<std::vector<int64_t>, Kind> kinds;  // of attention
};

// Describes a call to [graph].
using Describe = std::function<void(fe::graph::Graph& graph)>;

// Makes a plan without kernels that have one of [unwanted] notes. Its is_taken is false if cuDNN, or the installed
// runtime libraries, have no kernel for the call.
std::unique_ptr<Plan> makePlan(cudnnHandle_t handle, const Describe& describe,
                               const std::vector<fe::NumericalNote_t>& unwanted = {});

// A call of [op].
struct Call {
  std::string_view op;
  std::vector<int64_t> key;  // calls with the same key share a plan
  Recording recording;
  std::function<std::unique_ptr<Plan>(Session&)> make;
  std::unordered_map<int64_t, void*> memory;  // of each tensor that the plan names
};

// Computes on the current stream. Returns false if cuDNN does not, or if there is no plan and none can be made now.
bool run(Call& call);

}  // namespace boxcar::cuda::cudnn
