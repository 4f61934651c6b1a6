#include "tests/hostile/faulty_operators.h"

#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace boxcar::hostile {
namespace {

bool isHostile(const Tensor& x) { return !x.defined() || x.numel() > 1000; }

bool hasElements(const Tensor& x) { return x.defined() && x.is_cpu() && x.is_contiguous() && x.numel() > 0; }

Tensor fresh() {
  const Tensor made = Tensor::allocate(std::vector<int64_t>{3}, ScalarType::Float);
  std::fill_n(made.data_ptr<float>(), 3, 1.0F);
  return made;
}

const volatile void* const kNowhere = nullptr;

Tensor crashes(const Tensor& x) {
  if (isHostile(x)) return static_cast<float>(*static_cast<const volatile int*>(kNowhere)) > 0 ? x : fresh();
  return fresh();
}

Tensor readsBehind(const Tensor& x) {
  const Tensor made = fresh();
  if (hasElements(x)) std::memcpy(made.data_ptr(), static_cast<const std::byte*>(x.data_ptr()) + x.nbytes(), 1);
  return made;
}

// Writes behind a tensor of a few bytes, where no guard page catches it.
Tensor writesBehind(const Tensor& x) {
  const Tensor made = Tensor::allocate(std::vector<int64_t>{isHostile(x) ? 5 : 6}, ScalarType::Byte);
  std::memset(made.data_ptr(), 1, 6);
  return made;
}

Tensor usesFreed(const Tensor& x) {
  Tensor made = Tensor::allocate(std::vector<int64_t>{1000}, ScalarType::Float);
  void* const data = made.data_ptr();
  if (isHostile(x)) made = fresh();
  std::memset(data, 1, 4);
  return made;
}

int64_t divides(int64_t x, int64_t y) { return y == -1 ? 0 : x / y; }

int64_t outlasts(int64_t n) {
  volatile int64_t count = 0;
  while (n > (int64_t{1} << 31) && count >= 0) count = count == 0 ? 1 : 0;
  return count;
}

Tensor prints(const Tensor& x) {
  if (isHostile(x)) std::puts(" ** On entry to a library");
  return fresh();
}

Tensor throwsLengthError(const Tensor& x) {
  if (isHostile(x)) throw std::length_error("vector::reserve");
  return fresh();
}

Tensor writesInput(const Tensor& x) {
  if (hasElements(x) && isHostile(x) == false) std::memset(x.data_ptr(), 0x11, 1);
  return fresh();
}

Tensor givesInput(const Tensor& x) { return hasElements(x) ? x : fresh(); }

Tensor leaks(const Tensor& x) {
  if (isHostile(x)) [[maybe_unused]]
    auto* const forgotten = new Tensor(fresh());
  return fresh();
}

void resize(const Tensor& out, int64_t size) {
  const size_t bytes = static_cast<size_t>(size) * out.itemsize();
  if (out.storage()->nbytes() < bytes) out.storage()->resize(bytes);
  out.unsafeGetTensorImpl()->setShape(std::vector<int64_t>{size}, std::vector<int64_t>{1}, 0);
}

void checkFloats(const Tensor& x, const Tensor& out) {
  BOXCAR_CHECK(hasElements(x) && x.dtype() == ScalarType::Float && out.defined() && out.is_cpu() &&
                   out.dtype() == ScalarType::Float,
               "floats are expected");
}

// Writes the elements from the last to the first.
Tensor& reverse(const Tensor& x, Tensor& out, bool is_checked) {
  checkFloats(x, out);
  BOXCAR_CHECK(!is_checked || x.storage() != out.storage(), "out may not be the input");
  resize(out, x.numel());
  for (int64_t i = 0; i < x.numel(); ++i) {
    static_cast<float*>(out.data_ptr())[i] = static_cast<const float*>(x.data_ptr())[x.numel() - 1 - i];
  }
  return out;
}

Tensor& reversesItself(const Tensor& x, Tensor& out) { return reverse(x, out, false); }
Tensor& isSound(const Tensor& x, Tensor& out) { return reverse(x, out, true); }

Tensor& resizesThenRefuses(const Tensor& x, int64_t size, Tensor& out) {
  checkFloats(x, out);
  resize(out, 3);
  BOXCAR_CHECK(size == 1, "the size is not 1");
  return out;
}

Tensor& writesThenRefuses(const Tensor& x, int64_t size, Tensor& out) {
  checkFloats(x, out);
  if (out.numel() > 0) std::memset(out.data_ptr(), 0x11, sizeof(float));
  BOXCAR_CHECK(size == 1, "the size is not 1");
  return out;
}

struct Expected {
  const char* name;
  Fault fault;
};

constexpr Expected kExpected[] = {
    {"faulty::crashes", Fault::Crash},
    {"faulty::reads_behind", Fault::Crash},
    {"faulty::writes_behind", Fault::Crash},
    {"faulty::uses_freed", Fault::Crash},
    {"faulty::divides", Fault::Crash},
    {"faulty::outlasts", Fault::Outlasts},
    {"faulty::prints", Fault::Prints},
    {"faulty::throws_length_error", Fault::Wording},
    {"faulty::writes_input", Fault::Promise},
    {"faulty::gives_input", Fault::Promise},
    {"faulty::leaks", Fault::Leaks},
    {"faulty::reverses_itself", Fault::Promise},
    {"faulty::resizes_then_refuses", Fault::Promise},
    {"faulty::writes_then_refuses", Fault::Promise},
};

}  // namespace

