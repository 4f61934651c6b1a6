#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/indexing.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/indexed_loop.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <limits>
#include <string_view>

namespace boxcar::native {
namespace {

enum class How : uint8_t { kWrite, kAdd, kMul, kMean, kAmax, kAmin };

// Returns the identity, which the first scattered element replaces.
template <class T>
T identityOf(How how) {
  using Limits = std::numeric_limits<T>;
  switch (how) {
    case How::kMul: return T(1);
    case How::kAmax: return Limits::has_infinity ? T(-Limits::infinity()) : Limits::lowest();
    case How::kAmin: return Limits::has_infinity ? Limits::infinity() : Limits::max();
    default: return T(0);
  }
}

// Returns the loop that writes to [self] at [index]. The caller checks the indices.
IndexedLoop writingLoop(std::string_view name, const Tensor& self, int64_t dim, const Tensor& index,
                        const Tensor& source) {
  IndexedLoop loop = loopAlong(withDimension(source), withDimension(self), withDimension(index), dim);
  loop.name = name;
  loop.writes_chosen = true;
  return loop;
}

Combination combinationOf(How how) {
  switch (how) {
    case How::kMul: return Combination::kMul;
    case How::kAmax: return Combination::kAmax;
    case How::kAmin: return Combination::kAmin;
    default: return Combination::kAdd;
  }
}

// If nothing was scattered to an element, its count is 0 and it stays.
void divideByCounts(Tensor self, const Tensor& counts) {
  const Tensor divisors = boxcar::clamp_min(counts, 1);
  if (isIntegralType(self.scalar_type(), /*includeBool=*/true)) {
    boxcar::copy_(self, boxcar::floor_divide(boxcar::to(self, ScalarType::Long), divisors));
  } else {
    boxcar::div_(self, divisors);
  }
}

// Writes the elements of [source] to [self] at [index], or combines them. Everything except the indices has been
// checked.
void scatterInto(std::string_view name, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                 How how, bool include_self = true) {
  if (self.is_meta() || index.numel() == 0) return;
  if (isSmallFloat(self) && how != How::kWrite) {
    return inFloat32(self, [&](const Tensor& wide) {
      scatterInto(name, wide, dim, index, convertTo(source, ScalarType::Float), how, include_self);
    });
  }
  const Device device = self.device();
  const IndexedLoop loop = writingLoop(name, self, dim, index, source);
  checkChosen(device, loop);
  if (how == How::kWrite) return writeChosen(device, loop, self.itemsize());
  const ScalarType type = self.scalar_type();
  const auto number = [&](const Tensor& one) { return toDevice(one, device); };
  if (!include_self) {
    const Tensor identity = Tensor::allocate({}, type);
    visitScalarType(kAllTypes, type, name, [&]<class T>(std::type_identity<T>) {
      *static_cast<T*>(identity.data_ptr()) = identityOf<T>(how);
    });
    scatterInto(name, self, dim, index, meta::expandTo(number(identity), index.sizes()), How::kWrite);
  }
  combineChosen(device, loop, type, combinationOf(how), 1);
  if (how != How::kMean) return;
  const Tensor first = number(numberTensor(include_self ? 1 : 0, ScalarType::Long));
  const Tensor counted = contiguousCopy(meta::expandTo(first, self.sizes()));
  const Tensor ones = meta::expandTo(number(numberTensor(1, ScalarType::Long)), index.sizes());
  combineChosen(device, writingLoop(name, counted, dim, index, ones), ScalarType::Long, Combination::kAdd, 1);
  divideByCounts(self, counted);
}

// The arguments of one scatter, in all overloads.
struct Scatter {
  std::string_view name;
  int64_t dim;
  const Tensor& index;
  const Tensor* source;  // null if a number is scattered
  const Scalar* value;
  How how;
  bool include_self = true;

  void check(const Tensor& self) {
    checkSameDevice({&self, &index});
    if (source != nullptr) checkSameDevice({&self, source});
    dim = meta::checkScatter(name, self, dim, index, source);
    BOXCAR_CHECK(value == nullptr || !value->isComplex() || isComplexType(self.scalar_type()),
                 "{}(): a complex number cannot be written to a tensor of {}", name, dtypeName(self.scalar_type()));
    const bool orders = how == How::kAmax || how == How::kAmin;
    BOXCAR_CHECK(!orders || !isComplexType(self.scalar_type()), "{}(): complex numbers have no order", name);
    BOXCAR_CHECK(how != How::kMean || self.scalar_type() != ScalarType::Bool, "{}(): bools have no mean", name);
  }

  void write(const Tensor& self) const {
    if (self.is_meta()) return;
    const Tensor elements =
        source != nullptr
            ? *source
            : meta::expandTo(toDevice(numberTensor(*value, self.scalar_type()), self.device()), index.sizes());
    const Tensor places = index.scalar_type() == ScalarType::Long ? index : convertTo(index, ScalarType::Long);
    scatterInto(name, self, dim, places, elements, how, include_self);
  }

