#pragma once

#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>

#include <cstdint>
#include <optional>
#include <type_traits>

// The input elements of a resized dimension.

namespace boxcar::functors {

// The type that positions and weights are computed in.
template <class T>
using Coordinate = std::conditional_t<std::is_same_v<T, double>, double, float>;

// The type that elements are blended in, and the element that a blend becomes: integers are rounded to the nearest.
template <class T>
using BlendType = std::conditional_t<std::is_integral_v<T>, float, Compute<T>>;
template <class T>
BOXCAR_HOST_DEVICE T elementOfBlend(BlendType<T> value) {
  return static_cast<T>(std::is_integral_v<T> ? nearbyint(value) : value);
}

// Returns the step in the input per output element. A scale factor given by the caller takes precedence over the sizes.
template <class C>
C upsampleStep(int64_t in, int64_t out, std::optional<double> scale) {
  if (scale.has_value() && *scale > 0) return static_cast<C>(1.0 / *scale);
  return static_cast<C>(in) / static_cast<C>(out);
}

// A dimension of [in] elements resized to the nearest elements.
template <class C>
struct NearestAxis {
  int64_t in;
  C step;
  C offset;  // added to output positions

  // Positions are those of the elements' starts, or with [of_centres] those of their centres.
  NearestAxis(int64_t in_size, int64_t out, std::optional<double> scale, bool of_centres = false)
      : in(in_size), step(upsampleStep<C>(in_size, out, scale)), offset(of_centres ? C(0.5) : C(0)) {}

  // Returns the input index of output element [i].
  BOXCAR_HOST_DEVICE int64_t at(int64_t i) const {
    const C position = floor((static_cast<C>(i) + offset) * step);
    const C last = static_cast<C>(in - 1);
    const auto index = static_cast<int64_t>(position < last ? position : last);
    return index < in ? index : in - 1;
  }
};

// Two neighbours and their weights in an output element.
template <class C>
struct Blend {
  int64_t low;
  int64_t high;
  C low_weight;
  C high_weight;
};

// A dimension of [in] elements resized by linear interpolation.
template <class C>
struct LinearAxis {
  int64_t in;
  int64_t out;
  bool align_corners;
  C step;

  LinearAxis(int64_t in_size, int64_t out_size, bool aligned, std::optional<double> scale)
      : in(in_size), out(out_size), align_corners(aligned), step(0) {
    if (!aligned) {
      step = upsampleStep<C>(in_size, out_size, scale);
    } else if (out_size > 1) {
      step = static_cast<C>(in_size - 1) / static_cast<C>(out_size - 1);
    }
  }

  BOXCAR_HOST_DEVICE Blend<C> at(int64_t i) const {
    const auto place = static_cast<C>(i);
    C position = align_corners ? place * step : (place + C(0.5)) * step - C(0.5);
    if (position < 0) position = 0;
    if (in == out) position = place;
    const C last = static_cast<C>(in - 1);
    const auto low = static_cast<int64_t>(position < last ? position : last);
    const int64_t bounded = low < in - 1 ? low : in - 1;
    const C rest = position - static_cast<C>(bounded);
    const C fraction = rest < 0 ? C(0) : rest > 1 ? C(1) : rest;
    return {bounded, bounded < in - 1 ? bounded + 1 : in - 1, C(1) - fraction, fraction};
  }
};

// Four neighbours and their weights in an output element.
template <class C>
struct CubicBlend {
  int64_t at[4];
  C weight[4];
};

// Sets [weight] to the weights of cubic convolution, with A = -0.75, for a position [t] after the second of four
// elements.
template <class C>
BOXCAR_HOST_DEVICE void cubicWeights(C t, C* weight) {
  constexpr C a = C(-0.75);
  const auto near = [](C x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [](C x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  weight[0] = far(t + 1);
  weight[1] = near(t);
  weight[2] = near(1 - t);
  weight[3] = far(2 - t);
}

// A dimension of [in] elements resized by cubic convolution. Positions outside read the first or last element.
template <class C>
struct CubicAxis {
  int64_t in;
  bool align_corners;
  C step = 0;

  CubicAxis(int64_t in_size, int64_t out, bool aligned, std::optional<double> scale)
      : in(in_size), align_corners(aligned) {
    if (!aligned) {
      step = upsampleStep<C>(in_size, out, scale);
    } else if (out > 1) {
      step = static_cast<C>(in_size - 1) / static_cast<C>(out - 1);
    }
  }

  CubicBlend<C> at(int64_t i) const {
    const auto place = static_cast<C>(i);
    const C position = align_corners ? place * step : (place + C(0.5)) * step - C(0.5);
    const C last = static_cast<C>(in - 1);
    const C whole = floor(position);
    const auto first = static_cast<int64_t>(whole < last ? whole : last);
    const C rest = position - static_cast<C>(first);
    CubicBlend<C> blend;
    cubicWeights(rest < 0 ? C(0) : rest > 1 ? C(1) : rest, blend.weight);
    for (int64_t k = 0; k < 4; ++k) {
      const int64_t neighbour = first - 1 + k;
      blend.at[k] = neighbour < 0 ? 0 : neighbour < in ? neighbour : in - 1;
    }
    return blend;
  }
};

}  // namespace boxcar::functors
