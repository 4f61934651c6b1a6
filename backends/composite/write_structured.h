#pragma once

#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <tuple>
#include <utility>

// How operators that are made of others write to out= arguments whose dtype must be the result's.

namespace boxcar::composite {

// An Error when [out] has not the dtype and the device of [result].
void checkStructured(const Tensor& out, const Tensor& result);

// Writes [result] to [out], which takes its sizes and, where these were others, its strides.
Tensor& writeStructured(Tensor& out, const Tensor& result);

// The same for several at once; all are checked before the first is written.
template <class... Outs, class... Results>
std::tuple<Outs&...> writeStructured(const std::tuple<Results...>& results, Outs&... outs) {
  const auto all = std::tie(outs...);
  [&]<size_t... i>(std::index_sequence<i...>) {
    (checkStructured(std::get<i>(all), std::get<i>(results)), ...);
    (writeStructured(std::get<i>(all), std::get<i>(results)), ...);
  }
  (std::index_sequence_for<Outs...>());
  return {outs...};
}

}  // namespace boxcar::composite
