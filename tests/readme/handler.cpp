#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/ops.h>

#include <atomic>
#include <iostream>

using namespace boxcar;

class Counter final : public Handler {
 public:
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override {
    ++calls_;
    op.redispatchBoxed(keys, stack);
  }
  std::string finish(bool) override { return std::to_string(calls_) + " calls\n"; }

 private:
  std::atomic<int> calls_ = 0;
};

constinit const HandlerKind kCountKind = {
    "count() -> ()", "Count the operator calls",
    [](std::span<const IValue>) -> std::unique_ptr<Handler> { return std::make_unique<Counter>(); }};

int main() {
  const std::unique_ptr<Handler> counter = kCountKind.make({});
  {
    const HandlerGuard on(*counter);
    std::cout << relu(sub(ones({2}), 2.0)) << "\n";
  }
  std::cout << counter->finish(false);
}
