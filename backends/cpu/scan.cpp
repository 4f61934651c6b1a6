#include <boxcar/backends/cpu/lines.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/backends/native/scan.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace boxcar::cpu {
namespace {

// Combines four elements before adding the carried value, to shorten the dependency chain.
template <class Op, class T>
void scanLine(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t count) {
  using A = ScanType<T>;
  const auto load = [&](int64_t i) {
    return static_cast<A>(static_cast<Compute<T>>(*reinterpret_cast<const T*>(in + i * in_step)));
  };
  const auto store = [&](int64_t i, A value) {
    *reinterpret_cast<T*>(out + i * out_step) = static_cast<T>(static_cast<Compute<T>>(value));
  };
  A carried = Op::template identity<A>();
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const A a = load(i);
    const A b = load(i + 1);
    const A c = load(i + 2);
    const A d = load(i + 3);
    const A ab = Op::merge(a, b);
    const A abc = Op::merge(ab, c);
    const A abcd = Op::merge(ab, Op::merge(c, d));
    store(i, Op::merge(carried, a));
    store(i + 1, Op::merge(carried, ab));
    store(i + 2, Op::merge(carried, abc));
    carried = Op::merge(carried, abcd);
    store(i + 3, carried);
  }
  for (; i < count; ++i) {
    carried = Op::merge(carried, load(i));
    store(i, carried);
  }
}

// Scans [width] adjacent lines, at most kBundle.
template <class Op, class T>
void scanBundle(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t count, int64_t width) {
  using A = ScanType<T>;
  A carried[kBundle];
  std::fill_n(carried, width, Op::template identity<A>());
  for (int64_t i = 0; i < count; ++i) {
    const T* from = reinterpret_cast<const T*>(in + i * in_step);
    T* to = reinterpret_cast<T*>(out + i * out_step);
#pragma GCC ivdep
    for (int64_t k = 0; k < width; ++k) {
      carried[k] = Op::merge(carried[k], static_cast<A>(static_cast<Compute<T>>(from[k])));
      to[k] = static_cast<T>(static_cast<Compute<T>>(carried[k]));
    }
  }
}

template <class Op>
void scan(std::string_view name, const Tensor& out, const Tensor& in, size_t dim) {
  visitScalarType(kAllTypes, in.scalar_type(), name, [&]<class T>(std::type_identity<T>) {
    const int64_t count = lineLength(in, dim);
    const int64_t in_step = lineStep(in, dim);
    const int64_t out_step = lineStep(out, dim);
    forEachBundle(dim, {&in, &out}, [&](char* const* line, int64_t width, bool beside) {
      // A single line whose neighbours went to another thread also uses scanBundle: sums must not depend on where the
      // lines are split.
      if (!beside) return scanLine<Op, T>(line[0], in_step, line[1], out_step, count);
      scanBundle<Op, T>(line[0], in_step, line[1], out_step, count, width);
    });
  });
}

void scanLogSumExp(std::string_view name, const Tensor& out, const Tensor& in, size_t dim) {
  using Op = ScanStep<Scan::kLogSumExp>;
  visitScalarType(kFloatingTypes + kComplexTypes, in.scalar_type(), name, [&]<class T>(std::type_identity<T>) {
    using A = ScanType<T>;
    const int64_t in_step = lineStep(in, dim);
    const int64_t out_step = lineStep(out, dim);
    forEachLine(dim, {&in, &out}, [&](char* const* line) {
      A carried = Op::identity<A>();
      for (int64_t i = 0; i < lineLength(in, dim); ++i) {
        const auto x = static_cast<Compute<T>>(*reinterpret_cast<const T*>(line[0] + i * in_step));
        carried = Op::merge(carried, static_cast<A>(x));
        *reinterpret_cast<T*>(line[1] + i * out_step) = static_cast<T>(static_cast<Compute<T>>(carried));
      }
    });
  });
}

void scanEachLine(std::string_view name, Scan how, const Tensor& out, const Tensor& self, size_t dim) {
  switch (how) {
    case Scan::kSum: return scan<ScanStep<Scan::kSum>>(name, out, self, dim);
    case Scan::kProd: return scan<ScanStep<Scan::kProd>>(name, out, self, dim);
    case Scan::kLogSumExp: return scanLogSumExp(name, out, self, dim);
  }
}

// Finds the position of the maximum, or minimum, so far.
template <class T, bool greatest>
void extremeLine(char* const* line, const int64_t* steps, int64_t count) {
  const auto load = [&](int64_t i) { return *reinterpret_cast<const T*>(line[0] + i * steps[0]); };
  int64_t best = 0;
  auto best_value = static_cast<Compute<T>>(load(0));
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<Compute<T>>(load(i));
    if (followsAsExtreme<greatest>(best_value, value)) {
      best = i;
      best_value = value;
    }
    *reinterpret_cast<T*>(line[1] + i * steps[1]) = load(best);
    *reinterpret_cast<int64_t*>(line[2] + i * steps[2]) = best;
  }
}

void extremesOfLines(bool greatest, const Tensor& values, const Tensor& indices, const Tensor& self, size_t dim) {
  visitScalarType(kRealAndBoolTypes, self.scalar_type(), greatest ? "cummax" : "cummin",
                  [&]<class T>(std::type_identity<T>) {
                    const int64_t steps[] = {lineStep(self, dim), lineStep(values, dim), lineStep(indices, dim)};
                    forEachLine(dim, {&self, &values, &indices}, [&](char* const* line) {
                      if (greatest) return extremeLine<T, true>(line, steps, lineLength(self, dim));
                      extremeLine<T, false>(line, steps, lineLength(self, dim));
                    });
                  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, scanLines, cpu::scanEachLine)
BOXCAR_REGISTER_STUB(CPU, scanExtremes, cpu::extremesOfLines)

}  // namespace boxcar::native
