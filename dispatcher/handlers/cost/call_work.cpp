#include <boxcar/dispatcher/handlers/cost/call_work.h>
#include <boxcar/ivalue/value_tensors.h>

#include <algorithm>
#include <vector>

namespace boxcar {
namespace {

// An expanded tensor's elements are in memory only once.
double bytesOf(const Tensor& tensor) {
  return static_cast<double>(std::min(tensor.nbytes(), tensor.storage()->nbytes()));
}

struct Traffic {
  double read = 0;
  double written = 0;
  double elements = 0;  // of what is written
};

// An `out` is only written; any other written argument is also read. A result that shares an argument's memory is that
// argument or a view of it: if there are no other results and no writes, elements were neither read nor written.
Traffic trafficOf(const FunctionSchema& schema, const FinishedCall& call) {
  Traffic traffic;
  std::vector<const StorageImpl*> known;
  bool writes_argument = false;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const bool is_write = i < schema.arguments().size() && schema.arguments()[i].is_write();
    const bool is_out = is_write && schema.arguments()[i].is_out();
    writes_argument = writes_argument || is_write;
    visitTensors(call.arguments[i], [&](const Tensor& tensor) {
      known.push_back(tensor.storage().get());
      if (!is_out) traffic.read += bytesOf(tensor);
      if (!is_write) return;
      traffic.written += bytesOf(tensor);
      traffic.elements += static_cast<double>(tensor.numel());
    });
  }
  bool gives_views = false;
  bool gives_new = false;
  for (const IValue& value : call.results) {
    visitTensors(value, [&](const Tensor& tensor) {
      if (std::ranges::find(known, tensor.storage().get()) != known.end()) {
        gives_views = true;
        return;
      }
      gives_new = true;
      traffic.written += bytesOf(tensor);
      traffic.elements += static_cast<double>(tensor.numel());
    });
  }
  if (gives_views && !gives_new && !writes_argument) return {};
  return traffic;
}

}  // namespace

OperatorCost workOfCall(const OperatorHandle& op, const FinishedCall& call) {
  OperatorCost cost;
  if (const CostFunction function = findCost(toString(op))) {
    try {
      cost = function(call);
    } catch (const std::exception&) {
      // The function was written for other arguments and cannot handle these.
      cost = {};
    }
  }
  if (cost.flops && cost.bytes) return cost;
  const Traffic traffic = trafficOf(op.schema(), call);
  if (!cost.bytes) cost.bytes = traffic.read + traffic.written;
  if (!cost.flops && op.hasTag(Tag::pointwise)) cost.flops = traffic.elements;
  // A call that moves no bytes computes nothing.
  if (!cost.flops && traffic.read + traffic.written == 0) cost.flops = 0;
  return cost;
}

}  // namespace boxcar
