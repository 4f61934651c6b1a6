#include <boxcar/backends/cuda/attention.h>
#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/module/parts.h>
#include <boxcar/backends/cuda/plan_cache.h>
#include <boxcar/backends/cuda/shared_library.h>
#include <boxcar/backends/cuda/status.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor.h>

#include <array>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

// The library is opened by this file, and its functions are looked up in it.
#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#define NV_CUDNN_FRONTEND_DISABLE_LOGGING
#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <cudnn_frontend.h>

namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;
}

namespace boxcar::cuda {
namespace {

namespace fe = cudnn_frontend;

constexpr size_t kMostPlans = 512;
constexpr size_t kPlansGivenUp = 64;  // plans to drop at a time, because dropping waits for the device
// Number of plans of a kind that get kernels of their own; later ones share kernels that support any lengths.
constexpr int kFixedPlans = 4;
constexpr size_t kMostKinds = 64;

enum Place : int64_t { kQuery = 1, kKey, kValue, kBias, kOut };

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

// The state for one device. All threads share it, because they use the same plans. cuDNN takes up to a second to
// compile the kernels of a plan, or milliseconds if the kind has kernels already.
struct Session {
  std::mutex mutex;
  cudnnHandle_t handle = nullptr;
  PlanCache<Plan> plans{kMostPlans};
  std::map<std::vector<int64_t>, Kind> kinds;
};

Session& session() {
  static std::array<Session, kMaxDevices>& sessions = *new std::array<Session, kMaxDevices>;
  return sessions[static_cast<size_t>(currentDevice())];
}

void checkCudnn(cudnnStatus_t status) {
  BOXCAR_CHECK(status == CUDNN_STATUS_SUCCESS, "cuDNN failed at scaled_dot_product_attention: {}",
               fe::detail::get_error_string(status));
}

void openCudnn() {
  static SharedLibrary& library = *new SharedLibrary("cuDNN 9", {"libcudnn.so.9"});
  static void* const opened = fe::cudnn_dlhandle = library.handle("scaled_dot_product_attention");
  static_cast<void>(opened);
}

std::shared_ptr<fe::graph::Tensor_attributes> describe(fe::graph::Graph& graph, Place place, const char* name,
                                                       const AttentionOperand& operand) {
  return graph.tensor(fe::graph::Tensor_attributes()
                          .set_uid(place)
                          .set_name(name)
                          .set_dim({operand.sizes.begin(), operand.sizes.end()})
                          .set_stride({operand.strides.begin(), operand.strides.end()}));
}

void describe(fe::graph::Graph& graph, const AttentionCall& call) {
  graph.set_io_data_type(call.type == ScalarType::Half ? fe::DataType_t::HALF : fe::DataType_t::BFLOAT16)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  auto options =
      fe::graph::SDPA_attributes().set_name("attention").set_generate_stats(false).set_attn_scale(call.scale);
  if (call.is_causal) {
    options.set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT).set_diagonal_band_right_bound(0);
  }
  if (call.bias.data != nullptr) options.set_bias(describe(graph, kBias, "bias", call.bias));
  const auto results = graph.sdpa(describe(graph, kQuery, "query", call.query), describe(graph, kKey, "key", call.key),
                                  describe(graph, kValue, "value", call.value), options);
  results[0]
      ->set_output(true)
      .set_uid(kOut)
      .set_dim({call.out.sizes.begin(), call.out.sizes.end()})
      .set_stride({call.out.strides.begin(), call.out.strides.end()});
}

// Returns false if cuDNN, or the installed runtime libraries, have no kernel for [graph].
bool build(fe::graph::Graph& graph, cudnnHandle_t handle) {
  return graph.validate().is_good() && graph.build_operation_graph(handle).is_good() &&
         graph.create_execution_plans({fe::HeurMode_t::A}).is_good() && graph.check_support(handle).is_good() &&
         graph.build_plans(handle).is_good();
}

// Makes a plan that uses [kernels], which support any lengths, or kernels for this call's lengths only if [kernels] is
// null.
std::unique_ptr<Plan> makePlan(const AttentionCall& call, cudnnHandle_t handle,
                               const std::shared_ptr<fe::KernelCache>& kernels) {
  auto plan = std::make_unique<Plan>();
  try {
    describe(plan->graph, call);
    if (kernels != nullptr) plan->graph.set_dynamic_shape_enabled(true).set_kernel_cache(kernels);
    plan->is_taken = build(plan->graph, handle);
    if (plan->is_taken) plan->workspace_bytes = plan->graph.get_workspace_size();
  } catch (const std::exception&) {  // a function or library that cuDNN needs is missing
    plan->is_taken = false;
  }
  return plan;
}

std::unique_ptr<Plan> makePlan(const AttentionCall& call, Session& own) {
  std::vector<int64_t> key = planKind(call);
  const bool is_known = own.kinds.contains(key);
  if (is_known || own.kinds.size() < kMostKinds) {
    Kind& kind = own.kinds[std::move(key)];
    if (++kind.plans > kFixedPlans) {
      std::unique_ptr<Plan> plan = makePlan(call, own.handle, kind.kernels);
      if (plan->is_taken) return plan;
    }
  }
  return makePlan(call, own.handle, nullptr);
}

// Returns false if all plans are in use, or if this is not the time to wait for the device.
bool makeRoom(const AttentionCall& call, Session& own) {
  if (!own.plans.isFull()) return true;
  if (call.recording != Recording::kNone) return false;
  synchronizeDevice();  // destroying a plan destroys its kernels
  for (size_t i = 0; i < kPlansGivenUp; ++i) {
    if (own.plans.takeOldest([](const Plan& plan) { return !plan.is_captured; }) == nullptr) break;
  }
  return !own.plans.isFull();
}

// Returns null if there is no plan and none can be made now.
Plan* planFor(const AttentionCall& call, Session& own) {
  const std::vector<int64_t> key = planKey(call);
  if (Plan* const known = own.plans.find(key)) return known;
  if (call.recording == Recording::kCapture || !makeRoom(call, own)) return nullptr;
  return &own.plans.add(key, makePlan(call, own));
}

void execute(const AttentionCall& call, const Plan& plan, cudnnHandle_t handle) {
  const int64_t workspace_size[] = {plan.workspace_bytes};
  const Tensor workspace = Tensor::allocate(workspace_size, ScalarType::Byte,
                                            Device(DeviceType::CUDA, static_cast<DeviceIndex>(currentDevice())));
  std::unordered_map<int64_t, void*> memory{
      {kQuery, call.query.data}, {kKey, call.key.data}, {kValue, call.value.data}, {kOut, call.out.data}};
  if (call.bias.data != nullptr) memory[kBias] = call.bias.data;
  std::string failure;
  try {
    fe::error_t status = plan.graph.execute(handle, memory, workspace.data_ptr());
    if (status.is_bad()) failure = status.get_message();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  BOXCAR_CHECK(failure.empty(), "cuDNN failed at scaled_dot_product_attention: {}", failure);
}

}  // namespace

bool attendByCudnn(const AttentionCall& call) {
  openCudnn();
  Session& own = session();
  const std::lock_guard lock(own.mutex);
  if (own.handle == nullptr) checkCudnn(fe::detail::create_handle(&own.handle));
  checkCudnn(fe::detail::set_stream(own.handle, static_cast<cudaStream_t>(currentStream().handle)));
  Plan* const plan = planFor(call, own);
  if (plan == nullptr || !plan->is_taken) return false;
  if (call.recording == Recording::kCapture) plan->is_captured = true;
  execute(call, *plan, own.handle);
  checkLaunch();
  return true;
}

}  // namespace boxcar::cuda
