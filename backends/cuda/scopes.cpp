#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/function_graphs.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/dispatcher/call/device_scopes.h>
#include <boxcar/ivalue/error.h>

#include <memory>
#include <optional>
#include <string_view>

// `with stream()` and `with cuda_graph()`.

namespace boxcar::cuda {
namespace {

class StreamScope final : public Scope {
 public:
  explicit StreamScope(Device device) : device_(device) {}

  void enter() override { guard_.emplace(device_.index()); }
  void leave() override { guard_.reset(); }

 private:
  const Device device_;
  std::optional<StreamGuard> guard_;
};

class GraphScope final : public Scope {
 public:
  void enter() override {}
  void leave() override {}
  bool servesFunctions() const noexcept override { return true; }
  IValue call(const FunctionCall& function) override { return callGraphed(function); }
};

void checkDevice(std::string_view scope) {
  BOXCAR_CHECK(deviceCount() > 0, "{}: CUDA: {}; leave the scope out to run on 'cpu'", scope, whyNoDevice());
}

std::unique_ptr<Scope> makeStream(std::optional<Device> device) {
  const Device wanted = device.value_or(DeviceType::CUDA);
  BOXCAR_CHECK(wanted.is_cuda(), "stream(): '{}' has no streams; CUDA devices have, such as 'cuda:0'", wanted);
  checkDevice("stream()");
  return std::make_unique<StreamScope>(completeDevice(wanted));
}

std::unique_ptr<Scope> makeGraph() {
  checkDevice("cuda_graph()");
  return std::make_unique<GraphScope>();
}

constexpr DeviceScopes kScopes = {makeStream, makeGraph};

[[maybe_unused]] const bool kScopesLoaded = (setDeviceScopes(&kScopes), true);

}  // namespace
}  // namespace boxcar::cuda
