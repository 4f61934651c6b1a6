#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace boxcar {

// How a tensor's elements are stored. The numbers are c10's.
enum class Layout : int8_t {
  Strided = 0,
  Sparse = 1,
  SparseCsr = 2,
  Mkldnn = 3,
  SparseCsc = 4,
  SparseBsr = 5,
  SparseBsc = 6,
  Jagged = 7,
  NumOptions = 8,
};

// The order of a strided tensor's dimensions in memory. The numbers are c10's.
enum class MemoryFormat : int8_t {
  Contiguous = 0,
  Preserve = 1,
  ChannelsLast = 2,
  ChannelsLast3d = 3,
  NumOptions = 4,
};

// Returns the enumerator's name: "Strided", "ChannelsLast".
BOXCAR_API std::string_view toString(Layout layout);
BOXCAR_API std::string_view toString(MemoryFormat format);

// Returns the name in programs, schemas and Python's output: "strided", "channels_last", "contiguous_format".
BOXCAR_API std::string_view layoutName(Layout layout);
BOXCAR_API std::string_view memoryFormatName(MemoryFormat format);

// The reverse; "torch." may precede the name. Returns nullopt for an unknown name.
BOXCAR_API std::optional<Layout> parseLayout(std::string_view name);
BOXCAR_API std::optional<MemoryFormat> parseMemoryFormat(std::string_view name);

}  // namespace boxcar
