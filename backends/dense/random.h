#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/backends/shape/random.h>
#include <boxcar/ivalue/generator.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>

// Random numbers, which each device draws from a generator of its own: the one that is given, or the device's default
// one. A function refuses the generator of another device before it writes anything.

namespace boxcar::dense {

using OptionalGenerator = std::optional<Generator>;

// Real floating-point numbers, evenly from [from, to).
using FillUniform = void(const Tensor& self, double from, double to, const OptionalGenerator& generator);
extern DeviceFunction<FillUniform> fillUniform;
using FillNormal = void(const Tensor& self, double mean, double std, const OptionalGenerator& generator);
extern DeviceFunction<FillNormal> fillNormal;
// Numbers above 0 whose density falls with [rate].
using FillExponential = void(const Tensor& self, double rate, const OptionalGenerator& generator);
extern DeviceFunction<FillExponential> fillExponential;

// Integers of [range]; without one, of 0 to the largest that elements of the type hold without gaps.
using FillIntegers = void(const Tensor& self, const std::optional<shape::IntegerRange>& range,
                          const OptionalGenerator& generator);
extern DeviceFunction<FillIntegers> fillIntegers;

// Ones with probability [p], else zeros.
using FillOnes = void(const Tensor& self, double p, const OptionalGenerator& generator);
extern DeviceFunction<FillOnes> fillOnes;
// The same by floating-point probabilities, of which there are fewer in [p] than in [expanded], a view of it, or of a
// copy, with the sizes of [self]. Refuses those outside of [0, 1].
using FillOnesOfEach = void(const Tensor& self, const Tensor& p, const Tensor& expanded,
                            const OptionalGenerator& generator);
extern DeviceFunction<FillOnesOfEach> fillOnesOfEach;

// The integers from 0 on in random order to [numbers], which is contiguous and of a real type that holds them.
using Shuffle = void(const Tensor& numbers, const OptionalGenerator& generator);
extern DeviceFunction<Shuffle> shuffle;

// Categories that are drawn by the weights in the rows of [weights], floats, to the rows of [result], contiguous int64.
// Each may be drawn again with [replacement].
using DrawCategories = void(const Tensor& result, const Tensor& weights, bool replacement,
                            const OptionalGenerator& generator);
extern DeviceFunction<DrawCategories> drawCategories;

}  // namespace boxcar::dense
