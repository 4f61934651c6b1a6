#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ops.h>
#include <boxcar/schema/function_object.h>
#include <boxcar/schema/parse_schema.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// Random programs of operators, views and writes: their derivatives backwards, forwards and by differences are equal.

namespace boxcar::autograd {
namespace {

constexpr int64_t kSize = 3;

// A program over matrices. Each step takes two values that are there and adds one.
class RandomProgram final {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed) {
    const int steps = 6 + pick(10);
    for (int i = 0; i < steps; ++i) steps_.push_back({pick(kKinds), pick(2 + i), pick(2 + i), pick(kSize)});
  }

  // Returns one number for each of its two inputs' values.
  Tensor run(const Tensor& a, const Tensor& b) const {
    std::vector<Tensor> values{a, b};
    for (const Step& step : steps_) values.push_back(next(step, values[step.left], values[step.right]));
    Tensor sum = boxcar::sum(values.back());
    for (size_t i = 2; i < values.size(); ++i) sum = boxcar::add(sum, boxcar::mean(values[i]));
    return sum;
  }

  std::string text() const {
    std::string text;
    for (const Step& step : steps_) {
      text += std::to_string(step.kind) + "(" + std::to_string(step.left) + ", " + std::to_string(step.right) + ", " +
              std::to_string(step.place) + ") ";
    }
    return text;
  }

  Tensor matrix() {
    Tensor made = boxcar::empty(std::vector<int64_t>{kSize, kSize}, ScalarType::Double);
    std::uniform_real_distribution<double> numbers(-1, 1);
    for (int64_t i = 0; i < kSize * kSize; ++i) made.mutable_data_ptr<double>()[i] = numbers(random_);
    return made;
  }

 private:
  static constexpr int kKinds = 14;
  struct Step {
    int kind;
    int left;
    int right;
    int place;
  };

  int pick(int64_t count) { return static_cast<int>(random_() % static_cast<uint32_t>(count)); }

  static Tensor next(const Step& step, const Tensor& left, const Tensor& right) {
    switch (step.kind) {
      case 0: return boxcar::sin(left);
      case 1: return boxcar::tanh(left);
      case 2: return boxcar::sigmoid(boxcar::mul(left, right));
      case 3: return boxcar::add(left, right, 0.5);
      case 4: return boxcar::mul(left, boxcar::cos(right));
      case 5: return boxcar::div(boxcar::mm(left, right), 3);
      case 6: return boxcar::sub(boxcar::t(left), right);
      case 7: return boxcar::softmax(left, step.place % 2);
      case 8: return boxcar::expand(boxcar::mean(left, std::vector<int64_t>{0}), std::vector<int64_t>{kSize, kSize});
      case 9: return boxcar::div(left, boxcar::add(boxcar::square(right), 1));
      case 10: {  // a write to all
        Tensor copy = boxcar::clone(left);
        boxcar::mul_(copy, right);
        return boxcar::tanh(copy);
      }
      case 11: {  // a write to a view
        Tensor copy = boxcar::clone(left);
        Tensor row = boxcar::select(copy, 0, step.place);
        boxcar::copy_(row, boxcar::select(right, 1, step.place));
        return copy;
      }
      case 12: {  // a write to a base is seen in an older view
        Tensor copy = boxcar::clone(left);
        const Tensor turned = boxcar::t(copy);
        boxcar::add_(copy, boxcar::sin(right));
        return boxcar::mul(turned, 0.5);
      }
      default: {
        const Tensor halves[] = {boxcar::narrow(left, 0, 0, step.place),
                                 boxcar::narrow(right, 0, step.place, kSize - step.place)};
        return boxcar::cat(TensorList(halves), 0);
      }
    }
  }

  std::mt19937 random_;
  std::vector<Step> steps_;
};

double numberOf(const Tensor& tensor) { return boxcar::item(tensor).toDouble(); }

double productOf(const Tensor& a, const Tensor& b) { return numberOf(boxcar::sum(boxcar::mul(a, b))); }

// The change of the program's result along [along], forwards.
double forwards(const RandomProgram& program, const std::vector<Tensor>& at, const std::vector<Tensor>& along) {
  const FunctionPtr function = makeFunction(parseSchema("program(Tensor a, Tensor b) -> Tensor"), [&](Stack& stack) {
    const Tensor b = pop(stack).toTensor();
    const Tensor a = pop(stack).toTensor();
    push(stack, program.run(a, b));
  });
  const auto listOf = [](const std::vector<Tensor>& tensors) {
    return IValue(std::vector<IValue>(tensors.begin(), tensors.end()));
  };
  Stack stack{IValue(function), listOf(at), listOf(along)};
  Dispatcher::singleton().findSchemaOrThrow("func::jvp", "").callBoxed(stack);
  return numberOf(pop(stack).toTensor());
}

TEST(RandomPrograms, AreDifferentiatedBothWays) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    RandomProgram program(seed);
    const std::vector<Tensor> at{program.matrix(), program.matrix()};
    const std::vector<Tensor> along{program.matrix(), program.matrix()};
    const std::vector<Tensor> leaves{boxcar::clone(at[0]).set_requires_grad(true),
                                     boxcar::clone(at[1]).set_requires_grad(true)};
    const Tensor result = program.run(leaves[0], leaves[1]);
    double backwards = 0;
    if (result.requires_grad()) {
      const std::vector<Tensor> gradients = grad({{result}}, leaves, {}, std::nullopt, false, true);
      for (size_t i = 0; i < 2; ++i) backwards += gradients[i].defined() ? productOf(gradients[i], along[i]) : 0;
    }
    constexpr double kStep = 1e-6;
    const auto moved = [&](double step) {
      return numberOf(program.run(boxcar::add(at[0], along[0], step), boxcar::add(at[1], along[1], step)));
    };
    const double by_difference = (moved(kStep) - moved(-kStep)) / (2 * kStep);
    const double tolerance = 1e-7 * (1 + std::abs(by_difference));
    EXPECT_NEAR(backwards, by_difference, tolerance) << "program " << seed << ": " << program.text();
    EXPECT_NEAR(forwards(program, at, along), backwards, 1e-12 * (1 + std::abs(backwards)))
        << "program " << seed << ": " << program.text();
  }
}

}  // namespace
}  // namespace boxcar::autograd
