#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/pointwise_launcher.h>
#include <boxcar/backends/functors/words.h>

#include <cstring>

namespace boxcar::cuda {
namespace {

constexpr int kThreads = 256;

// Selects between elements as plain words. Null stands for an element passed as a launch parameter.
template <class Word>
struct Select {
  static constexpr int kPerThread = 4;
  static constexpr int64_t kPerBlock = int64_t{kThreads} * kPerThread;

  Offsets<4> offsets;
  char* out;
  const char* condition;
  const char* choices[2];
  bool condition_value;
  Word values[2];
  int64_t n;

  BOXCAR_HOST_DEVICE Word read(int k, const int64_t* at) const {
    return choices[k] == nullptr ? values[k] : *reinterpret_cast<const Word*>(choices[k] + at[k + 2]);
  }

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    for (int p = 0; p < kPerThread; ++p) {
      const int64_t i = block * kPerBlock + int64_t{p} * kThreads + thread;
      if (i >= n) return;
      int64_t at[4];
      offsets.at(static_cast<uint32_t>(i), at);
      const bool first = condition == nullptr ? condition_value : *reinterpret_cast<const bool*>(condition + at[1]);
      *reinterpret_cast<Word*>(out + at[0]) = first ? read(0, at) : read(1, at);
    }
  }
};

template <class Word>
void select(const StridedLaunch& launch) {
  Select<Word> kernel{};
  const auto onHost = [&](int operand) { return (launch.on_host >> operand & 1) != 0; };
  if (onHost(1)) kernel.condition_value = *reinterpret_cast<const bool*>(launch.data[1]);
  for (int k = 0; k < 2; ++k) {
    if (onHost(k + 2)) std::memcpy(&kernel.values[k], launch.data[k + 2], sizeof(Word));
  }
  launch.layout->forParts<4>([&](const Offsets<4>& offsets, int64_t n, std::span<const int64_t> starts) {
    kernel.offsets = offsets;
    kernel.n = n;
    kernel.out = launch.data[0] + starts[0];
    kernel.condition = onHost(1) ? nullptr : launch.data[1] + starts[1];
    for (int k = 0; k < 2; ++k) {
      kernel.choices[k] = onHost(k + 2) ? nullptr : launch.data[k + 2] + starts[static_cast<size_t>(k) + 2];
    }
    launchGrid<kThreads>(blocksFor(n, kernel.kPerBlock), kernel);
  });
}

// Contiguous elements are a layout with one dimension.
template <class Word>
void selectFlat(const FlatLaunch& launch) {
  const int64_t sizes[] = {launch.n};
  StridedLayout layout(sizes);
  for (int k = 0; k < 4; ++k) {
    const int64_t strides[] = {1};
    layout.add(sizes, strides, launch.steps[k]);
  }
  layout.prepare();
  select<Word>({launch.data, &layout, launch.on_host, launch.params, launch.failure});
}

template <class Word>
constexpr PointwiseLauncher kLauncher{selectFlat<Word>, select<Word>};

template <class T>
constexpr PointwiseLauncher launcherFor() {
  return functors::visitWord(sizeof(T), []<class Word>(std::type_identity<Word>) { return kLauncher<Word>; });
}

template <class... Ts>
constexpr PointwiseLaunchers makeSelection(ElementTypes<Ts...>) {
  PointwiseLaunchers launchers{};
  ((launchers[static_cast<size_t>(scalarTypeOf<Ts>)] = launcherFor<Ts>()), ...);
  return launchers;
}

}  // namespace

template <>
const PointwiseLaunchers LaunchersOf<functors::Functor::kSelect>::value = makeSelection(kAllTypes);

}  // namespace boxcar::cuda