  Tensor functional(const Tensor& self) {
    check(self);
    Tensor result = contiguousCopy(self);
    write(result);
    return result;
  }
  Tensor& inPlace(Tensor& self) {
    checkWrittenInPlace(self, {&index});
    if (source != nullptr) checkWrittenInPlace(self, {source});
    check(self);
    write(self);
    return self;
  }
  Tensor& out(const Tensor& self, Tensor& out) {
    const Tensor result = functional(self);
    if (source != nullptr) return writeSameType(out, result, {&index, source});
    return writeSameType(out, result, {&index});
  }
};

How howOf(std::string_view reduce) {
  if (reduce == "add") return How::kAdd;
  if (reduce == "multiply") return How::kMul;
  BOXCAR_FAIL("scatter(): reduce argument must be either add or multiply, got '{}'", reduce);
}

How howOfTwo(std::string_view reduce) {
  if (reduce == "sum") return How::kAdd;
  if (reduce == "prod") return How::kMul;
  if (reduce == "mean") return How::kMean;
  if (reduce == "amax") return How::kAmax;
  if (reduce == "amin") return How::kAmin;
  BOXCAR_FAIL("scatter_reduce(): reduce argument must be either sum, prod, mean, amax or amin, got '{}'", reduce);
}

Scatter elements(int64_t dim, const Tensor& index, const Tensor& src, How how = How::kWrite) {
  return {"scatter", dim, index, &src, nullptr, how};
}
Scatter number(int64_t dim, const Tensor& index, const Scalar& value, How how = How::kWrite) {
  return {"scatter", dim, index, nullptr, &value, how};
}
Scatter sums(int64_t dim, const Tensor& index, const Tensor& src) {
  return {"scatter_add", dim, index, &src, nullptr, How::kAdd};
}
Scatter reduction(int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce, bool include_self) {
  return {"scatter_reduce", dim, index, &src, nullptr, howOfTwo(reduce), include_self};
}

// The functional, in-place and out= forms of an operator; [make] turns the remaining arguments into a Scatter.
template <auto make, class... Args>
struct ScatterForms {
  static Tensor functional(const Tensor& self, Args... args) { return make(args...).functional(self); }
  static Tensor& inPlace(Tensor& self, Args... args) { return make(args...).inPlace(self); }
  static Tensor& out(const Tensor& self, Args... args, Tensor& out) { return make(args...).out(self, out); }
};

constexpr auto kElements = [](int64_t dim, const Tensor& index, const Tensor& src) {
  return elements(dim, index, src);
};
constexpr auto kNumber = [](int64_t dim, const Tensor& index, const Scalar& value) {
  return number(dim, index, value);
};
constexpr auto kReduced = [](int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce) {
  return elements(dim, index, src, howOf(reduce));
};
constexpr auto kReducedNumber = [](int64_t dim, const Tensor& index, const Scalar& value, std::string_view reduce) {
  return number(dim, index, value, howOf(reduce));
};

using Elements = ScatterForms<kElements, int64_t, const Tensor&, const Tensor&>;
using Number = ScatterForms<kNumber, int64_t, const Tensor&, const Scalar&>;
using Reduced = ScatterForms<kReduced, int64_t, const Tensor&, const Tensor&, std::string_view>;
using ReducedNumber = ScatterForms<kReducedNumber, int64_t, const Tensor&, const Scalar&, std::string_view>;
using Sums = ScatterForms<sums, int64_t, const Tensor&, const Tensor&>;
using Two = ScatterForms<reduction, int64_t, const Tensor&, const Tensor&, std::string_view, bool>;

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, readChosen, writeChosen, combineChosen) {
  m.impl("scatter.src", BOXCAR_FN(Elements::functional));
  m.impl("scatter_.src", BOXCAR_FN(Elements::inPlace));
  m.impl("scatter.src_out", BOXCAR_FN(Elements::out));
  m.impl("scatter.value", BOXCAR_FN(Number::functional));
  m.impl("scatter_.value", BOXCAR_FN(Number::inPlace));
  m.impl("scatter.value_out", BOXCAR_FN(Number::out));
  m.impl("scatter.reduce", BOXCAR_FN(Reduced::functional));
  m.impl("scatter_.reduce", BOXCAR_FN(Reduced::inPlace));
  m.impl("scatter.reduce_out", BOXCAR_FN(Reduced::out));
  m.impl("scatter.value_reduce", BOXCAR_FN(ReducedNumber::functional));
  m.impl("scatter_.value_reduce", BOXCAR_FN(ReducedNumber::inPlace));
  m.impl("scatter.value_reduce_out", BOXCAR_FN(ReducedNumber::out));
  m.impl("scatter_add", BOXCAR_FN(Sums::functional));
  m.impl("scatter_add_", BOXCAR_FN(Sums::inPlace));
  m.impl("scatter_add.out", BOXCAR_FN(Sums::out));
  m.impl("scatter_reduce.two", BOXCAR_FN(Two::functional));
  m.impl("scatter_reduce_.two", BOXCAR_FN(Two::inPlace));
  m.impl("scatter_reduce.two_out", BOXCAR_FN(Two::out));
}

}  // namespace boxcar::native
