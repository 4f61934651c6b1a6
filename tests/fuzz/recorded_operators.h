#pragma once

// Quick operators for recordings. Together they take and return every kind of value.

#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/default_generators.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace boxcar::fuzz {

inline float* floatsOf(const Tensor& x) {
  BOXCAR_CHECK(x.defined() && x.is_cpu() && x.dtype() == ScalarType::Float && x.is_contiguous(),
               "the tensor is none of contiguous float32 on the CPU");
  return static_cast<float*>(x.data_ptr());
}

inline Tensor addTensors(const Tensor& x, const Tensor& y) {
  const float *a = floatsOf(x), *b = floatsOf(y);
  BOXCAR_CHECK(std::ranges::equal(x.sizes(), y.sizes()), "the tensors have other sizes");
  const Tensor sum = Tensor::allocate(std::vector<int64_t>(x.sizes().begin(), x.sizes().end()), ScalarType::Float);
  std::transform(a, a + x.numel(), b, floatsOf(sum), [](float one, float other) { return one + other; });
  return sum;
}

inline Tensor& fill(Tensor& x, const Scalar& value) {
  std::fill_n(floatsOf(x), x.numel(), value.to<float>());
  return x;
}

inline Tensor draw(const Tensor& x, const std::optional<Generator>& generator) {
  const Generator from = generator ? *generator : defaultGenerator(Device(DeviceType::CPU));
  GeneratorState state = from.unsafeGetGeneratorImpl()->state();
  const Tensor drawn = Tensor::allocate(std::vector<int64_t>(x.sizes().begin(), x.sizes().end()), ScalarType::Float);
  std::fill_n(floatsOf(drawn), drawn.numel(), static_cast<float>(state.seed % 100));
  ++state.drawn;
  from.unsafeGetGeneratorImpl()->set_state(state);
  return drawn;
}

inline Library registerRecordedOperators() {
  Library m(Library::FRAGMENT, "fuzz", std::nullopt, "recorded_operators.h", 1);
  m.def("add(Tensor x, Tensor y) -> Tensor", &addTensors);
  m.def("fill_(Tensor(a!) x, Scalar value) -> Tensor(a!)", &fill);
  m.def("view(Tensor(a) x) -> Tensor(a)", [](const Tensor& x) { return x; });
  m.def("draw(Tensor x, *, Generator? generator=None) -> Tensor", &draw, {Tag::nondeterministic_seeded});
  m.def("any(Any x) -> Any", [](const IValue& x) { return x; });
  m.def(
      "lists(Tensor[] x, int[] n, float[] f, bool[] b, Dict(str, Tensor) d, str s) -> (Tensor[], Dict(str, Tensor), "
      "str)",
      [](TensorList x, std::span<const int64_t>, std::span<const double>, const List<bool>&,
         const Dict<std::string, Tensor>& d,
         std::string_view s) { return std::tuple(std::vector<Tensor>(x.begin(), x.end()), d, std::string(s)); });
  m.def("maybe(Tensor x, Tensor? y=None, *, Tensor?[] z) -> (Tensor, Tensor?[])",
        [](const Tensor& x, const std::optional<Tensor>& y, const List<std::optional<Tensor>>& z) {
          return std::tuple(y ? *y : x, z);
        });
  m.def("fails(Device device, ScalarType? dtype=None) -> ()",
        [](Device device, std::optional<ScalarType>) { BOXCAR_FAIL("nothing can be done on '{}'", device); });
  return m;
}

}  // namespace boxcar::fuzz
