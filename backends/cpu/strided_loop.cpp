#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/strided_loop.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <utility>

namespace boxcar::cpu {

StridedLoop::StridedLoop(std::span<const int64_t> sizes) : rank_(static_cast<int>(sizes.size())) {
  BOXCAR_CHECK(sizes.size() <= kMaxRank, "tensors with more than {} dimensions are not supported, this has {}",
               kMaxRank, sizes.size());
  // Innermost first.
  for (int i = 0; i < rank_; ++i) {
    sizes_[i] = sizes[static_cast<size_t>(rank_ - 1 - i)];
    std::fill_n(strides_[i], kMaxOperands, 0);
  }
}

void StridedLoop::add(void* data, std::span<const int64_t> sizes, std::span<const int64_t> strides, size_t itemsize) {
  data_[operands_] = static_cast<char*>(data);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t from_end = sizes.size() - 1 - i;
    if (sizes[from_end] != 1) strides_[i][operands_] = strides[from_end] * static_cast<int64_t>(itemsize);
  }
  ++operands_;
}

void StridedLoop::addBytes(void* data, std::span<const int64_t> strides) {
  data_[operands_] = static_cast<char*>(data);
  for (size_t i = 0; i < strides.size(); ++i) strides_[i][operands_] = strides[strides.size() - 1 - i];
  ++operands_;
}

// Whether dimension [a] takes smaller steps than [b], by the first operand that tells them apart.
bool StridedLoop::liesInside(int a, int b) const {
  for (int i = 0; i < operands_; ++i) {
    const int64_t step_a = strides_[a][i];
    const int64_t step_b = strides_[b][i];
    if (step_a != 0 && step_b != 0 && step_a != step_b) return step_a < step_b;
  }
  return false;
}

void StridedLoop::order() {
  for (int i = 1; i < rank_; ++i) {
    for (int j = i; j > 0 && liesInside(j, j - 1); --j) {
      std::swap(sizes_[j], sizes_[j - 1]);
      std::swap(strides_[j], strides_[j - 1]);
    }
  }
}

void StridedLoop::join() {
  int last = 0;
  for (int i = 1; i < rank_; ++i) {
    bool follows = true;
    for (int k = 0; k < operands_; ++k) follows &= strides_[i][k] == sizes_[last] * strides_[last][k];
    if (follows) {
      sizes_[last] *= sizes_[i];
      continue;
    }
    ++last;
    sizes_[last] = sizes_[i];
    std::copy_n(strides_[i], kMaxOperands, strides_[last]);
  }
  rank_ = last + 1;
}

bool StridedLoop::prepare() {
  if (prepared_) return true;
  int kept = 0;
  for (int i = 0; i < rank_; ++i) {
    if (sizes_[i] == 0) return false;
    if (sizes_[i] == 1) continue;
    sizes_[kept] = sizes_[i];
    std::copy_n(strides_[i], kMaxOperands, strides_[kept]);
    ++kept;
  }
  rank_ = kept;
  if (rank_ > 1) {
    order();
    join();
  }
  for (; rank_ < 2; ++rank_) {
    sizes_[rank_] = 1;
    std::fill_n(strides_[rank_], kMaxOperands, 0);
  }
  prepared_ = true;
  return true;
}

int64_t StridedLoop::elementCount() const {
  int64_t count = 1;
  for (int i = 0; i < rank_; ++i) count *= sizes_[i];
  return count;
}

void StridedLoop::runParallel(int64_t elements, const Body& body) {
  if (!runsInParallel(elements)) return run(body);
  if (!prepare()) return;
  // The outermost dimension that gives each thread something, else the longest.
  int cut = rank_ - 1;
  while (cut > 0 && sizes_[cut] < threadCount()) --cut;
  if (sizes_[cut] < threadCount()) cut = static_cast<int>(std::max_element(sizes_, sizes_ + rank_) - sizes_);
  const int64_t grain = std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(1, elements / sizes_[cut]));
  parallelFor(0, sizes_[cut], grain, [&](int64_t begin, int64_t end) {
    StridedLoop part = *this;
    part.sizes_[cut] = end - begin;
    for (int k = 0; k < operands_; ++k) part.data_[k] += begin * strides_[cut][k];
    part.run(body);
  });
}

void StridedLoop::runParallel(Loop loop, const Scalar* params) {
  const int64_t elements = elementCount();
  if (!runsInParallel(elements)) return run(loop, params);
  runParallel(elements, [=](char* const* data, const int64_t* strides, int64_t n0, int64_t n1) {
    loop(data, strides, n0, n1, params);
  });
}

void StridedLoop::start(char** data, int64_t* index) const {
  std::copy_n(data_, kMaxOperands, data);
  std::fill_n(index, rank_, 0);
}

bool StridedLoop::advance(char** data, int64_t* index) const {
  for (int i = 2; i < rank_; ++i) {
    for (int k = 0; k < operands_; ++k) data[k] += strides_[i][k];
    if (++index[i] < sizes_[i]) return true;
    for (int k = 0; k < operands_; ++k) data[k] -= strides_[i][k] * sizes_[i];
    index[i] = 0;
  }
  return false;
}

}  // namespace boxcar::cpu
