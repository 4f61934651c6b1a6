#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/function_graphs.h>
#include <boxcar/backends/cuda/graph.h>
#include <boxcar/backends/cuda/graph_inputs.h>
#include <boxcar/backends/cuda/rehearsal.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar::cuda {
namespace {

// Maximum number of kinds per function; beyond it, the least recently called one is dropped.
constexpr size_t kMostKinds = 32;

// An input of a graph: the caller's tensor, or the graph's copy of it.
struct GraphInput {
  const void* address = nullptr;  // of the caller's tensor in the last call
  bool is_written = false;
  Tensor copy;
};

// A function's graph for one kind of inputs.
class FunctionGraph final {
 public:
  // Runs the function as usual, and records what a graph needs to know.
  IValue rehearse(const FunctionCall& function, const GraphInputs& inputs, int device) {
    std::vector<uint32_t> versions;
    for (const Tensor& tensor : inputs.tensors) versions.push_back(tensor.version());
    IValue result = [&] {
      const RehearsalGuard rehearsing;
      return function.run(function.arguments);
    }();
    const GraphInputs after = readGraphInputs(function.name, function.arguments, function.constants, device);
    BOXCAR_CHECK(
        after.key == inputs.key && isSame(after.tensors, inputs.tensors),
        "cuda_graph(): `{}` cannot be captured: it changes the sizes of its inputs, or what the lists, dicts and "
        "tensors on the CPU hold that it is given or that are constants, which a replay of the graph would not repeat. "
        "Do that outside of the function",
        function.name);
    for (size_t i = 0; i < inputs.tensors.size(); ++i) {
      const Tensor& tensor = inputs.tensors[i];
      inputs_.push_back({tensor.data_ptr(), tensor.version() != versions[i], {}});
    }
    return result;
  }

