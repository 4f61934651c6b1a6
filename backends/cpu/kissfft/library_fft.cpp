#include <boxcar/backends/cpu/library_fft.h>
#include <kissfft/kissfft.hh>

namespace boxcar::cpu {

struct LibraryFft::Plan {
  kissfft<double> fft;
};

LibraryFft::LibraryFft(size_t length) : plan_(new Plan{kissfft<double>(length, false)}) {}
LibraryFft::LibraryFft(const LibraryFft& other) : plan_(new Plan(*other.plan_)) {}
LibraryFft::~LibraryFft() = default;

void LibraryFft::run(const std::complex<double>* from, std::complex<double>* to) const {
  plan_->fft.transform(from, to);
}

}  // namespace boxcar::cpu
