#pragma once

#include <boxcar/backends/shape/output.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <initializer_list>
#include <tuple>
#include <utility>

// How operators that are made of others write to out= arguments, on any device.

namespace boxcar::composite {

using shape::Written;

// Writes results that have been worked out. An out= argument takes the sizes of its result and, where these were
// others, its strides. An Error, and nothing is changed, when one of them cannot take its result or shares memory with
// another.
void writeAll(std::initializer_list<Written> written);

// Writes [result] to [out], whose dtype its own can be cast to.
Tensor& writeResult(Tensor& out, const Tensor& result);
// The same where [out] must have its dtype.
Tensor& writeStructured(Tensor& out, const Tensor& result);

// The same for several at once.
template <class... Outs, class... Results>
std::tuple<Outs&...> writeStructured(const std::tuple<Results...>& results, Outs&... outs) {
  const auto all = std::tie(outs...);
  [&]<size_t... i>(std::index_sequence<i...>) { writeAll({{std::get<i>(all), std::get<i>(results)}...}); }
  (std::index_sequence_for<Outs...>());
  return {outs...};
}

}  // namespace boxcar::composite
