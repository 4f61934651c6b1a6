// What 10,000 operators with a definition and a kernel each take: prints it, and fails above 25 MB.

#include <boxcar/dispatcher/library.h>
#include <fmt/format.h>
#include <malloc.h>

#include <cstdio>
#include <string>

namespace {

using namespace boxcar;

size_t bytesInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace

int main() {
  constexpr size_t kOperators = 10000;
  constexpr size_t kMost = 25'000'000;
  Library m(Library::FRAGMENT, "memory", std::nullopt, "memory_cost.cpp", 1);
  m.def("warm(Tensor a) -> Tensor");
  const size_t before = bytesInUse();
  for (size_t i = 0; i < kOperators; ++i) {
    const std::string name = fmt::format("operator_{}", i);
    m.def(name + ".Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
    m.impl(name + ".Tensor",
           dispatch(DispatchKey::CPU, [](const Tensor& self, const Tensor&, const Scalar&) { return self; }));
    static_cast<void>(Dispatcher::singleton().findSchemaOrThrow(("memory::" + name).c_str(), "Tensor"));
  }
  const size_t bytes = bytesInUse() - before;
  fmt::print("{} operators take {} bytes, {} each, of them {} an OperatorEntry (at most {} in all)\n", kOperators,
             bytes, bytes / kOperators, sizeof(OperatorEntry), kMost);
  return bytes < kMost ? 0 : 1;
}
