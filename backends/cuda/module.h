#pragma once

#include <boxcar/backends/cuda/attention.h>
#include <boxcar/backends/cuda/bincount_kernels.h>
#include <boxcar/backends/cuda/channel_kernels.h>
#include <boxcar/backends/cuda/convolution.h>
#include <boxcar/backends/cuda/driver.h>
#include <boxcar/backends/cuda/gemm.h>
#include <boxcar/backends/cuda/image_kernels.h>
#include <boxcar/backends/cuda/indexed_launcher.h>
#include <boxcar/backends/cuda/join_kernels.h>
#include <boxcar/backends/cuda/loss_kernels.h>
#include <boxcar/backends/cuda/matrix_kernels.h>
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

// Everything that needs nvcc and the toolkit's headers, as a table: the runtime, the kernels, NVIDIA's libraries. It is
// built into libboxcar_cuda.so, next to libboxcar.so, which opens it when a program first uses CUDA. A program that
// does not use CUDA starts no slower and is no larger, and any process can open libboxcar.so (the runtime needs more
// thread-local storage than a running process has left for that). Static programs have the module linked in.
//
// The rest of backends/cuda is ordinary host code.

namespace boxcar::cuda {

struct Module {
  // Increment when this struct changes.
  static constexpr int kFormat = 1;
  int format;

  const Driver* driver;

  // Indexed by functor and by reducer.
  const PointwiseLaunchers* const* pointwise;
  const ReduceLaunchers* const* reductions;
  // Converts the elements at [source] from [from] to [to] and writes them to [target]; operand 0 of [layout] is the
  // target.
  void (*copy_strided)(char* target, ScalarType to, const char* source, ScalarType from, const StridedLayout& layout);
  void (*join)(const JoinLaunch& launch);
  void (*softmax)(const SoftmaxLaunch& launch);
  void (*layer_norm)(const LayerNormLaunch& launch);
  // Elements selected by indices.
  void (*read_chosen)(const IndexedLaunch& launch, size_t itemsize);
  void (*write_chosen)(const IndexedLaunch& launch, size_t itemsize);
  void (*combine_chosen)(const IndexedLaunch& launch, ScalarType type, functors::Combination how, const Scalar& scale);
  void (*check_chosen)(const IndexedLaunch& launch);
  void (*add_offsets)(const IndexedLaunch& launch);
  void (*sequence)(void* out, ScalarType type, int64_t count, const native::Sequence& sequence);
  void (*triangle)(const TriangleLaunch& launch);
  void (*class_losses)(const ClassLossLaunch& launch);
  // For integers, by boxcar's own kernel.
  void (*multiply_integers)(const GemmCall& call);
  // By cuBLASLt, which accumulates float16 and bfloat16 in float32; for floats and complex numbers. Returns false,
  // having done nothing, if it cannot add the bias. Throws Error that names mm if the library is missing.
  bool (*multiply)(const GemmCall& call);

  void (*batch_norm)(const BatchNormLaunch& launch);
  // Images.
  void (*pad)(const PadLaunch& launch);
  void (*greatest_of_windows)(const PoolLaunch& launch);
  void (*mean_of_windows)(const PoolLaunch& launch);
  void (*upsample_nearest)(const UpsampleLaunch& launch);
  void (*upsample_linear)(const UpsampleLaunch& launch);
  // Vectors.
  void (*cross)(const CrossLaunch& launch);
  void (*distances)(const DistancesLaunch& launch);
  // By cuDNN. Returns false, with no valid output, if cuDNN has no such convolution or boxcar was built without cuDNN's
  // headers. Throws Error that names convolution if the library is missing.
  bool (*convolve)(const ConvolutionCall& call);
  // Building block of convolutions by matrix products.
  void (*convolution_columns)(const ColumnsLaunch& launch);
  // By cuDNN. Returns false, having written nothing, if cuDNN has no kernel for the call, if a kernel would have to be
  // built during a graph capture, or if boxcar was built without cuDNN's headers. Throws Error that names the operator
  // if the library is missing.
  bool (*attend)(const AttentionCall& call);
  // Random numbers.
  void (*random)(const RandomLaunch& launch);
  void (*ones_of_each)(const OnesLaunch& launch);
  void (*repeated_categories)(const CategoryLaunch& launch);
  void (*category_keys)(const CategoryLaunch& launch);
  // Linear algebra.
  const SolverFunctions* solvers;
  void (*determinants)(const DeterminantLaunch& launch);
  // Sorting and scans.
  void (*scan)(const ScanLaunch& launch, functors::Scan scan);
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

// Returns the module, or null with the reason in [why]: "not built" if boxcar was built without nvcc. open/ defines it
// where the module is opened, linked/ where it is linked in, and no_cuda/ where there is none.
const Module* findModule(std::string& why);

// Returns the module; throws Error if there is none.
const Module& module();

}  // namespace boxcar::cuda

// The export of libboxcar_cuda.so.
extern "C" BOXCAR_API const boxcar::cuda::Module* boxcarCudaModule();
