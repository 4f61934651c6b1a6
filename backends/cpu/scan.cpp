#include <boxcar/backends/cpu/indexed_loop.h>
#include <boxcar/backends/cpu/lines.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/dense/write_out.h>
#include <boxcar/backends/elements/arithmetic.h>
#include <boxcar/backends/shape/sorting.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>

// Operators whose every result is made of the elements up to it along one dimension.

namespace boxcar::cpu {
namespace {

using OptionalType = std::optional<ScalarType>;

// Sums and products of float32 are carried on in float64, as PyTorch does.
template <class T>
struct Wide {
  using type = T;
};
template <>
struct Wide<float> {
  using type = double;
};
template <>
struct Wide<std::complex<float>> {
  using type = std::complex<double>;
};

struct Sums {
  template <class A>
  static A identity() {
    return A(0);
  }
  template <class A>
  static A merge(A a, A b) {
    return addElements(a, b);
  }
};
struct Products {
  template <class A>
  static A identity() {
    return A(1);
  }
  template <class A>
  static A merge(A a, A b) {
    return multiplyElements(a, b);
  }
};

// Four elements are joined before they meet what was carried on, so that one does not wait for the other.
template <class Op, class T>
void scanLine(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t count) {
  using A = typename Wide<Compute<T>>::type;
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

// [width] lines, at most kBundle, that lie side by side.
template <class Op, class T>
void scanBundle(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t count, int64_t width) {
  using A = typename Wide<Compute<T>>::type;
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

// The scan of [self], whose dtype the result has.
template <class Op>
Tensor scan(std::string_view name, const Tensor& self, int64_t dim) {
  Tensor result = Tensor::allocate(self.sizes(), self.scalar_type(), self.device());
  if (self.is_meta() || self.numel() == 0) return result;
  const Tensor in = withDimension(self);
  const Tensor out = withDimension(result);
  const auto along = static_cast<size_t>(dim);
  visitScalarType(kAllTypes, self.scalar_type(), name, [&]<class T>(std::type_identity<T>) {
    const int64_t count = lineLength(in, along);
    const int64_t in_step = lineStep(in, along);
    const int64_t out_step = lineStep(out, along);
    forEachBundle(along, {&in, &out}, [&](char* const* line, int64_t width) {
      if (width == 1) return scanLine<Op, T>(line[0], in_step, line[1], out_step, count);
      scanBundle<Op, T>(line[0], in_step, line[1], out_step, count, width);
    });
  });
  return result;
}

template <class Op>
Tensor scanAs(std::string_view name, const Tensor& self, int64_t dim, ScalarType dtype) {
  checkCpuOrMeta(self);
  const int64_t along = wrapDimension(dim, self.dim());
  return scan<Op>(name, self.scalar_type() == dtype ? self : convertTo(self, dtype), along);
}

// Sums of integers and bools are int64.
ScalarType sumType(const Tensor& self, OptionalType dtype) {
  if (dtype.has_value()) return *dtype;
  return isIntegralType(self.scalar_type(), /*includeBool=*/true) ? ScalarType::Long : self.scalar_type();
}

// The kernels of cumsum and cumprod. An output that is given says what is computed in, unless [dtype] does.
template <class Op, auto name>
struct Cumulative {
  static Tensor functional(const Tensor& self, int64_t dim, OptionalType dtype) {
    return scanAs<Op>(name(), self, dim, sumType(self, dtype));
  }
  static Tensor& out(const Tensor& self, int64_t dim, OptionalType dtype, Tensor& out) {
    return writeSameType(out, scanAs<Op>(name(), self, dim, dtype.value_or(out.scalar_type())), {});
  }
  static Tensor& inPlace(Tensor& self, int64_t dim, OptionalType dtype) {
    BOXCAR_CHECK(!dtype.has_value() || *dtype == self.scalar_type(),
                 "Bad in-place call: {}_(): input tensor dtype {} and output tensor dtype {} should match", name(),
                 self.scalar_type(), *dtype);
    return out(self, dim, dtype, self);
  }
};

using CumulativeSum = Cumulative<Sums, [] { return std::string_view("cumsum"); }>;
using CumulativeProduct = Cumulative<Products, [] { return std::string_view("cumprod"); }>;

// Where the greatest, or least, element so far is; the last of equal ones. Once there is a NaN it is the last NaN.
template <class T, bool greatest>
void extremeLine(char* const* line, const int64_t* steps, int64_t count) {
  const auto load = [&](int64_t i) { return *reinterpret_cast<const T*>(line[0] + i * steps[0]); };
  int64_t best = 0;
  auto best_value = static_cast<Compute<T>>(load(0));
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<Compute<T>>(load(i));
    const bool reaches = greatest ? value >= best_value : value <= best_value;
    if (isNan(value) || (!isNan(best_value) && reaches)) {
      best = i;
      best_value = value;
    }
    *reinterpret_cast<T*>(line[1] + i * steps[1]) = load(best);
    *reinterpret_cast<int64_t*>(line[2] + i * steps[2]) = best;
  }
}

template <bool greatest>
struct CumulativeExtreme {
  static constexpr std::string_view kName = greatest ? "cummax" : "cummin";

  static std::tuple<Tensor, Tensor> functional(const Tensor& self, int64_t dim) {
    checkCpuOrMeta(self);
    shape::checkOrdered(kName, self);
    const auto along = static_cast<size_t>(wrapDimension(dim, self.dim()));
    Tensor values = Tensor::allocate(self.sizes(), self.scalar_type(), self.device());
    Tensor indices = Tensor::allocate(self.sizes(), ScalarType::Long, self.device());
    if (self.is_meta() || self.numel() == 0) return {values, indices};
    const Tensor in = withDimension(self);
    const Tensor out = withDimension(values);
    const Tensor at = withDimension(indices);
    visitScalarType(kRealAndBoolTypes, self.scalar_type(), kName, [&]<class T>(std::type_identity<T>) {
      const int64_t steps[] = {lineStep(in, along), lineStep(out, along), lineStep(at, along)};
      forEachLine(along, {&in, &out, &at},
                  [&](char* const* line) { extremeLine<T, greatest>(line, steps, lineLength(in, along)); });
    });
    return {values, indices};
  }

  static std::tuple<Tensor&, Tensor&> out(const Tensor& self, int64_t dim, Tensor& values, Tensor& indices) {
    return writeSameTypes(values, indices, functional(self, dim), {});
  }
};

// log(exp(a) + exp(b)) without overflow.
template <class A>
A logAddExp(A a, A b) {
  const A least = isNan(a) || a < b ? a : b;
  const A greatest = isNan(a) || a < b ? b : a;
  if (isNan(a) || isNan(b)) return a + b;
  if (least == greatest && std::isinf(least)) return a;
  return greatest + std::log1p(std::exp(least - greatest));
}

Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  checkCpuOrMeta(self);
  const auto along = static_cast<size_t>(wrapDimension(dim, self.dim()));
  BOXCAR_CHECK(isFloatingType(self.scalar_type()),
               "logcumsumexp(): elements of {} are not supported, only floating point", dtypeName(self.scalar_type()));
  Tensor result = Tensor::allocate(self.sizes(), self.scalar_type(), self.device());
  if (self.is_meta() || self.numel() == 0) return result;
  const Tensor in = withDimension(self);
  const Tensor out = withDimension(result);
  visitScalarType(kFloatingTypes, self.scalar_type(), "logcumsumexp", [&]<class T>(std::type_identity<T>) {
    using A = typename Wide<Compute<T>>::type;
    const int64_t in_step = lineStep(in, along);
    const int64_t out_step = lineStep(out, along);
    forEachLine(along, {&in, &out}, [&](char* const* line) {
      A carried = -std::numeric_limits<A>::infinity();
      for (int64_t i = 0; i < lineLength(in, along); ++i) {
        const auto x = static_cast<Compute<T>>(*reinterpret_cast<const T*>(line[0] + i * in_step));
        carried = logAddExp(carried, static_cast<A>(x));
        *reinterpret_cast<T*>(line[1] + i * out_step) = static_cast<T>(static_cast<Compute<T>>(carried));
      }
    });
  });
  return result;
}

Tensor& logcumsumexpOut(const Tensor& self, int64_t dim, Tensor& out) {
  return writeSameType(out, logcumsumexp(self, dim), {});
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("cumsum", BOXCAR_FN(CumulativeSum::functional));
  m.impl("cumsum_", BOXCAR_FN(CumulativeSum::inPlace));
  m.impl("cumsum.out", BOXCAR_FN(CumulativeSum::out));
  m.impl("cumprod", BOXCAR_FN(CumulativeProduct::functional));
  m.impl("cumprod_", BOXCAR_FN(CumulativeProduct::inPlace));
  m.impl("cumprod.out", BOXCAR_FN(CumulativeProduct::out));
  m.impl("cummax", BOXCAR_FN(CumulativeExtreme<true>::functional));
  m.impl("cummax.out", BOXCAR_FN(CumulativeExtreme<true>::out));
  m.impl("cummin", BOXCAR_FN(CumulativeExtreme<false>::functional));
  m.impl("cummin.out", BOXCAR_FN(CumulativeExtreme<false>::out));
  m.impl("logcumsumexp", BOXCAR_FN(logcumsumexp));
  m.impl("logcumsumexp.out", BOXCAR_FN(logcumsumexpOut));
}

}  // namespace boxcar::cpu
