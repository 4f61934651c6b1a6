#pragma once

#include <boxcar/backends/composite/host_values.h>
#include <boxcar/backends/functors/upsample.h>
#include <boxcar/ivalue/stop_request.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

// Resizing a dimension as a table: each element of the result is a sum of some elements of the input, its taps, times
// weights.

namespace boxcar::composite {

template <class C>
struct Taps {
  int64_t count;                 // of each element of the result
  std::vector<int64_t> indices;  // [elements of the result, count]
  std::vector<C> weights;        // the same; empty if all are 1

  int64_t size() const { return static_cast<int64_t>(indices.size()) / count; }
  // Those of tap [k].
  Tensor indicesOf(int64_t k, Device device) const { return column(indices, k, device); }
  Tensor weightsOf(int64_t k, Device device) const { return column(weights, k, device); }

 private:
  template <class T>
  Tensor column(const std::vector<T>& table, int64_t k, Device device) const {
    std::vector<T> values;
    for (auto i = static_cast<size_t>(k); i < table.size(); i += static_cast<size_t>(count)) {
      values.push_back(table[i]);
    }
    return tensorOf<T>(values, device);
  }
};

template <class C>
Taps<C> nearestTaps(int64_t in, int64_t size, std::optional<double> scale, bool of_centres) {
  const functors::NearestAxis<C> axis(in, size, scale, of_centres);
  Taps<C> taps{1, {}, {}};
  for (int64_t i = 0; i < size; ++i) {
    checkStop();
    taps.indices.push_back(axis.at(i));
  }
  return taps;
}

template <class C>
Taps<C> linearTaps(int64_t in, int64_t size, bool align_corners, std::optional<double> scale) {
  const functors::LinearAxis<C> axis(in, size, align_corners, scale);
  Taps<C> taps{2, {}, {}};
  for (int64_t i = 0; i < size; ++i) {
    checkStop();
    const functors::Blend<C> blend = axis.at(i);
    taps.indices.insert(taps.indices.end(), {blend.low, blend.high});
    taps.weights.insert(taps.weights.end(), {blend.low_weight, blend.high_weight});
  }
  return taps;
}

template <class C>
Taps<C> cubicTaps(int64_t in, int64_t size, bool align_corners, std::optional<double> scale) {
  const functors::CubicAxis<C> axis(in, size, align_corners, scale);
  Taps<C> taps{4, {}, {}};
  for (int64_t i = 0; i < size; ++i) {
    checkStop();
    const functors::CubicBlend<C> blend = axis.at(i);
    taps.indices.insert(taps.indices.end(), std::begin(blend.at), std::end(blend.at));
    taps.weights.insert(taps.weights.end(), std::begin(blend.weight), std::end(blend.weight));
  }
  return taps;
}

// The weight of an element at distance [x] in bilinear and in bicubic interpolation.
struct LinearWindow {
  static constexpr int kReach = 1;
  template <class C>
  static C weight(C x) {
    return std::max(C(1) - std::abs(x), C(0));
  }
};
struct CubicWindow {
  static constexpr int kReach = 2;
  template <class C>
  static C weight(C x) {
    constexpr C kA = C(-0.5);
    x = std::abs(x);
    if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
    return x < 2 ? ((x - 5) * x + 8) * x * kA - 4 * kA : C(0);
  }
};

// Where steps are longer than an element, windows are that much wider.
template <class Window, class C>
Taps<C> smoothTaps(int64_t in, int64_t size, bool align_corners, std::optional<double> scale) {
  const C step = functors::LinearAxis<C>(in, size, align_corners, scale).step;
  const C widening = std::max(step, C(1));
  const C reach = Window::kReach * widening;
  Taps<C> taps{static_cast<int64_t>(std::min(std::ceil(reach) * 2 + 1, static_cast<C>(in))), {}, {}};
  for (int64_t i = 0; i < size; ++i) {
    checkStop();
    const C centre = step * (static_cast<C>(i) + C(0.5));
    const int64_t first = std::clamp(static_cast<int64_t>(centre - reach + C(0.5)), int64_t{0}, in - 1);
    const int64_t end =
        std::clamp(static_cast<int64_t>(centre + reach + C(0.5)), first + 1, std::min(in, first + taps.count));
    const size_t start = taps.weights.size();
    C total = 0;
    for (int64_t k = 0; k < taps.count; ++k) {
      const C distance = (static_cast<C>(first + k) - centre + C(0.5)) / widening;
      const C weight = first + k < end ? Window::weight(distance) : C(0);
      taps.indices.push_back(std::min(first + k, in - 1));
      taps.weights.push_back(weight);
      total += weight;
    }
    for (size_t k = start; total != 0 && k < taps.weights.size(); ++k) taps.weights[k] /= total;
  }
  return taps;
}

}  // namespace boxcar::composite
