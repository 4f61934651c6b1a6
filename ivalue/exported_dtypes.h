#pragma once

#include <boxcar/ivalue/scalar_type.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

// The numbers of dtypes in the archives of torch.export, which count differently from c10's
// (torch/_export/serde/schema.py).

namespace boxcar {

struct ExportedDtype {
  int64_t number;
  std::string_view name;
  ScalarType dtype;  // Undefined where boxcar has none
};

inline constexpr auto kExportedDtypes = std::to_array<ExportedDtype>({
    {1, "uint8", ScalarType::Byte},
    {2, "int8", ScalarType::Char},
    {3, "int16", ScalarType::Short},
    {4, "int32", ScalarType::Int},
    {5, "int64", ScalarType::Long},
    {6, "float16", ScalarType::Half},
    {7, "float32", ScalarType::Float},
    {8, "float64", ScalarType::Double},
    {9, "complex32", ScalarType::Undefined},
    {10, "complex64", ScalarType::ComplexFloat},
    {11, "complex128", ScalarType::ComplexDouble},
    {12, "bool", ScalarType::Bool},
    {13, "bfloat16", ScalarType::BFloat16},
    {28, "uint16", ScalarType::Undefined},
    {29, "float8_e4m3fn", ScalarType::Undefined},
    {30, "float8_e5m2", ScalarType::Undefined},
    {31, "float8_e4m3fnuz", ScalarType::Undefined},
    {32, "float8_e5m2fnuz", ScalarType::Undefined},
    {33, "float8_e8m0fnu", ScalarType::Undefined},
    {34, "uint32", ScalarType::Undefined},
    {35, "uint64", ScalarType::Undefined},
});

// Returns the dtype that an archive gives the number; null if it is none.
constexpr const ExportedDtype* findExportedDtype(std::optional<int64_t> number) noexcept {
  const auto* const found =
      std::ranges::find_if(kExportedDtypes, [number](const ExportedDtype& each) { return number == each.number; });
  return found != kExportedDtypes.end() ? found : nullptr;
}

// Returns the number of a dtype in an archive; nothing if archives have none.
constexpr std::optional<int64_t> exportedNumberOf(ScalarType dtype) noexcept {
  const auto* const found = std::ranges::find(kExportedDtypes, dtype, &ExportedDtype::dtype);
  return found != kExportedDtypes.end() && dtype != ScalarType::Undefined ? std::optional(found->number) : std::nullopt;
}

}  // namespace boxcar
