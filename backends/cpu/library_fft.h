#pragma once

#include <complex>
#include <cstddef>
#include <memory>

namespace boxcar::cpu {

// A library's Fourier transform of lines of one length. It is quick if the length has no large prime factor. kissfft/
// has it, no_kissfft/ replaces it.
class LibraryFft final {
 public:
  // Throws Error if this boxcar was built without the library.
  explicit LibraryFft(size_t length);
  LibraryFft(const LibraryFft& other);
  LibraryFft& operator=(const LibraryFft&) = delete;
  ~LibraryFft();

  // Writes the sum of from[j] exp(-2 pi i j k / length) over all j to to[k]. Several threads may share this object if
  // all prime factors of the length are 2, 3 or 5; for others the library keeps a buffer in it.
  void run(const std::complex<double>* from, std::complex<double>* to) const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace boxcar::cpu
