#pragma once

#include <boxcar/backends/cpu/library_fft.h>

#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

// Fourier transforms of lines of any length, in O(n log n). They compute in float64 for float32 too: in float32 the
// library loses four to five times as much precision as PyTorch's where a length has the factors 7 or 11.

namespace boxcar::cpu {

using Complex = std::complex<double>;

// What all transforms of complex lines of one length need. Threads share it.
class FftPlan final {
 public:
  explicit FftPlan(size_t length);

  // Returns a plan from a cache, or makes one.
  static std::shared_ptr<const FftPlan> find(size_t length);

  size_t length() const { return length_; }
  // The number of elements that it keeps in memory.
  size_t elements() const { return inner_length_ + chirp_.size() + spectrum_.size(); }

 private:
  friend class LineFft;

  size_t length_;
  bool convolves_;       // Bluestein's algorithm: a transform is a convolution, of a length that the library does well
  size_t inner_length_;  // of the library's transform
  LibraryFft library_;
  std::vector<Complex> chirp_;     // exp(i pi k^2 / length)
  std::vector<Complex> spectrum_;  // its transform, as the convolution needs it
};

// Transforms lines, one after the other. Each thread has its own.
class LineFft final {
 public:
  explicit LineFft(const FftPlan& plan);

  // Writes the transform of [from], which is overwritten, to [to]. Both have the plan's length.
  void forward(Complex* from, Complex* to);
  // The same with exp(+2 pi i j k / length), without a factor.
  void inverse(Complex* from, Complex* to);

 private:
  const FftPlan& plan_;
  std::unique_ptr<LibraryFft> own_;  // if threads cannot share the plan's
  std::vector<Complex> padded_;
  std::vector<Complex> transformed_;
};

// Real lines of an even length as complex lines of half the length.
class RealTurns final {
 public:
  // [length] is even.
  explicit RealTurns(size_t length);

  // Turns the transform of a line's pairs of elements, which has half the line's length and room for one more element,
  // into the first half of the transform of the line and the element after it.
  void split(Complex* line) const;
  // The opposite, up to a factor of two. The first and the last element are read as real numbers.
  void join(Complex* line) const;

 private:
  size_t half_;
  std::vector<Complex> turns_;  // exp(-2 pi i k / length) up to half of half_
};

}  // namespace boxcar::cpu
