#pragma once

#include <boxcar/backends/meta/output.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <initializer_list>
#include <span>
#include <tuple>
#include <utility>

// How composite operators write to out= arguments, on any device.

namespace boxcar::composite {

using meta::Written;

// Writes computed results. Each out= argument takes the sizes of its result; if its sizes change, it takes the result's
// strides too. Throws Error, and changes nothing, if an argument cannot take its result or shares memory with another
// argument.
void writeAll(std::span<const Written> written);
inline void writeAll(std::initializer_list<Written> written) { writeAll(std::span(written.begin(), written.size())); }

// Writes [result] to [out]; the dtype of [result] must be castable to that of [out].
Tensor& writeResult(Tensor& out, const Tensor& result);
// Writes [result] to [out], which must have the same dtype.
Tensor& writeSameType(Tensor& out, const Tensor& result);

// Writes several results as above.
template <class... Outs, class... Results>
std::tuple<Outs&...> writeSameTypes(const std::tuple<Results...>& results, Outs&... outs) {
  const auto all = std::tie(outs...);
  [&]<size_t... i>(std::index_sequence<i...>) { writeAll({{std::get<i>(all), std::get<i>(results)}...}); }
  (std::index_sequence_for<Outs...>());
  return {outs...};
}

}  // namespace boxcar::composite
