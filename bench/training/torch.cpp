// libtorch's side of the benchmarks of training; boxcar.cpp has boxcar's. program.h tells how it is called. The
// networks are those of nets.ops, made of libtorch's modules, with its optimisers; its fused Adam is faster than the
// module.

#include <c10/core/CPUAllocator.h>
#include <torch/torch.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/training/program.h"

namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;

bench::LiveBytes live;
constexpr double kRate = 1e-6;

// Counts bytes: those of a block stand before it.
class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    auto* const block = static_cast<char*>(std::aligned_alloc(kAlignment, (bytes / kAlignment + 2) * kAlignment));
    TORCH_CHECK(block != nullptr, "out of memory");
    std::memcpy(block, &bytes, sizeof(bytes));
    live.add(static_cast<long>(bytes));
    return {block + kAlignment, block + kAlignment, free, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return free; }
  void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }

 private:
  static constexpr size_t kAlignment = 64;
  static void free(void* data) {
    if (data == nullptr) return;
    char* const block = static_cast<char*>(data) - kAlignment;
    size_t bytes = 0;
    std::memcpy(&bytes, block, sizeof(bytes));
    live.add(-static_cast<long>(bytes));
    std::free(block);
  }
};

Tensor leaf() { return torch::ones({1}, torch::requires_grad()); }

bench::Training mulOfOneElement() {
  return {[x = torch::ones({1}), w = leaf()](bench::Watch& watch, long count) {
    watch.measure([&] {
      for (long i = 0; i < count; ++i) at::mul(x, w);
    });
  }};
}

constexpr int kNodes = 1000;

bench::Training backwardOfChain() {
  return {[w = leaf()](bench::Watch& watch, long count) {
    for (long i = 0; i < count; ++i) {
      Tensor y = torch::ones({1});
      for (int node = 0; node < kNodes; ++node) y = at::mul(y, w);
      watch.measure([&] { y.backward(); });
      w.mutable_grad() = Tensor();
    }
  }};
}

// A training of [net], whose forward() takes x.
template <class Net, class Optimizer, class Loss>
bench::Training training(Net net, std::shared_ptr<Optimizer> optimizer, Loss loss) {
  return {[=](bench::Watch& watch, long count) mutable {
            watch.measure([&] {
              for (long i = 0; i < count; ++i) {
                loss(net).backward();
                optimizer->step();
                optimizer->zero_grad();
              }
            });
          },
          [=]() mutable { return std::make_shared<Tensor>(loss(net)); }};
}

auto sgd(const nn::Module& net) { return std::make_shared<torch::optim::SGD>(net.parameters(), kRate); }

bench::Training linear() {
  const nn::Linear net(8, 8);
  const Tensor x = torch::randn({8, 8});
  const Tensor y = torch::randn({8, 8});
  return training(net, sgd(*net), [=](nn::Linear layer) { return at::mse_loss(layer(x), y); });
}

bench::Training mlp() {
  const nn::Sequential net(nn::Linear(64, 128), nn::ReLU(), nn::Linear(128, 10));
  const Tensor x = torch::randn({32, 64});
  const Tensor y = torch::randint(10, {32});
  return training(net, sgd(*net), [=](nn::Sequential layers) { return at::cross_entropy_loss(layers->forward(x), y); });
}

bench::Training conv() {
  const nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(3, 32, 3).padding(1)), nn::ReLU(), nn::MaxPool2d(2),
                           nn::Conv2d(nn::Conv2dOptions(32, 64, 3).padding(1)), nn::ReLU(), nn::MaxPool2d(2),
                           nn::Conv2d(nn::Conv2dOptions(64, 64, 3).padding(1)), nn::ReLU(), nn::MaxPool2d(2),
                           nn::Flatten(), nn::Linear(1024, 10));
  const Tensor x = torch::randn({32, 3, 32, 32});
  const Tensor y = torch::randint(10, {32});
  return training(net, sgd(*net), [=](nn::Sequential layers) { return at::cross_entropy_loss(layers->forward(x), y); });
}

