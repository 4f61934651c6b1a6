#include <boxcar/ivalue/layout.h>

#include <cstddef>
#include <iterator>

namespace boxcar {

namespace {

struct Names {
  std::string_view enumerator;
  std::string_view in_python;
};

// Indexed by number.
constexpr Names kLayouts[] = {
    {"Strided", "strided"},      {"Sparse", "sparse_coo"},    {"SparseCsr", "sparse_csr"}, {"Mkldnn", "_mkldnn"},
    {"SparseCsc", "sparse_csc"}, {"SparseBsr", "sparse_bsr"}, {"SparseBsc", "sparse_bsc"}, {"Jagged", "jagged"},
};
constexpr Names kMemoryFormats[] = {
    {"Contiguous", "contiguous_format"},
    {"Preserve", "preserve_format"},
    {"ChannelsLast", "channels_last"},
    {"ChannelsLast3d", "channels_last_3d"},
};
static_assert(std::size(kLayouts) == static_cast<size_t>(Layout::NumOptions));
static_assert(std::size(kMemoryFormats) == static_cast<size_t>(MemoryFormat::NumOptions));

constexpr Names kUnknown = {"Unknown", "unknown"};

template <class Enum, size_t N>
const Names& namesOf(const Names (&table)[N], Enum value) {
  const auto number = static_cast<size_t>(value);
  return number < N ? table[number] : kUnknown;
}

template <class Enum, size_t N>
std::optional<Enum> parse(const Names (&table)[N], std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  for (size_t number = 0; number < N; ++number) {
    if (table[number].in_python == name) return static_cast<Enum>(number);
  }
  return std::nullopt;
}

}  // namespace

std::string_view toString(Layout layout) { return namesOf(kLayouts, layout).enumerator; }
std::string_view layoutName(Layout layout) { return namesOf(kLayouts, layout).in_python; }
std::optional<Layout> parseLayout(std::string_view name) { return parse<Layout>(kLayouts, name); }

std::string_view toString(MemoryFormat format) { return namesOf(kMemoryFormats, format).enumerator; }
std::string_view memoryFormatName(MemoryFormat format) { return namesOf(kMemoryFormats, format).in_python; }
std::optional<MemoryFormat> parseMemoryFormat(std::string_view name) {
  return parse<MemoryFormat>(kMemoryFormats, name);
}

}  // namespace boxcar
