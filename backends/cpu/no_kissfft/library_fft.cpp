#include <boxcar/backends/cpu/library_fft.h>
#include <boxcar/ivalue/error.h>

namespace boxcar::cpu {

struct LibraryFft::Plan {};

LibraryFft::LibraryFft(size_t length) {
  BOXCAR_FAIL(
      "a Fourier transform of length {} cannot be computed: this boxcar was built without KissFFT; install "
      "libkissfft-dev and build it again",
      length);
}
LibraryFft::LibraryFft(const LibraryFft&) {}
LibraryFft::~LibraryFft() = default;

// There is no object to call this on.
void LibraryFft::run(const std::complex<double>*, std::complex<double>*) const {}

}  // namespace boxcar::cpu
