#pragma once

#include <boxcar/backends/meta/random.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/generator.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>

// Random numbers. Each device draws from its own generator: the given one, or the device's default. A function throws
// Error for the generator of another device before it writes anything.

namespace boxcar::native {

using OptionalGenerator = std::optional<Generator>;

// Writes real floating-point numbers, uniform in [from, to).
using FillUniform = void(const Tensor& self, double from, double to, const OptionalGenerator& generator);
extern DeviceStub<FillUniform> fillUniform;
using FillNormal = void(const Tensor& self, double mean, double std, const OptionalGenerator& generator);
extern DeviceStub<FillNormal> fillNormal;
// Writes exponentially distributed numbers with [rate], all above 0.
using FillExponential = void(const Tensor& self, double rate, const OptionalGenerator& generator);
extern DeviceStub<FillExponential> fillExponential;

// Writes integers of [range]; without a range, integers from 0 to the largest one up to which the type holds all
// integers.
using FillIntegers = void(const Tensor& self, const std::optional<meta::IntegerRange>& range,
                          const OptionalGenerator& generator);
extern DeviceStub<FillIntegers> fillIntegers;

// Writes 1 with probability [p], else 0.
using FillOnes = void(const Tensor& self, double p, const OptionalGenerator& generator);
extern DeviceStub<FillOnes> fillOnes;
// Like fillOnes with floating-point probabilities. [expanded] is a view of [p], or of a copy, with the sizes of [self],
// so [p] has fewer elements to check. Throws Error if one is outside [0, 1].
using FillOnesOfEach = void(const Tensor& self, const Tensor& p, const Tensor& expanded,
                            const OptionalGenerator& generator);
extern DeviceStub<FillOnesOfEach> fillOnesOfEach;

// Writes the integers from 0 on in random order to [numbers], which is contiguous and of a real type that holds them.
using Shuffle = void(const Tensor& numbers, const OptionalGenerator& generator);
extern DeviceStub<Shuffle> shuffle;

// Draws categories by the weights in each row of [weights], floats, and writes them to the rows of [result], contiguous
// int64. With [replacement], each may be drawn again.
using DrawCategories = void(const Tensor& result, const Tensor& weights, bool replacement,
                            const OptionalGenerator& generator);
extern DeviceStub<DrawCategories> drawCategories;

}  // namespace boxcar::native