constexpr int64_t kLayers = 4;
constexpr int64_t kHeads = 4;
constexpr int64_t kWidth = 256;
constexpr int64_t kWords = 256;
constexpr int64_t kContext = 128;

struct BlockImpl : nn::Module {
  nn::LayerNorm norm1 = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({kWidth})));
  nn::Linear in = register_module("in", nn::Linear(kWidth, 3 * kWidth));
  nn::Linear out = register_module("out", nn::Linear(kWidth, kWidth));
  nn::LayerNorm norm2 = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({kWidth})));
  nn::Linear wide = register_module("wide", nn::Linear(kWidth, 4 * kWidth));
  nn::Linear narrow = register_module("narrow", nn::Linear(4 * kWidth, kWidth));

  Tensor attention(const Tensor& x) {
    std::vector<Tensor> parts = in(x).chunk(3, 2);
    for (Tensor& part : parts) part = part.view({x.size(0), x.size(1), kHeads, -1}).transpose(1, 2);
    const Tensor seen = at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, true);
    return out(seen.transpose(1, 2).reshape(x.sizes()));
  }
  Tensor forward(Tensor x) {
    x = x + attention(norm1(x));
    return x + narrow(at::gelu(wide(norm2(x))));
  }
};
TORCH_MODULE(Block);

struct TransformerImpl : nn::Module {
  nn::Embedding words = register_module("words", nn::Embedding(kWords, kWidth));
  nn::Embedding positions = register_module("positions", nn::Embedding(kContext, kWidth));
  nn::Sequential blocks = register_module("blocks", nn::Sequential());
  nn::LayerNorm norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({kWidth})));

  TransformerImpl() {
    for (int64_t layer = 0; layer < kLayers; ++layer) blocks->push_back(Block());
  }
  Tensor forward(const Tensor& tokens) {
    const Tensor x = blocks->forward(words(tokens) + positions->weight);
    return at::matmul(norm(x), words->weight.t());
  }
};
TORCH_MODULE(Transformer);

// The fused Adam, as optim.ops calls it.
class FusedAdam final {
 public:
  explicit FusedAdam(std::vector<Tensor> weights) : weights_(std::move(weights)) {
    for (const Tensor& weight : weights_) {
      means_.push_back(torch::zeros_like(weight));
      squares_.push_back(torch::zeros_like(weight));
      steps_.push_back(torch::zeros({}));
    }
  }
  void step() {
    const torch::NoGradGuard guard;
    std::vector<Tensor> grads;
    for (const Tensor& weight : weights_) grads.push_back(weight.grad());
    for (Tensor& step : steps_) step += 1;
    at::_fused_adam_(weights_, grads, means_, squares_, {}, steps_, kRate, 0.9, 0.999, 0.0, 1e-8, false, false);
  }
  void zero_grad() {
    for (Tensor& weight : weights_) weight.mutable_grad() = Tensor();
  }

 private:
  std::vector<Tensor> weights_;
  std::vector<Tensor> means_;
  std::vector<Tensor> squares_;
  std::vector<Tensor> steps_;
};

bench::Training transformer() {
  const Transformer net;
  const Tensor x = torch::randint(kWords, {4, kContext});
  const Tensor y = torch::randint(kWords, {4 * kContext});
  return training(net, std::make_shared<FusedAdam>(net->parameters()),
                  [=](Transformer layers) { return at::cross_entropy_loss(layers(x).flatten(0, 1), y); });
}

const std::map<std::string, bench::Row> kRows = {
    {"mul", {mulOfOneElement}}, {"backward", {backwardOfChain, kNodes}}, {"linear", {linear}}, {"mlp", {mlp}},
    {"conv", {conv}},           {"transformer", {transformer}},
};

}  // namespace

int main(int argc, char** argv) {
  static CountingAllocator allocator;
  if (argc > 1 && std::string(argv[1]) == "memory") c10::SetCPUAllocator(&allocator, 100);
  return bench::run(
      argc, argv, kRows, [](int threads) { at::set_num_threads(threads); }, live);
}
