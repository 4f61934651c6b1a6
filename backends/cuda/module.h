#pragma once

#include <boxcar/backends/cuda/attention.h>
#include <boxcar/backends/cuda/bincount_kernels.h>
#include <boxcar/backends/cuda/channel_kernels.h>
#include <boxcar/backends/cuda/convolution.h>
#include <boxcar/backends/cuda/driver.h>
#include <boxcar/backends/cuda/gemm.h>
#include <boxcar/backends/cuda/indexed_launcher.h>
#include <boxcar/backends/cuda/loss_kernels.h>
#include <boxcar/backends/cuda/matrix_kernels.h>
#include <boxcar/backends/cuda/picture_kernels.h>
#include <boxcar/backends/cuda/pointwise_launcher.h>
#include <boxcar/backends/cuda/random_kernels.h>
#include <boxcar/backends/cuda/reduce_launcher.h>
#include <boxcar/backends/cuda/row_kernels.h>
#include <boxcar/backends/cuda/scan_kernels.h>
#include <boxcar/backends/cuda/search_kernels.h>
#include <boxcar/backends/cuda/select_kernels.h>
#include <boxcar/backends/cuda/solvers.h>
#include <boxcar/backends/cuda/sort_kernels.h>
#include <boxcar/backends/cuda/strided_layout.h>
#include <boxcar/backends/cuda/vector_kernels.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/scalar_type.h>

#include <string>

// What nvcc and the toolkit's headers are needed for, as a table: the runtime, the kernels, NVIDIA's libraries. It lies
// in libboxcar_cuda.so, beside libboxcar.so, which opens it when a program first asks for CUDA: a program that does not
// neither starts slower nor is larger, and libboxcar.so can be opened by any process (the runtime wants more room for
// the state of threads than a process has left for that). Static programs have it inside.
//
// The rest of backends/cuda is host code as any other.

namespace boxcar::cuda {

struct Module {
  // Changes with this struct.
  static constexpr int kFormat = 1;
  int format;

  const Driver* driver;

  // By functor and by reducer.
  const PointwiseLaunchers* const* pointwise;
  const ReduceLaunchers* const* reductions;
  // Writes elements of [from] at [source] as elements of [to] to [target]; operand 0 of [layout] is the target.
  void (*copy_strided)(char* target, ScalarType to, const char* source, ScalarType from, const StridedLayout& layout);
  void (*softmax)(const SoftmaxLaunch& launch);
  void (*layer_norm)(const LayerNormLaunch& launch);
  // Elements that indices choose.
  void (*read_chosen)(const IndexedLaunch& launch, size_t itemsize);
  void (*write_chosen)(const IndexedLaunch& launch, size_t itemsize);
  void (*combine_chosen)(const IndexedLaunch& launch, ScalarType type, elements::Combination how, const Scalar& scale);
  void (*check_chosen)(const IndexedLaunch& launch);
  void (*add_offsets)(const IndexedLaunch& launch);
  void (*sequence)(void* out, ScalarType type, int64_t count, const dense::Sequence& sequence);
  void (*triangle)(const TriangleLaunch& launch);
  void (*class_losses)(const ClassLossLaunch& launch);
  // Of integers, by a kernel of boxcar's own.
  void (*multiply_integers)(const GemmCall& call);
  // By cuBLASLt, which sums float16 and bfloat16 in float32: floats and complex numbers. False, and nothing done, when
  // it cannot add the bias. An Error that names mm when the library is not there.
  bool (*multiply)(const GemmCall& call);

  void (*batch_norm)(const BatchNormLaunch& launch);
  // Pictures.
  void (*pad)(const PadLaunch& launch);
  void (*greatest_of_windows)(const PoolLaunch& launch);
  void (*mean_of_windows)(const PoolLaunch& launch);
  void (*upsample_nearest)(const UpsampleLaunch& launch);
  void (*upsample_linear)(const UpsampleLaunch& launch);
  // Vectors.
  void (*cross)(const CrossLaunch& launch);
  void (*distances)(const DistancesLaunch& launch);
  // By cuDNN. False, and nothing of worth written, when it has no such convolution, or boxcar was built without its
  // headers. An Error that names convolution when the library is not there.
  bool (*convolve)(const ConvolutionCall& call);
  // What convolutions by products are made of.
  void (*convolution_columns)(const ColumnsLaunch& launch);
  // By cuDNN. False, and nothing written, when it has no kernel for the call, one would have to be made while a graph
  // is captured, or boxcar was built without its headers. An Error that names the operator when the library is not
  // there.
  bool (*attend)(const AttentionCall& call);
  // Random numbers.
  void (*random)(const RandomLaunch& launch);
  void (*ones_of_each)(const OnesLaunch& launch);
  void (*repeated_categories)(const CategoryLaunch& launch);
  void (*category_keys)(const CategoryLaunch& launch);
  // Linear algebra.
  const SolverFunctions* solvers;
  void (*determinants)(const DeterminantLaunch& launch);
  // Elements in order, and those up to each.
  void (*scan)(const ScanLaunch& launch, elements::Scan scan);
  void (*scan_extremes)(const ScanLaunch& launch, bool greatest);
  void (*short_sort)(const SortLaunch& launch);
  size_t (*long_sort_bytes)(const SortLaunch& launch);
  void (*long_sort)(const SortLaunch& launch, void* workspace);
  size_t (*places_of_true_bytes)(int64_t n);
  void (*places_of_true)(void* workspace, size_t bytes, const bool* flags, int64_t* places, int64_t* count, int64_t n);
  void (*indices_along)(int64_t* out, const int64_t* places, int64_t below, int64_t size, int64_t n);
  void (*fill_masked)(const FillMaskedLaunch& launch, size_t itemsize);
  void (*search)(const SearchLaunch& launch);
  void (*find)(const FindLaunch& launch);
  void (*choose_rows)(const SortLaunch& launch);
  void (*middle)(const MiddleLaunch& launch, const int64_t* places);
  void (*middle_of_rows)(const MiddleLaunch& launch);
  void (*count)(const CountLaunch& launch);
};

// The module, or null, and in [why] the reason in words, "not built" where boxcar was built without nvcc. open/ has it
// where it is opened, linked/ where it is inside, and no_cuda/ where there is none.
const Module* findModule(std::string& why);

// The module: an Error where there is none.
const Module& module();

}  // namespace boxcar::cuda

// What libboxcar_cuda.so exports.
extern "C" BOXCAR_API const boxcar::cuda::Module* boxcarCudaModule();
