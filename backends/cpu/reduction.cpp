#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/shape/reduction.h>
#include <boxcar/ivalue/error.h>

#include <utility>

namespace boxcar::cpu {
namespace {

// The reduced dimensions, innermost first, those that follow each other made one.
struct ReducedDims {
  int64_t sizes[StridedLoop::kMaxRank];
  int64_t steps[StridedLoop::kMaxRank];
  int rank = 0;
  int64_t count = 1;

  void add(int64_t size, int64_t step) {
    count *= size;
    if (size == 1) return;
    int at = rank++;
    for (; at > 0 && steps[at - 1] > step; --at) {
      sizes[at] = sizes[at - 1];
      steps[at] = steps[at - 1];
    }
    sizes[at] = size;
    steps[at] = step;
  }

  void join() {
    if (rank == 0) {
      sizes[0] = 1;
      steps[0] = 0;
      rank = 1;
    }
    int last = 0;
    for (int i = 1; i < rank; ++i) {
      if (steps[i] == sizes[last] * steps[last]) {
        sizes[last] *= sizes[i];
      } else {
        ++last;
        sizes[last] = sizes[i];
        steps[last] = steps[i];
      }
    }
    rank = last + 1;
  }
};

}  // namespace

ScalarType Reduction::resultType(ScalarType type) const {
  if (loops[static_cast<size_t>(type)] == nullptr) [[unlikely]] {
    std::array<ScalarType, kScalarTypes> supported;
    size_t found = 0;
    for (size_t i = 0; i < kScalarTypes; ++i) {
      if (loops[i] != nullptr) supported[found++] = static_cast<ScalarType>(i);
    }
    boxcar::detail::failUnsupportedScalarType(name, type, {supported.data(), found});
  }
  return results[static_cast<size_t>(type)];
}

void reduce(const Reduction& op, const Tensor& out, const Tensor& self, uint64_t mask) {
  const auto itemsize = static_cast<int64_t>(self.itemsize());
  const auto out_itemsize = static_cast<int64_t>(out.itemsize());
  const bool keeps_rank = out.dim() == self.dim();
  ReducedDims reduced;
  DimVector sizes;
  DimVector out_steps;
  DimVector in_steps;
  size_t out_dim = 0;
  for (size_t i = 0; i < self.sizes().size(); ++i) {
    const int64_t step = self.strides()[i] * itemsize;
    if ((mask >> i & 1) != 0) {
      reduced.add(self.sizes()[i], step);
      out_dim += keeps_rank ? 1 : 0;
      continue;
    }
    sizes.push_back(self.sizes()[i]);
    in_steps.push_back(step);
    out_steps.push_back(out.strides()[out_dim++] * out_itemsize);
  }
  reduced.join();
  ReducedRow row{};
  row.rank = reduced.rank;
  row.sizes = reduced.sizes;
  row.steps = reduced.steps;
  row.count = reduced.count;
  const ReduceLoop loop = op.loops[static_cast<size_t>(self.scalar_type())];
  StridedLoop nest(sizes);
  nest.addBytes(out.data_ptr(), out_steps);
  nest.addBytes(self.data_ptr(), in_steps);
  nest.run([&](char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
    row.results = n0;
    row.out_step = steps[0];
    row.in_step = steps[1];
    for (int64_t j = 0; j < n1; ++j) {
      row.out = data[0] + j * steps[kMaxOperands];
      row.in = data[1] + j * steps[kMaxOperands + 1];
      loop(row);
    }
  });
}

Tensor reduce(const Reduction& op, const Tensor& self, uint64_t mask, bool keepdim) {
  const ScalarType type = op.resultType(self.scalar_type());
  Tensor out = Tensor::allocate(shape::reducedSizes(self.sizes(), mask, keepdim), type);
  reduce(op, out, self, mask);
  return out;
}

}  // namespace boxcar::cpu
