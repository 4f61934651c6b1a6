#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/cpu/strided_loop.h>
#include <boxcar/backends/meta/dims.h>

#include <algorithm>
#include <cstdint>

namespace boxcar::cpu {
namespace {

// The reduced dimensions, innermost first; dimensions that are contiguous with each other are merged.
struct ReducedDims {
  int64_t sizes[kMaxDims];
  int64_t steps[kMaxDims];
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

// Returns the steps of work of a reduction of [elements] to [results]. [is_row]: elements of a result, or of adjacent
// results, lie one after another.
int64_t stepsOf(const ReduceLoop& loop, int64_t elements, int64_t results, bool is_row) {
  // Vectors take about as long for so many elements of float32 as other loops for one.
  constexpr int64_t kVectorElements = 8;
  constexpr int64_t kStepsOfResult = 4;
  if (!is_row || !loop.accumulation->is_quick || loop.type != loop.computed) return elements;
  const int64_t together = kVectorElements * int64_t{sizeof(float)} / loop.accumulation->itemsize;
  return elements / together + kStepsOfResult * results;
}

// Returns whether threads share the elements of each result because there are too few results to distribute.
bool sharesElements(int64_t steps, int64_t results) {
  return steps >= 2 * results * kParallelGrain && results < 8 * int64_t{threadCount()} && runsInParallel(steps);
}

ReducedRow rowOf(const ReducedDims& reduced, double param) {
  ReducedRow row{};
  row.rank = reduced.rank;
  row.sizes = reduced.sizes;
  row.steps = reduced.steps;
  row.count = reduced.count;
  row.param = param;
  return row;
}

// Reduces all elements of a contiguous tensor to one result.
void reduceAll(const ReduceLoop& loop, const Tensor& out, const Tensor* second, const Tensor& self, double param) {
  const int64_t count = self.numel();
  const auto step = static_cast<int64_t>(self.itemsize());
  ReducedRow row{};
  row.rank = 1;
  row.sizes = &count;
  row.steps = &step;
  row.count = count;
  row.param = param;
  row.results = 1;
  row.out = static_cast<char*>(out.data_ptr());
  row.second = second != nullptr ? static_cast<char*>(second->data_ptr()) : nullptr;
  row.in = static_cast<const char*>(self.data_ptr());
  row.parallel = sharesElements(stepsOf(loop, count, 1, /*is_row=*/true), 1);
  reduceRow(loop, row);
}

bool coversAll(uint64_t mask, int64_t rank) {
  const uint64_t every = rank >= 64 ? ~uint64_t{0} : (uint64_t{1} << rank) - 1;
  return (mask & every) == every;
}

#define BOXCAR_ADDRESS_OF_LOOPS(reducer, types) &LoopsOfReducer<Reducer::k##reducer>::value,
constexpr const ReduceLoops* kReduceLoops[functors::kReducers] = {BOXCAR_REDUCERS(BOXCAR_ADDRESS_OF_LOOPS)};
#undef BOXCAR_ADDRESS_OF_LOOPS

void reduce(Reducer reducer, const Tensor& out, const Tensor* second, const Tensor& self, uint64_t mask, double param) {
  const ReduceLoop& loop = *(*kReduceLoops[static_cast<size_t>(reducer)])[static_cast<size_t>(self.scalar_type())];
  if (self.is_contiguous() && coversAll(mask, self.dim())) return reduceAll(loop, out, second, self, param);
  const auto itemsize = static_cast<int64_t>(self.itemsize());
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
    out_steps.push_back(out.strides()[out_dim++]);
  }
  reduced.join();
  const auto bytesOf = [&](const Tensor& tensor) {
    DimVector steps = out_steps;
    for (int64_t& step : steps) step *= static_cast<int64_t>(tensor.itemsize());
    return steps;
  };
  // The memory order of the input matters more than that of the results.
  StridedLoop nest(sizes);
  nest.addBytes(self.data_ptr(), in_steps);
  nest.addBytes(out.data_ptr(), bytesOf(out));
  if (second != nullptr) nest.addBytes(second->data_ptr(), bytesOf(*second));
  ReducedRow whole = rowOf(reduced, param);
  const bool is_row = reduced.steps[0] == itemsize || std::ranges::find(in_steps, itemsize) != in_steps.end();
  const int64_t steps = stepsOf(loop, self.numel(), out.numel(), is_row);
  whole.parallel = sharesElements(steps, out.numel());
  const auto body = [&](char* const* data, const int64_t* strides, int64_t n0, int64_t n1) {
    ReducedRow row = whole;
    row.results = n0;
    row.in_step = strides[0];
    row.out_step = strides[1];
    row.second_step = strides[2];
    for (int64_t j = 0; j < n1; ++j) {
      row.in = data[0] + j * strides[kMaxOperands];
      row.out = data[1] + j * strides[kMaxOperands + 1];
      if (second != nullptr) row.second = data[2] + j * strides[kMaxOperands + 2];
      reduceRow(loop, row);
    }
  };
  if (whole.parallel) {
    nest.run(body);
  } else {
    nest.runParallel(steps, body);
  }
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, runReduction, cpu::reduce)

}  // namespace boxcar::native
