#include <boxcar/backends/composite/write_out.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace boxcar::composite {
namespace {

void resize(const meta::Output& output, Tensor& out) {
  if (!output.resizes()) return;
  boxcar::empty_out(out, output.sizes);
  if (!std::ranges::equal(out.strides(), output.strides)) {
    boxcar::as_strided_(out, output.sizes, output.strides, out.storage_offset());
  }
}

}  // namespace

void writeAll(std::span<const Written> written) {
  const std::vector<meta::Output> outputs = meta::checkWritten(written, {}, meta::Overlap::kAllowed);
  // A call that writes says so itself, but others may come before it.
  const bool is_one_call = written.size() == 1 && !outputs[0].resizes();
  for (const Written& one : written) {
    BOXCAR_CHECK(is_one_call || !GradMode::is_enabled() || !(one.out.requires_grad() || one.result.requires_grad()),
                 "functions with out=... arguments don't support automatic differentiation, but one of the arguments "
                 "requires grad. Use the result of the call without out=, or detach() the arguments");
  }
  // Copies results that are views of an output before the output is written.
  std::vector<Tensor> results;
  for (const Written& one : written) {
    const bool is_view =
        std::ranges::any_of(written, [&](const Written& other) { return other.out.storage() == one.result.storage(); });
    results.push_back(is_view ? boxcar::clone(one.result) : one.result);
  }
  meta::growStorages(outputs);
  size_t i = 0;
  for (const Written& one : written) resize(outputs[i++], one.out);
  i = 0;
  for (const Written& one : written) boxcar::copy_(one.out, results[i++]);
}

Tensor& writeResult(Tensor& out, const Tensor& result) {
  writeAll({{out, result, meta::OutputType::kCastable}});
  return out;
}

Tensor& writeSameType(Tensor& out, const Tensor& result) {
  writeAll({{out, result}});
  return out;
}

}  // namespace boxcar::composite
