#include <boxcar/backends/meta/reduction.h>
#include <boxcar/backends/meta/views.h>
#include <boxcar/ivalue/error.h>

namespace boxcar::meta {

DimVector reducedSizes(std::span<const int64_t> sizes, uint64_t mask, bool keepdim) {
  checkMaskable(static_cast<int64_t>(sizes.size()));
  DimVector result;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool reduced = (mask >> i & 1) != 0;
    if (!reduced) result.push_back(sizes[i]);
    if (reduced && keepdim) result.push_back(1);
  }
  return result;
}

void checkReducedNotEmpty(std::string_view name, const Tensor& self, uint64_t mask) {
  for (size_t i = 0; i < self.sizes().size(); ++i) {
    BOXCAR_CHECK((mask >> i & 1) == 0 || self.sizes()[i] != 0, "{}(): Expected reduction dim {} to have non-zero size.",
                 name, i);
  }
}

void checkReducedDimsGiven(std::string_view name, const Tensor& self) {
  BOXCAR_CHECK(
      self.numel() > 0,
      "{}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
      "'dim' argument.",
      name);
}

ScalarType reducedTypeInto(std::string_view name, const Tensor& out, std::optional<ScalarType> dtype) {
  if (dtype.has_value()) checkOutType(name, out, *dtype);
  return out.scalar_type();
}

void checkOutType(std::string_view name, const Tensor& out, ScalarType type) {
  BOXCAR_CHECK(out.scalar_type() == type, "{}(): Expected out tensor to have dtype {}, but got {} instead", name,
               dtypeName(type), dtypeName(out.scalar_type()));
}

ScalarType floatingReductionType(std::string_view name, const Tensor& self, std::optional<ScalarType> dtype) {
  const ScalarType from = self.scalar_type();
  BOXCAR_CHECK(isFloatingType(from) || isComplexType(from),
               "{}(): Expected a floating point or complex tensor as input. Got {}", name, dtypeName(from));
  if (!dtype.has_value()) return from;
  BOXCAR_CHECK(isFloatingType(*dtype) || isComplexType(*dtype),
               "{}(): dtype should be floating point or complex. Got {}", name, dtypeName(*dtype));
  BOXCAR_CHECK(isComplexType(from) == isComplexType(*dtype), "{}(): dtype should be {} for {} inputs. Got {}", name,
               isComplexType(from) ? "complex" : "real", isComplexType(from) ? "complex" : "real", dtypeName(*dtype));
  BOXCAR_CHECK(promoteTypes(from, *dtype) == *dtype,
               "{}(): the dtype of the input ({}) should be convertible without "
               "narrowing to the specified dtype ({})",
               name, dtypeName(from), dtypeName(*dtype));
  return *dtype;
}

}  // namespace boxcar::meta
