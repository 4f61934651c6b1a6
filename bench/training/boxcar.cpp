// boxcar's side of the benchmarks of training; torch.cpp has libtorch's. program.h tells how it is called.

#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/storage_observer.h>
#include <boxcar/ops.h>

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "bench/training/program.h"

namespace {

using boxcar::IValue;
using boxcar::Stack;
using boxcar::Tensor;

bench::LiveBytes live;
const boxcar::StorageObserver kObserver = {
    [](void*, const boxcar::StorageImpl&, size_t bytes) { live.add(static_cast<long>(bytes)); },
    [](void*, const boxcar::StorageImpl&, size_t bytes) { live.add(-static_cast<long>(bytes)); }, nullptr};

Tensor leaf() {
  Tensor w = boxcar::ones({1});
  boxcar::autograd::setRequiresGrad(w);
  return w;
}

bench::Training mulOfOneElement() {
  return {[x = boxcar::ones({1}), w = leaf()](bench::Watch& watch, long count) {
    watch.measure([&] {
      for (long i = 0; i < count; ++i) boxcar::mul(x, w);
    });
  }};
}

constexpr int kNodes = 1000;

bench::Training backwardOfChain() {
  return {[w = leaf()](bench::Watch& watch, long count) {
    for (long i = 0; i < count; ++i) {
      Tensor y = boxcar::ones({1});
      for (int node = 0; node < kNodes; ++node) y = boxcar::mul(y, w);
      watch.measure([&] { boxcar::autograd::backward({{y}}); });
      boxcar::autograd::setGrad(w, {});
    }
  }};
}

const boxcar::Program& nets() {
  static const boxcar::Program program = [] {
    boxcar::Program loaded = boxcar::Program::load(TRAINING_NETS);
    loaded.run();  // sets the constants
    return loaded;
  }();
  return program;
}

IValue call(const std::string& function, std::initializer_list<IValue> arguments) {
  Stack stack;
  for (const IValue& argument : arguments) stack.push_back(argument);
  nets().function(function).call(stack);
  return stack.empty() ? IValue() : stack.back();
}

// A training of nets.ops.
bench::Training training(const std::string& name, Tensor x, Tensor y) {
  const IValue net = call("make_" + name, {});
  const IValue state = call("no_state", {});
  return {[=](bench::Watch& watch, long count) {
            watch.measure([&] { call(name + "_steps", {net, state, x, y, static_cast<int64_t>(count)}); });
          },
          [=] {
            return std::make_shared<IValue>(call(name + "_loss", {net, x, y}));
          }};
}

const std::map<std::string, bench::Row> kRows = {
    {"mul", {mulOfOneElement}},
    {"backward", {backwardOfChain, kNodes}},
    {"linear", {[] {
       return training("linear", boxcar::randn({8, 8}), boxcar::randn({8, 8}));
     }}},
    {"mlp", {[] {
       return training("mlp", boxcar::randn({32, 64}), boxcar::randint(10, {32}));
     }}},
    {"conv", {[] {
       return training("conv", boxcar::randn({32, 3, 32, 32}), boxcar::randint(10, {32}));
     }}},
    {"transformer", {[] {
       return training("transformer", boxcar::randint(256, {4, 128}), boxcar::randint(256, {512}));
     }}},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "memory") boxcar::setStorageObserver(&kObserver);
  return bench::run(
      argc, argv, kRows, [](int threads) { boxcar::cpu::setThreadCount(threads); }, live);
}
