// Measures the memory of registrations. A million that come and go must leave nothing. 10,000 operators with a
// definition and a kernel each must take less than 25 MB, with little beside their schemas.

#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/schema/parse_schema.h>
#include <fmt/format.h>
#include <malloc.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace boxcar;

size_t bytesInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Registers, calls and removes [rounds] times a kernel with state, a boxed one, a fallback and an operator.
void replace(int rounds) {
  const Tensor x = Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float);
  const OperatorHandle replaced = Dispatcher::singleton().findSchemaOrThrow("memory::replaced", "");
  const auto boxedKernel = [](int n) {
    return CppFunction::makeFromBoxedFunctor([n](const OperatorHandle&, Stack& stack) { stack.back() = IValue(n); });
  };
  for (int i = 0; i < rounds; ++i) {
    Library m(Library::FRAGMENT, "memory", std::nullopt, "memory_cost.cpp", 2);
    m.impl("replaced", dispatch(DispatchKey::CPU, [i](const Tensor&) { return int64_t{i}; }));
    if (replaced.typed<int64_t(const Tensor&)>().call(x) != i) std::abort();
    m.impl("replaced", dispatch(DispatchKey::CPU, boxedKernel(i + 1)));
    Stack stack{IValue(x)};
    replaced.callBoxed(stack);
    if (stack.back().toInt() != i + 1) std::abort();
    m.def("short_lived(Tensor x) -> int", [i](const Tensor&) { return int64_t{i}; });
    Library fallback(Library::IMPL, "_", DispatchKey::VmapMode, "memory_cost.cpp", 3);
    fallback.fallback(boxedKernel(i));
  }
}

bool replacementsLeaveNothing() {
  constexpr int kRounds = 250000;
  constexpr size_t kMost = size_t{64} * 1024;
  Library m(Library::FRAGMENT, "memory", std::nullopt, "memory_cost.cpp", 1);
  m.def("replaced(Tensor x) -> int");
  replace(1000);
  const size_t before = bytesInUse();
  replace(kRounds);
  const size_t after = bytesInUse();
  const size_t left = after < before ? 0 : after - before;
  fmt::print("{} replacements leave {} bytes (at most {})\n", 4 * kRounds, left, kMost);
  return left <= kMost;
}

// Returns the bytes of one schema, averaged over [count] operators.
size_t bytesOfSchema(size_t count) {
  std::vector<FunctionSchema> schemas;
  const size_t before = bytesInUse();
  schemas.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    schemas.push_back(parseSchema(
        fmt::format("memory::operator_{}.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", i)));
  }
  return (bytesInUse() - before) / count;
}

bool operatorsAreSmall() {
  constexpr size_t kOperators = 10000;
  constexpr size_t kMost = 25'000'000;
  constexpr size_t kMostBesideSchema = 1600;  // the measured value, rounded up
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
  const size_t of_schema = bytesOfSchema(kOperators);
  const size_t beside_schema = bytes / kOperators - of_schema;
  fmt::print("{} bytes each beside the schema's {} (at most {})\n", beside_schema, of_schema, kMostBesideSchema);
  return bytes < kMost && beside_schema <= kMostBesideSchema;
}

}  // namespace

int main() {
  const bool bounded = replacementsLeaveNothing();
  return operatorsAreSmall() && bounded ? 0 : 1;
}
