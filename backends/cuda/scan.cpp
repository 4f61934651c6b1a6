#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/lines.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/scan_kernels.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/lines.h>
#include <boxcar/backends/native/scan.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace boxcar::cuda {
namespace {

// Rows up to this length are scanned by one thread each.
constexpr int64_t kShort = 32;

// Returns the number of parts per row that gives all multiprocessors work, with some tiles per part.
int64_t partsFor(int64_t rows, int64_t length) {
  constexpr int64_t kLeastTiles = 4;
  constexpr int64_t kMostParts = 1024;
  const int64_t blocks = 8 * int64_t{propertiesOf(currentDevice()).multiprocessors};
  const int64_t wanted = (blocks + rows - 1) / rows;
  return std::clamp<int64_t>(std::min(wanted, length / (kLeastTiles * kScanTile)), 1, kMostParts);
}

// Calls launch(ScanLaunch) for the lines of [self]. The results are written to [out] and, if given, [indices]; both are
// contiguous.
template <class Launch>
void scanWith(const Tensor& out, const Tensor* indices, const Tensor& self, size_t dim, const Launch& launch) {
  const native::Lines lines(self, dim);
  ScanLaunch call{};
  call.type = self.scalar_type();
  call.parts = 1;
  call.length = lines.length;
  call.part_length = lines.length;
  // With enough lines, neighboring lines are read side by side.
  constexpr int64_t kManyLines = 16384;
  if (lines.length <= kShort || (lines.inner > 1 && lines.outer * lines.inner >= kManyLines)) {
    const Tensor in = native::toContiguous(self);
    call.in = in.data_ptr();
    call.out = out.data_ptr();
    call.indices = indices != nullptr ? static_cast<int64_t*>(indices->data_ptr()) : nullptr;
    call.outer = lines.outer;
    call.inner = lines.inner;
    call.by_threads = true;
    return launch(call);
  }
  const Tensor in = rowsOf(self, dim);
  const WrittenRows values(out, dim);
  std::optional<WrittenRows> places;
  if (indices != nullptr) places.emplace(*indices, dim);
  call.in = in.data_ptr();
  call.out = values.rows().data_ptr();
  call.indices = places ? static_cast<int64_t*>(places->rows().data_ptr()) : nullptr;
  call.outer = lines.outer * lines.inner;
  call.inner = 1;
  Tensor totals;
  const int64_t parts = partsFor(call.outer, lines.length);
  if (parts > 1) {
    call.part_length = ((lines.length + parts - 1) / parts + kScanTile - 1) / kScanTile * kScanTile;
    call.parts = (lines.length + call.part_length - 1) / call.part_length;
    const int64_t bytes = call.outer * call.parts * static_cast<int64_t>(kScanCarriedBytes);
    totals = Tensor::allocate({&bytes, 1}, ScalarType::Byte, self.device());
    call.totals = totals.data_ptr();
  }
  launch(call);
  values.finish();
  if (places) places->finish();
}

void scanLines(std::string_view, native::Scan scan, const Tensor& out, const Tensor& self, size_t dim) {
  scanWith(out, nullptr, self, dim, [&](const ScanLaunch& launch) { module().scan(launch, scan); });
}

void scanExtremes(bool greatest, const Tensor& values, const Tensor& indices, const Tensor& self, size_t dim) {
  scanWith(values, &indices, self, dim, [&](const ScanLaunch& launch) { module().scan_extremes(launch, greatest); });
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::scanLines, scanLines)
BOXCAR_REGISTER_STUB(CUDA, native::scanExtremes, scanExtremes)

}  // namespace boxcar::cuda