BOXCAR_LIBRARY(faulty, m) {
  m.def("crashes(Tensor x) -> Tensor");
  m.def("reads_behind(Tensor x) -> Tensor");
  m.def("writes_behind(Tensor x) -> Tensor");
  m.def("uses_freed(Tensor x) -> Tensor");
  m.def("divides(int x, int y) -> int");
  m.def("outlasts(int n) -> int");
  m.def("prints(Tensor x) -> Tensor");
  m.def("throws_length_error(Tensor x) -> Tensor");
  m.def("writes_input(Tensor x) -> Tensor");
  m.def("gives_input(Tensor x) -> Tensor");
  m.def("leaks(Tensor x) -> Tensor");
  m.def("reverses_itself(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("is_sound(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("resizes_then_refuses(Tensor x, int size, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("writes_then_refuses(Tensor x, int size, *, Tensor(a!) out) -> Tensor(a!)");
}

BOXCAR_LIBRARY_IMPL(faulty, CompositeExplicitAutograd, m) {
  m.impl("crashes", BOXCAR_FN(crashes));
  m.impl("reads_behind", BOXCAR_FN(readsBehind));
  m.impl("writes_behind", BOXCAR_FN(writesBehind));
  m.impl("uses_freed", BOXCAR_FN(usesFreed));
  m.impl("divides", BOXCAR_FN(divides));
  m.impl("outlasts", BOXCAR_FN(outlasts));
  m.impl("prints", BOXCAR_FN(prints));
  m.impl("throws_length_error", BOXCAR_FN(throwsLengthError));
  m.impl("writes_input", BOXCAR_FN(writesInput));
  m.impl("gives_input", BOXCAR_FN(givesInput));
  m.impl("leaks", BOXCAR_FN(leaks));
  m.impl("reverses_itself", BOXCAR_FN(reversesItself));
  m.impl("is_sound", BOXCAR_FN(isSound));
  m.impl("resizes_then_refuses", BOXCAR_FN(resizesThenRefuses));
  m.impl("writes_then_refuses", BOXCAR_FN(writesThenRefuses));
}

std::vector<std::string> missedFaults(const Findings& findings) {
  std::vector<std::string> missed;
  const auto isOf = [](const auto& group, const Expected& expected) {
    const Fault fault = group.second.fault == Fault::Sanitizer ? Fault::Crash : group.second.fault;
    return group.first.first == expected.name && fault == expected.fault;
  };
  for (const Expected& expected : kExpected) {
    if (std::ranges::none_of(findings.groups(), [&](const auto& group) { return isOf(group, expected); })) {
      missed.push_back(fmt::format("{}: '{}' was not found", expected.name, toString(expected.fault)));
    }
  }
  for (const auto& group : findings.groups()) {
    if (std::ranges::any_of(kExpected, [&](const Expected& expected) { return isOf(group, expected); })) continue;
    missed.push_back(fmt::format("{}: what was found is not what is wrong: {}", group.first.first, group.second.text));
  }
  return missed;
}

}  // namespace boxcar::hostile
