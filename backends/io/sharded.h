#pragma once

#include <boxcar/ivalue/ivalue.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace boxcar::io {

// Loads the tensors that an index names, in the order of their names, from the files beside it. [path] is the index's
// as the program calls it, and [resolved] is for errors. [load] loads the tensors of one file.
Dict<std::string, Tensor> loadSharded(std::span<const std::byte> index, std::string_view path,
                                      const std::string& resolved,
                                      const std::function<Dict<std::string, Tensor>(const std::string& path)>& load);

}  // namespace boxcar::io
