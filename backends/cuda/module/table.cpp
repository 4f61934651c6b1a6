#include <boxcar/backends/cuda/copy_kernels.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/module/parts.h>

namespace boxcar::cuda {
namespace {

using functors::Functor;
using functors::Reducer;

#define BOXCAR_ADDRESS_OF_LAUNCHERS(functor, arity, result, types) &LaunchersOf<Functor::k##functor>::value,
constexpr const PointwiseLaunchers* kPointwise[functors::kFunctors] = {BOXCAR_FUNCTORS(BOXCAR_ADDRESS_OF_LAUNCHERS) &
                                                                       LaunchersOf<Functor::kSelect>::value};
#undef BOXCAR_ADDRESS_OF_LAUNCHERS

#define BOXCAR_ADDRESS_OF_LAUNCHERS(reducer, types) &LaunchersOfReducer<Reducer::k##reducer>::value,
constexpr const ReduceLaunchers* kReductions[functors::kReducers] = {BOXCAR_REDUCERS(BOXCAR_ADDRESS_OF_LAUNCHERS)};
#undef BOXCAR_ADDRESS_OF_LAUNCHERS

}  // namespace
}  // namespace boxcar::cuda

const boxcar::cuda::Module* boxcarCudaModule() {
  using namespace boxcar::cuda;
  static const Module module{
      .format = Module::kFormat,
      .driver = &runtimeDriver(),
      .pointwise = kPointwise,
      .reductions = kReductions,
      .copy_strided = copyStrided,
      .join = launchJoin,
      .softmax = launchSoftmax,
      .layer_norm = launchLayerNorm,
      .read_chosen = launchReadChosen,
      .write_chosen = launchWriteChosen,
      .combine_chosen = launchCombineChosen,
      .check_chosen = launchCheckChosen,
      .add_offsets = launchAddOffsets,
      .sequence = launchSequence,
      .triangle = launchTriangle,
      .class_losses = launchClassLosses,
      .multiply_integers = multiplyIntegers,
      .multiply = multiplyByLibrary,
      .batch_norm = launchBatchNorm,
      .pad = launchPad,
      .greatest_of_windows = launchGreatest,
      .mean_of_windows = launchMean,
      .upsample_nearest = launchNearest,
      .upsample_linear = launchLinear,
      .cross = launchCross,
      .distances = launchDistances,
      .convolve = convolveByCudnn,
      .convolution_columns = launchColumns,
      .attend = attendByCudnn,
      .random = launchRandom,
      .ones_of_each = launchOnesOfEach,
      .repeated_categories = launchRepeatedCategories,
      .category_keys = launchCategoryKeys,
      .solvers = &librarySolvers(),
      .determinants = launchDeterminants,
      .scan = launchScan,
      .scan_extremes = launchScanExtremes,
      .short_sort = launchShortSort,
      .long_sort_bytes = longSortBytes,
      .long_sort = launchLongSort,
      .places_of_true_bytes = placesOfTrueBytes,
      .places_of_true = launchPlacesOfTrue,
      .indices_along = launchIndicesAlong,
      .fill_masked = launchFillMasked,
      .search = launchSearch,
      .find = launchFind,
      .choose_rows = launchChooseRows,
      .middle = launchMiddle,
      .middle_of_rows = launchMiddleOfRows,
      .count = launchCount,
  };
  return &module;
}
