#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/compiler/builtin_names.h>

#include <algorithm>

namespace boxcar::interp {

bool isCallable(std::string_view name) {
  const auto index = findBuiltin(name);
  return index && !builtins()[*index].is_hidden && name.find_first_of(".:") == std::string_view::npos;
}

bool isTensorAttribute(std::string_view name) {
  static constexpr std::string_view names[] = {"shape", "dtype", "device", "ndim", "T", "layout", "is_mkldnn", "keys"};
  return std::ranges::find(names, name) != std::end(names);
}

bool isOperatorAttribute(std::string_view name) {
  static constexpr std::string_view names[] = {"name", "overload", "schema", "arg_names", "tags"};
  return std::ranges::find(names, name) != std::end(names);
}

}  // namespace boxcar::interp
