// Counts the allocations of a running script, with `new` and for tensors. An operator call must allocate no more than
// its kernel does; a function call, a loop and arithmetic must allocate nothing. Prints a line for each and fails
// otherwise.

#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/cached_memory.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

namespace {

size_t allocations = 0;

void* count(void* memory) {
  ++allocations;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return count(std::malloc(size == 0 ? 1 : size)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

// Replaces the library's functions, whose cache would hide allocations.
namespace boxcar {

void* allocateCached(size_t bytes) { return count(std::aligned_alloc(64, (bytes + 64) / 64 * 64)); }
void freeCached(void* memory, size_t) noexcept { std::free(memory); }

}  // namespace boxcar

BOXCAR_LIBRARY(allocations, m) {
  m.def("first(Tensor a, Tensor b, float scale=1.0) -> Tensor",
        [](const boxcar::Tensor& a, const boxcar::Tensor&, double) { return a; });
  m.def("made(Tensor a) -> Tensor", [](const boxcar::Tensor& a) {
    return boxcar::Tensor::allocate(std::vector<int64_t>{a.numel()}, a.scalar_type());
  });
}

namespace boxcar {
namespace {

// Returns the allocations per round of a loop with [body], after a warm-up.
double perRound(const char* body) {
  const Program program = Program::compile(
      std::string("fn square(int x) -> int { return x * x }\nfn keep(Tensor x, str s) -> Tensor { return x }\n"
                  "fn work(int n) -> () {\n a = ones([2]); b = ones([2]); total = 0; half = 0.0; xs = [1, 2, 3]\n"
                  " for i in range(n) {\n") +
          body + "\n }\n}\n",
      "allocations.ops");
  const auto work = program.function("work");
  Stack stack;
  const auto count = [&](int64_t rounds) {
    push(stack, rounds);
    const size_t before = allocations;
    work.call(stack);
    return static_cast<double>(allocations - before);
  };
  count(10);
  const double few = count(100);
  return (count(1100) - few) / 1000;
}

bool check(const char* what, const char* body, double least = 0, double most = 0) {
  const double found = perRound(body);
  std::printf("%-40s %.3f allocations\n", what, found);
  return least <= found && found <= most;
}

}  // namespace
}  // namespace boxcar

int main() {
  using boxcar::check;
  bool good = check("an operator call", "a = allocations::first(a, b)");
  good = check("an operator call with a keyword", "a = allocations::first(a, b, scale=2.5)") && good;
  // Counts the shape that the kernel passes, the tensor and its data, including memory from the cache.
  good = check("an operator call that makes a tensor", "a = allocations::made(a)", 2, 3) && good;
  good = check("a function call", "total = total + square(i)") && good;
  good = check("a function call with values", "a = keep(a, \"text\")") && good;
  good = check("arithmetic and conditions", "if i % 3 == 0 { half += total / 2 } else { total += xs[i % 3] }") && good;
  return good ? 0 : 1;
}
