#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/kernels/random_numbers.h>
#include <boxcar/backends/cuda/random_kernels.h>
#include <boxcar/backends/functors/functions.h>

namespace boxcar::cuda {
namespace {

using functors::Refusal;

constexpr int kThreads = CategoryLaunch::kParts;

// Returns a weight. An invalid one is noted and counts as 0.
template <class P>
BOXCAR_HOST_DEVICE double weightAt(const CategoryLaunch& launch, int64_t row, int64_t category) {
  const double weight = static_cast<double>(static_cast<const P*>(launch.weights)[row * launch.categories + category]);
  if (weight >= 0 && weight < std::numeric_limits<double>::infinity()) return weight;
  noteFailure(launch.failure, Refusal::kWeight, category);
  return 0;
}

// Returns the first category of a part of a row. For the part after the last one, this is the end of the row.
BOXCAR_HOST_DEVICE inline int64_t partBegin(const CategoryLaunch& launch, int64_t part) {
  const int64_t length = (launch.categories + kThreads - 1) / kThreads;
  return part * length < launch.categories ? part * length : launch.categories;
}

// One block per row, one thread per part of it.
template <class P>
struct SumWeights {
  CategoryLaunch launch;

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    const int64_t row = block.index();
    double* const sums = launch.sums + row * launch.categories;
    double* const bases = launch.bases + row * (kThreads + 1);
    double* const parts = block.shared<double>();
    block.each([&](int thread) {
      double sum = 0;
      for (int64_t i = partBegin(launch, thread); i < partBegin(launch, thread + 1); ++i) {
        sum += weightAt<P>(launch, row, i);
        sums[i] = sum;
      }
      parts[thread] = sum;
    });
    block.each([&](int thread) {
      if (thread != 0) return;
      double base = 0;
      for (int part = 0; part < kThreads; ++part) {
        bases[part] = base;
        base += parts[part];
      }
      bases[kThreads] = base;
      if (!(base > 0)) noteFailure(launch.failure, Refusal::kNoWeight, row);
    });
  }
};

// Returns the first position in [begin, end) whose element is greater than [value], or [end].
BOXCAR_HOST_DEVICE inline int64_t firstGreater(const double* sorted, int64_t begin, int64_t end, double value) {
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    if (sorted[middle] > value) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

// One thread per sample: finds the category whose interval of the running sum contains a uniform number. That category
// has a nonzero weight, because the sum grows there.
struct SampleSums {
  CategoryLaunch launch;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i >= launch.rows * launch.samples) return;
    const int64_t row = i / launch.samples;
    const double* const sums = launch.sums + row * launch.categories;
    const double* const bases = launch.bases + row * (kThreads + 1);
    const auto number = static_cast<uint64_t>(i);
    const functors::PhiloxBlock drawn = functors::philoxBlock(launch.seed, launch.block + number / 2);
    const double place = unitNumber<double>(drawn, static_cast<int>(number % 2)) * bases[kThreads];
    const int64_t behind = firstGreater(bases, 1, kThreads, place);
    const int64_t begin = partBegin(launch, behind - 1);
    const int64_t end = partBegin(launch, behind);
    int64_t found = firstGreater(sums, begin, end, place - bases[behind - 1]);
    if (found == end) {  // caused by rounding; take the part's last category with a weight
      --found;
      while (found > begin && sums[found] == sums[found - 1]) --found;
    }
    launch.out[i] = found;
  }
};

struct Key {
  double key;
  int64_t category;
};
struct GreaterKey {
  BOXCAR_HOST_DEVICE Key operator()(const Key& a, const Key& b) const {
    if (a.key != b.key) return a.key > b.key ? a : b;
    return a.category < b.category ? a : b;
  }
};

// One block per row: the weights divided by exponential random numbers.
template <class P>
struct CategoryKeys {
  CategoryLaunch launch;

  BOXCAR_HOST_DEVICE double keyOf(int64_t row, int64_t category) const {
    const double weight = weightAt<P>(launch, row, category);
    if (weight == 0) return 0;
    const auto number = static_cast<uint64_t>(row * launch.categories + category);
    const functors::PhiloxBlock drawn = functors::philoxBlock(launch.seed, launch.block + number / 2);
    return weight / -functors::log1p(-insideNumber<double>(drawn, static_cast<int>(number % 2)));
  }

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    const int64_t row = block.index();
    const Key greatest = block.combine(
        block.shared<Key>(),
        [&](int thread) {
          Key mine{-1, 0};
          for (int64_t category = thread; category < launch.categories; category += kThreads) {
            const double key = keyOf(row, category);
            if (launch.keys != nullptr) launch.keys[row * launch.categories + category] = key;
            if (key > mine.key) mine = {key, category};
          }
          return mine;
        },
        GreaterKey());
    block.each([&](int thread) {
      if (thread != 0) return;
      if (!(greatest.key > 0)) noteFailure(launch.failure, Refusal::kNoWeight, row);
      if (launch.keys == nullptr) launch.out[row] = greatest.category;
    });
  }
};

template <template <class> class Kernel>
void runRows(const CategoryLaunch& launch, size_t shared_bytes) {
  if (launch.type == ScalarType::Double) {
    launchBlocks<kThreads>(launch.rows, shared_bytes, Kernel<double>{launch});
  } else {
    launchBlocks<kThreads>(launch.rows, shared_bytes, Kernel<float>{launch});
  }
}

}  // namespace

void launchRepeatedCategories(const CategoryLaunch& launch) {
  runRows<SumWeights>(launch, kThreads * sizeof(double));
  launchGrid<kThreads>(blocksFor(launch.rows * launch.samples, kThreads), SampleSums{launch});
}

void launchCategoryKeys(const CategoryLaunch& launch) { runRows<CategoryKeys>(launch, 33 * sizeof(Key)); }

}  // namespace boxcar::cuda
