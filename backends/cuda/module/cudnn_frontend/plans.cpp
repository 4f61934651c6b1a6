#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/module/cudnn_frontend/plans.h>
#include <boxcar/backends/cuda/shared_library.h>
#include <boxcar/backends/cuda/status.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor.h>

#include <array>
#include <exception>
#include <string>

namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;
}

namespace boxcar::cuda::cudnn {
namespace {

constexpr size_t kPlansGivenUp = 64;  // plans to drop at a time, because dropping waits for the device
// Kernels that need a larger workspace are not used.
constexpr int64_t kMostWorkspaceBytes = int64_t{1} << 30;

Session& session() {
  static std::array<Session, kMaxDevices>& sessions = *new std::array<Session, kMaxDevices>;
  return sessions[static_cast<size_t>(currentDevice())];
}

void checkCudnn(std::string_view op, cudnnStatus_t status) {
  BOXCAR_CHECK(status == CUDNN_STATUS_SUCCESS, "cuDNN failed at {}: {}", op, fe::detail::get_error_string(status));
}

void openCudnn(std::string_view op) {
  static SharedLibrary& library = *new SharedLibrary("cuDNN 9", {"libcudnn.so.9"});
  static void* const opened = fe::cudnn_dlhandle = library.handle(op);
  static_cast<void>(opened);
}

bool build(fe::graph::Graph& graph, cudnnHandle_t handle, const std::vector<fe::NumericalNote_t>& unwanted) {
  if (!graph.validate().is_good() || !graph.build_operation_graph(handle).is_good() ||
      !graph.create_execution_plans({fe::HeurMode_t::A}).is_good()) {
    return false;
  }
  if (!unwanted.empty()) graph.deselect_numeric_notes(unwanted);
  graph.deselect_workspace_greater_than(kMostWorkspaceBytes);
  return graph.check_support(handle).is_good() && graph.build_plans(handle).is_good();
}

// Returns false if all plans are in use, or if this is not the time to wait for the device.
bool makeRoom(Recording recording, Session& own) {
  if (!own.plans.isFull()) return true;
  if (recording != Recording::kNone) return false;
  synchronizeDevice();  // destroying a plan destroys its kernels
  for (size_t i = 0; i < kPlansGivenUp; ++i) {
    if (own.plans.takeOldest([](const Plan& plan) { return !plan.is_captured; }) == nullptr) break;
  }
  return !own.plans.isFull();
}

// Returns null if there is no plan and none can be made now.
Plan* planFor(const Call& call, Session& own) {
  if (Plan* const known = own.plans.find(call.key)) return known;
  if (call.recording == Recording::kCapture || !makeRoom(call.recording, own)) return nullptr;
  return &own.plans.add(call.key, call.make(own));
}

void execute(Call& call, const Plan& plan, cudnnHandle_t handle) {
  const int64_t workspace_size[] = {plan.workspace_bytes};
  const Tensor workspace = Tensor::allocate(workspace_size, ScalarType::Byte,
                                            Device(DeviceType::CUDA, static_cast<DeviceIndex>(currentDevice())));
  std::string failure;
  try {
    fe::error_t status = plan.graph.execute(handle, call.memory, workspace.data_ptr());
    if (status.is_bad()) failure = status.get_message();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  BOXCAR_CHECK(failure.empty(), "cuDNN failed at {}: {}", call.op, failure);
}

}  // namespace

std::unique_ptr<Plan> makePlan(cudnnHandle_t handle, const Describe& describe,
                               const std::vector<fe::NumericalNote_t>& unwanted) {
  auto plan = std::make_unique<Plan>();
  try {
    describe(plan->graph);
    plan->is_taken = build(plan->graph, handle, unwanted);
    if (plan->is_taken) plan->workspace_bytes = plan->graph.get_workspace_size();
  } catch (const std::exception&) {  // a function or library that cuDNN needs is missing
    plan->is_taken = false;
  }
  return plan;
}

bool run(Call& call) {
  openCudnn(call.op);
  Session& own = session();
  const std::lock_guard lock(own.mutex);
  if (own.handle == nullptr) checkCudnn(call.op, fe::detail::create_handle(&own.handle));
  checkCudnn(call.op, fe::detail::set_stream(own.handle, static_cast<cudaStream_t>(currentStream().handle)));
  Plan* const plan = planFor(call, own);
  if (plan == nullptr || !plan->is_taken) return false;
  if (call.recording == Recording::kCapture) plan->is_captured = true;
  execute(call, *plan, own.handle);
  checkLaunch();
  return true;
}

}  // namespace boxcar::cuda::cudnn
