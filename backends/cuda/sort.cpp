#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/lines.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/sort_kernels.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/lines.h>
#include <boxcar/backends/native/sort.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace boxcar::cuda {
namespace {

// Returns into how many parts to split each row, so that a few rows keep a device busy, or 1 if that is not worth it.
// The first elements of a row are among the first elements of its parts.
int64_t partsFor(int64_t rows, int64_t length, int64_t k) {
  constexpr int64_t kLeast = int64_t{1} << 18;
  constexpr int64_t kLeastPart = int64_t{1} << 14;
  if (length < kLeast || k > kMostChosen) return 1;
  const int64_t blocks = std::max(kManyRows, 4 * int64_t{propertiesOf(currentDevice()).multiprocessors});
  return std::min(length / std::max(kLeastPart, 16 * k), (blocks + rows - 1) / rows);
}

// Selects the first [k] of each row of [in] from the first [k] of each of its [parts] and the leftover elements after
// them. Equal candidates are in row order, so the result is that of a stable sort.
void chooseFromParts(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t parts, int64_t k,
                     bool descending) {
  const int64_t length = in.size(1);
  const int64_t each = length / parts;
  const Tensor cut = boxcar::reshape(boxcar::narrow(in, 1, 0, parts * each), DimVector{in.size(0), parts, each});
  const auto [firsts, places] = boxcar::topk(cut, k, 2, descending);
  const auto arange = [&](int64_t from, int64_t to, int64_t step) {
    return boxcar::arange(from, to, step, ScalarType::Long, std::nullopt, in.device());
  };
  const Tensor starts = boxcar::reshape(arange(0, parts * each, each), DimVector{parts, 1});
  const Tensor rest = boxcar::expand(arange(parts * each, length, 1), DimVector{in.size(0), length - parts * each});
  const DimVector joined{in.size(0), parts * k};
  const Tensor candidates[] = {boxcar::reshape(firsts, joined),
                               boxcar::narrow(in, 1, parts * each, length - parts * each)};
  const Tensor origins[] = {boxcar::reshape(boxcar::add(places, starts), joined), rest};
  const auto [chosen, at] = boxcar::topk(boxcar::cat(candidates, 1), k, 1, descending);
  native::copyElements(values, chosen);
  native::copyElements(indices, boxcar::gather(boxcar::cat(origins, 1), 1, at));
}

void chooseFromRows(const SortLaunch& launch, Device device) {
  if (launch.length <= kShortRow) return module().short_sort(launch);
  if (launch.kept <= kMostChosen && launch.rows >= kManyRows && launch.length <= INT32_MAX) {
    return module().choose_rows(launch);
  }
  const auto bytes = static_cast<int64_t>(module().long_sort_bytes(launch));
  const Tensor workspace = Tensor::allocate({&bytes, 1}, ScalarType::Byte, device);
  module().long_sort(launch, workspace.data_ptr());
}

void chooseFirst(const Tensor& values, const Tensor& indices, const Tensor& self, size_t dim, int64_t k,
                 bool descending) {
  const native::Lines lines(self, dim);
  const int64_t rows = lines.outer * lines.inner;
  const Tensor in = rowsOf(self, dim);
  const WrittenRows chosen(values, dim);
  const WrittenRows places(indices, dim);
  const int64_t parts = rows < kManyRows ? partsFor(rows, lines.length, k) : 1;
  if (rows * parts >= kManyRows && parts > 1) {
    const auto flat = [&](const Tensor& tensor, int64_t length) {
      return boxcar::reshape(tensor, DimVector{rows, length});
    };
    chooseFromParts(flat(chosen.rows(), k), flat(places.rows(), k), flat(in, lines.length), parts, k, descending);
  } else {
    chooseFromRows({in.data_ptr(), chosen.rows().data_ptr(), static_cast<int64_t*>(places.rows().data_ptr()),
                    self.scalar_type(), rows, lines.length, k, descending},
                   self.device());
  }
  chosen.finish();
  places.finish();
}

void sortLines(const Tensor& values, const Tensor& indices, const Tensor& self, size_t dim, bool descending) {
  chooseFirst(values, indices, self, dim, self.sizes()[dim], descending);
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::sortLines, sortLines)
BOXCAR_REGISTER_STUB(CUDA, native::chooseFirst, chooseFirst)

}  // namespace boxcar::cuda