  IValue call(const FunctionCall& function, const GraphInputs& inputs) {
    const std::vector<bool> moved = findMoved(inputs);
    if (graph_ == nullptr || std::ranges::find(moved, true) != moved.end()) capture(function, inputs, moved);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].copy.defined()) native::copyElements(inputs_[i].copy, inputs.tensors[i]);
    }
    graph_->launch();
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].is_written) continue;
      if (inputs_[i].copy.defined()) native::copyElements(inputs.tensors[i], inputs_[i].copy);
      inputs.tensors[i].storage()->bumpVersion();
    }
    return resultFor(inputs);
  }

  uint64_t last_call = 0;

 private:
  static bool isSame(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    return std::ranges::equal(a, b, [](const Tensor& x, const Tensor& y) { return x.data_ptr() == y.data_ptr(); });
  }

  // Returns which inputs are not at the address where the graph reads them.
  std::vector<bool> findMoved(const GraphInputs& inputs) const {
    std::vector<bool> moved(inputs_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      moved[i] = !inputs_[i].copy.defined() && inputs_[i].address != inputs.tensors[i].data_ptr();
    }
    return moved;
  }

  // Whether the graph may read a copy of input [index]. It must be an argument whose elements do not overlap, and must
  // not share memory with another input if either of the two is written to.
  bool mayCopy(const GraphInputs& inputs, size_t index) const {
    const Tensor& tensor = inputs.tensors[index];
    if (index >= inputs.argument_tensors || hasOverlap(tensor)) return false;
    for (size_t i = 0; i < inputs.tensors.size(); ++i) {
      const bool shares = i != index && inputs.tensors[i].storage().get() == tensor.storage().get();
      if (shares && (inputs_[i].is_written || inputs_[index].is_written)) return false;
    }
    return true;
  }

  // Whether elements of [tensor] may overlap.
  static bool hasOverlap(const Tensor& tensor) {
    std::vector<std::pair<int64_t, int64_t>> steps;
    for (size_t i = 0; i < tensor.sizes().size(); ++i) {
      if (tensor.sizes()[i] > 1) steps.emplace_back(tensor.strides()[i], tensor.sizes()[i]);
    }
    std::ranges::sort(steps);
    int64_t reach = 1;
    for (const auto& [stride, size] : steps) {
      if (stride < reach) return true;
      reach = stride * size;
    }
    return false;
  }

  void capture(const FunctionCall& function, const GraphInputs& inputs, const std::vector<bool>& moved) {
    result_ = IValue();
    aliases_.clear();
    graph_.reset();
    ValueCopier copier;
    std::vector<Tensor> read;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Tensor& tensor = inputs.tensors[i];
      GraphInput& input = inputs_[i];
      input.address = tensor.data_ptr();
      if (moved[i] && mayCopy(inputs, i)) {
        input.copy = boxcar::empty_strided(tensor.sizes(), tensor.strides(), tensor.scalar_type(), std::nullopt,
                                           tensor.device());
      }
      read.push_back(input.copy.defined() ? input.copy : tensor);
      copier.replace(tensor, read.back());
    }
    std::vector<IValue> arguments;
    for (const IValue& argument : function.arguments) arguments.push_back(copier.copy(argument));
    auto graph = std::make_unique<Graph>();
    graph->capture([&] { result_ = function.run(arguments); });
    graph_ = std::move(graph);
    // A result that is a view of an input becomes, in each call, a view of the caller's tensor.
    visitTensors(result_, [&](const Tensor& tensor) {
      for (size_t i = 0; i < read.size(); ++i) {
        if (tensor.storage().get() != read[i].storage().get()) continue;
        aliases_.push_back({tensor, i, tensor.storage_offset() - read[i].storage_offset()});
        return;
      }
    });
  }

  // Returns the results in memory of their own, because the next launch overwrites the graph's.
  IValue resultFor(const GraphInputs& inputs) const {
    ValueCopier copier;
    for (const Alias& alias : aliases_) {
      const Tensor& input = inputs.tensors[alias.input];
      const Tensor& tensor = alias.tensor;
      const Tensor view(makeIntrusive<TensorImpl>(input.storage(), tensor.scalar_type(), tensor.sizes(),
                                                  tensor.strides(), input.storage_offset() + alias.offset));
      copier.replace(tensor, view);
    }
    return copier.copy(result_);
  }

  struct Alias {
    Tensor tensor;
    size_t input;
    int64_t offset;  // in elements
  };

  std::vector<GraphInput> inputs_;
  IValue result_;
  std::vector<Alias> aliases_;
  std::unique_ptr<Graph> graph_;  // destroyed first, before the tensors that it writes to
};

// The graphs that are stored with a function.
struct FunctionGraphs {
  std::unordered_map<std::string, FunctionGraph> by_key;
  uint64_t calls = 0;

  void makeRoom() {
    if (by_key.size() < kMostKinds) return;
    by_key.erase(std::ranges::min_element(by_key, {}, [](const auto& entry) { return entry.second.last_call; }));
  }
};

IValue call(const FunctionCall& function, FunctionGraphs& graphs) {
  std::vector<IValue> values(function.arguments.begin(), function.arguments.end());
  values.insert(values.end(), function.constants.begin(), function.constants.end());
  const int device = deviceOfValues(values);
  const DeviceGuard on(device);
  const GraphInputs inputs = readGraphInputs(function.name, function.arguments, function.constants, device);
  ++graphs.calls;
  const auto known = graphs.by_key.find(inputs.key);
  if (known != graphs.by_key.end()) {
    known->second.last_call = graphs.calls;
    return known->second.call(function, inputs);
  }
  FunctionGraph made;
  made.last_call = graphs.calls;
  IValue result = made.rehearse(function, inputs, device);
  graphs.makeRoom();
  graphs.by_key.emplace(inputs.key, std::move(made));
  return result;
}

}  // namespace

IValue callGraphed(const FunctionCall& function) {
  // Modes include their key, too.
  if (tls_local_dispatch_key_set().included_ != default_included_set) return function.run(function.arguments);
  if (function.kept == nullptr) function.kept = std::make_shared<FunctionGraphs>();
  return call(function, *std::static_pointer_cast<FunctionGraphs>(function.kept));
}

}  // namespace boxcar::cuda
