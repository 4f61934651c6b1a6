// Counts what a prepared program asks the system for once it has run a few times: a network of convolutions and one
// with attention must map and unmap nothing, and the heap must not grow. Prints a line for each and fails otherwise.

#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/stack.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>

namespace {

std::atomic<int> mappings = 0;

}  // namespace

// In place of the C library's, for all libraries of the process.
extern "C" {
void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  ++mappings;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): what the system call returns
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}
int munmap(void* address, size_t bytes) noexcept {
  ++mappings;
  return static_cast<int>(syscall(SYS_munmap, address, bytes));
}
}

namespace boxcar {
namespace {

// Batches whose results take from 8 KiB to 8 MiB, residual sums and groups of pointwise operators among them.
constexpr const char* kNetworks = R"(
import "nn.ops"

fn random(int[] size) -> Tensor { return randn(size) * 0.05 }

fn make_images() -> Dict(str, Tensor) {
    net: Dict(str, Tensor) = {}
    add_conv2d(net, "first", 3, 64, 3)
    for name in ["a", "b", "c"] {
        add_conv2d(net, name, 64, 64, 3)
        add_batch_norm(net, name + ".norm", 64)
    }
    add_conv2d(net, "wide", 64, 256, 1)
    add_linear(net, "last", 256, 10)
    return net
}
fn images(Tensor x, Dict(str, Tensor) net) -> Tensor {
    x = conv2d_layer(x, net, "first", stride=2, padding=1).relu()
    y = batch_norm_layer(conv2d_layer(x, net, "a", padding=1), net, "a.norm", training=False).relu()
    y = batch_norm_layer(conv2d_layer(y, net, "b", padding=1), net, "b.norm", training=False)
    x = (x + y).relu()
    x = x * (batch_norm_layer(conv2d_layer(x, net, "c", padding=1), net, "c.norm", training=False).sigmoid() * 0.5)
    x = conv2d_layer(x, net, "wide", stride=2).relu()
    return linear_layer(x.mean([2, 3]), net, "last")
}
fn make_words() -> Dict(str, Tensor) {
    net: Dict(str, Tensor) = {}
    for name in ["q", "k", "v", "out"] { add_linear(net, name, 192, 192) }
    add_linear(net, "up", 192, 768)
    add_linear(net, "down", 768, 192)
    add_layer_norm(net, "norm", 192)
    return net
}
fn words(Tensor x, Dict(str, Tensor) net) -> Tensor {
    y = layer_norm_layer(x, net, "norm")
    q = linear_layer(y, net, "q").reshape([4, 128, 3, 64]).transpose(1, 2)
    k = linear_layer(y, net, "k").reshape([4, 128, 3, 64]).transpose(1, 2)
    v = linear_layer(y, net, "v").reshape([4, 128, 3, 64]).transpose(1, 2)
    y = scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape([4, 128, 192])
    x = x + linear_layer(y, net, "out")
    return x + linear_layer(linear_layer(x, net, "up").gelu(), net, "down")
}
fn image_batch() -> Tensor { return random([8, 3, 128, 128]) }
fn word_batch() -> Tensor { return random([4, 128, 192]) }
)";

size_t heapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.arena + info.hblkhd;
}

// Calls [name] and returns the result; it is gone before the next call.
void call(const Program& program, const std::string& name, const IValue& batch, const IValue& net) {
  Stack stack{batch, net};
  program.function(name).call(stack);
}

IValue made(const Program& program, const std::string& name) {
  Stack stack;
  program.function(name).call(stack);
  return stack.back();
}

bool check(const Program& program, const std::string& name, const std::string& batch_name) {
  // Without AVX-512, oneDNN's products take memory in each call, and the heap fits them after some 25 calls.
  constexpr int kFirst = 40;
  constexpr int kLater = 5;
  const IValue net = made(program, "make_" + name);
  const IValue batch = made(program, batch_name);
  for (int i = 0; i < kFirst; ++i) call(program, name, batch, net);
  const int mappings_before = mappings;
  const size_t heap_before = heapBytes();
  for (int i = 0; i < kLater; ++i) call(program, name, batch, net);
  const int mapped = mappings - mappings_before;
  const size_t heap = heapBytes();
  std::printf("%d later calls of %s map or unmap memory %d times; the heap has %zu bytes, before %zu\n", kLater,
              name.c_str(), mapped, heap, heap_before);
  return mapped == 0 && heap == heap_before;
}

}  // namespace
}  // namespace boxcar

int main() {
  using boxcar::check;
  boxcar::Program program = boxcar::Program::compile(boxcar::kNetworks, "networks.ops");
  program.prepare();
  program.run();
  const bool good = check(program, "images", "image_batch");
  return check(program, "words", "word_batch") && good ? 0 : 1;
}
