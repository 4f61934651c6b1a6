#include <boxcar/backends/transforms/autocast.h>
#include <boxcar/ivalue/list.h>
#include <boxcar/ivalue/tuple.h>
#include <boxcar/ops.h>
#include <boxcar/schema/function_object.h>
#include <boxcar/schema/parse_schema.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// Random compositions of transforms over random smooth functions of three arguments: vectors x and y, and a matrix w.
// Each transform is compared with finite differences, or a loop, over what it is applied to, from the inside out. What
// fails is printed as a program.

namespace boxcar::transforms {
namespace {

using Ints = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;
using Random = std::mt19937_64;

int64_t below(Random& random, int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); }

constexpr const char* kSchema = "f(Tensor x, Tensor y, Tensor w) -> Tensor";
constexpr std::array<const char*, 3> kNames = {"x", "y", "w"};

FunctionPtr functionOf(std::function<Tensor(const Tensors&)> body) {
  return makeFunction(parseSchema(kSchema), [body = std::move(body)](Stack& stack) {
    const Tensor w = pop(stack).toTensor();
    const Tensor y = pop(stack).toTensor();
    const Tensor x = pop(stack).toTensor();
    stack.push_back(IValue(body({x, y, w})));
  });
}

IValue called(const FunctionObject& function, const std::vector<IValue>& args) {
  Stack stack(args.begin(), args.end());
  function.call(stack);
  return pop(stack);
}
Tensor valueOf(const FunctionPtr& function, const Tensors& args) {
  return called(*function, {args.begin(), args.end()}).toTensor();
}

// ---- Functions ----

// An expression: its text in a script, and its value.
struct Expression {
  std::string text;
  std::function<Tensor(const Tensors&)> value;
};

Expression vectorOf(Random& random, int depth);

Expression numberOf(Random& random, int depth) {
  const Expression u = vectorOf(random, depth - 1);
  switch (below(random, 4)) {
    case 0: return {fmt::format("sum({})", u.text), [u](const Tensors& args) { return boxcar::sum(u.value(args)); }};
    case 1: {
      const Expression v = vectorOf(random, depth - 1);
      return {fmt::format("dot({}, {})", u.text, v.text),
              [u, v](const Tensors& args) { return boxcar::dot(u.value(args), v.value(args)); }};
    }
    case 2:
      return {fmt::format("logsumexp({}, [0])", u.text),
              [u](const Tensors& args) { return boxcar::logsumexp(u.value(args), Ints{0}); }};
    default:
      return {fmt::format("sqrt(({0} * {0}).sum() + 1)", u.text), [u](const Tensors& args) {
                const Tensor value = u.value(args);
                return boxcar::sqrt(boxcar::add(boxcar::sum(boxcar::mul(value, value)), 1));
              }};
  }
}

// Writes in place, also through a view.
Tensor written(const Tensor& u, const Tensor& v) {
  Tensor made = boxcar::add(u, boxcar::mul(v, 0));
  Tensor first = boxcar::select(made, 0, 0);
  boxcar::add_(first, boxcar::sum(v));
  boxcar::mul_(made, boxcar::cos(v));
  return made;
}
constexpr const char* kWritten = R"(fn written(Tensor u, Tensor v) -> Tensor {
    made = u + v * 0
    made[0].add_(v.sum())
    made.mul_(v.cos())
    return made
}
)";

Expression vectorOf(Random& random, int depth) {
  if (depth <= 0) {
    switch (below(random, 3)) {
      case 0: return {"x", [](const Tensors& args) { return args[0]; }};
      case 1: return {"y", [](const Tensors& args) { return args[1]; }};
      default: return {"mv(w, x)", [](const Tensors& args) { return boxcar::mv(args[2], args[0]); }};
    }
  }
  const Expression u = vectorOf(random, depth - 1);
  const auto unary = [&](const char* text, std::function<Tensor(const Tensor&)> function) -> Expression {
    return {fmt::format(fmt::runtime(text), u.text),
            [u, function](const Tensors& args) { return function(u.value(args)); }};
  };
  const auto binary = [&](const char* text,
                          std::function<Tensor(const Tensor&, const Tensor&)> function) -> Expression {
    const Expression v = vectorOf(random, depth - 1);
    return {fmt::format(fmt::runtime(text), u.text, v.text),
            [u, v, function](const Tensors& args) { return function(u.value(args), v.value(args)); }};
  };
  switch (below(random, 14)) {
    case 0: return unary("sin({})", [](const Tensor& t) { return boxcar::sin(t); });
    case 1: return unary("tanh({})", [](const Tensor& t) { return boxcar::tanh(t); });
    case 2: return unary("sigmoid({})", [](const Tensor& t) { return boxcar::sigmoid(t); });
    case 3: return unary("exp({} * 0.25)", [](const Tensor& t) { return boxcar::exp(boxcar::mul(t, 0.25)); });
    case 4: return unary("cumsum({}, 0)", [](const Tensor& t) { return boxcar::cumsum(t, 0); });
    case 5: return unary("flip({}, [0])", [](const Tensor& t) { return boxcar::flip(t, Ints{0}); });
    case 6: return unary("softmax({}, 0)", [](const Tensor& t) { return boxcar::softmax(t, 0); });
    case 7: return binary("({} * {})", [](const Tensor& a, const Tensor& b) { return boxcar::mul(a, b); });
    case 8: return binary("({} + {})", [](const Tensor& a, const Tensor& b) { return boxcar::add(a, b); });
    case 9:
      return binary("({} / ({} ** 2 + 1))",
                    [](const Tensor& a, const Tensor& b) { return boxcar::div(a, boxcar::add(boxcar::pow(b, 2), 1)); });
    case 10: return binary("written({}, {})", &written);
    case 11:
      return {fmt::format("mv(w, {})", u.text),
              [u](const Tensors& args) { return boxcar::mv(args[2], u.value(args)); }};
    case 12:
      return {fmt::format("mm(w.t(), {}.unsqueeze(1)).squeeze(1)", u.text), [u](const Tensors& args) {
                return boxcar::squeeze(boxcar::mm(boxcar::t(args[2]), boxcar::unsqueeze(u.value(args), 1)), 1);
              }};
    default: {
      const Expression s = numberOf(random, depth);
      return {fmt::format("({} * {})", u.text, s.text),
              [u, s](const Tensors& args) { return boxcar::mul(u.value(args), s.value(args)); }};
    }
  }
}

// ---- Transforms ----

enum class Kind : uint8_t { kGrad, kVjp, kJvp, kJacrev, kJacfwd, kHessian, kVmap, kFunctionalize, kAutocastOff };

struct Layer {
  Kind kind;
  int64_t argument = 0;
  std::array<bool, 3> is_mapped = {};  // of vmap

  std::string text(const std::string& inner) const {
    switch (kind) {
      case Kind::kGrad: return fmt::format("func::grad({}, {})", inner, argument);
      case Kind::kVjp: return fmt::format("pulled({}, {})", inner, argument);
      case Kind::kJvp: return fmt::format("pushed({})", inner);
      case Kind::kJacrev: return fmt::format("func::jacrev({}, {})", inner, argument);
      case Kind::kJacfwd: return fmt::format("func::jacfwd({}, {})", inner, argument);
      case Kind::kHessian: return fmt::format("func::hessian({}, {})", inner, argument);
      case Kind::kVmap: {
        std::vector<std::string> dims;
        for (const bool mapped : is_mapped) dims.emplace_back(mapped ? "0" : "None");
        return fmt::format("of_slices(func::vmap({}, [{}]))", inner, fmt::join(dims, ", "));
      }
      case Kind::kFunctionalize: return fmt::format("func::functionalize({})", inner);
      case Kind::kAutocastOff: return fmt::format("without_autocast({})", inner);
    }
    return "";
  }
};

// Fixed numbers of the shape of [tensor]: a direction, or weights of results.
Tensor directionOf(const Tensor& tensor) {
  const Tensor numbers = boxcar::arange(tensor.numel(), tensor.scalar_type());
  return boxcar::view(boxcar::sin(boxcar::add(numbers, 1)), tensor.sizes());
}

// The slices that vmap gets of an argument.
constexpr std::array<double, 3> kScales = {1.0, -0.5, 0.75};
Tensor slicesOf(const Tensor& tensor) {
  Tensors slices;
  for (const double scale : kScales) slices.push_back(boxcar::mul(tensor, scale));
  return boxcar::stack(slices);
}

FunctionPtr made(const char* op, const FunctionPtr& function, const auto&... more) {
  const IValue result = callBoxed(op, IValue(function), IValue(more)...);
  const FunctionObject* const found = functionIn(result);
  return FunctionPtr::share(const_cast<FunctionObject*>(found));
}

FunctionPtr transformed(const Layer& layer, const FunctionPtr& inner) {
  switch (layer.kind) {
    case Kind::kGrad: return made("func::grad", inner, layer.argument);
    case Kind::kJacrev: return made("func::jacrev", inner, layer.argument, IValue());
    case Kind::kJacfwd: return made("func::jacfwd", inner, layer.argument, std::string("error"));
    case Kind::kHessian: return made("func::hessian", inner, layer.argument);
    case Kind::kFunctionalize: return made("func::functionalize", inner, std::string("keep"));
    case Kind::kVjp:
      return functionOf([inner, at = static_cast<size_t>(layer.argument)](const Tensors& args) {
        const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("func::vjp", "");
        Stack stack{IValue(inner), IValue(GenericList(std::vector<IValue>(args.begin(), args.end())))};
        op.callBoxed(stack);
        const IValue pull = pop(stack);
        const IValue output = pop(stack);
        return called(*functionIn(pull), {IValue(directionOf(output.toTensor()))}).elementAt(at).toTensor();
      });
    case Kind::kJvp:
      return functionOf([inner](const Tensors& args) {
        std::vector<IValue> primals(args.begin(), args.end());
        std::vector<IValue> tangents;
        for (const Tensor& tensor : args) tangents.emplace_back(directionOf(tensor));
        const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("func::jvp", "");
        Stack stack{IValue(inner), IValue(GenericList(primals)), IValue(GenericList(tangents))};
        op.callBoxed(stack);
        return pop(stack).toTensor();
      });
    case Kind::kVmap: {
      std::vector<IValue> dims;
      for (const bool mapped : layer.is_mapped) dims.push_back(mapped ? IValue(int64_t{0}) : IValue());
      const FunctionPtr each =
          made("func::vmap", inner, IValue(GenericList(dims)), IValue(int64_t{0}), std::string("error"), IValue());
      return functionOf([each, is_mapped = layer.is_mapped](const Tensors& args) {
        Tensors given;
        for (size_t i = 0; i < args.size(); ++i) given.push_back(is_mapped[i] ? slicesOf(args[i]) : args[i]);
        return valueOf(each, given);
      });
    }
    case Kind::kAutocastOff:
      return functionOf([inner](const Tensors& args) {
        const autocast::AutocastGuard off(DeviceType::CPU, std::nullopt, false);
        return valueOf(inner, args);
      });
  }
  return inner;
}

// ---- Differences ----

constexpr double kStep = 1e-5;

// The change of a function along a direction of one argument.
Tensor changeAlong(const FunctionPtr& function, const Tensors& args, size_t at, const Tensor& direction) {
  Tensors forward = args;
  Tensors backward = args;
  forward[at] = boxcar::add(args[at], boxcar::mul(direction, kStep));
  backward[at] = boxcar::sub(args[at], boxcar::mul(direction, kStep));
  return boxcar::div(boxcar::sub(valueOf(function, forward), valueOf(function, backward)), 2 * kStep);
}

// The sizes of the result, then those of the argument.
Tensor differencesOf(const FunctionPtr& function, const Tensors& args, size_t at) {
  Tensors columns;
  const int64_t count = args[at].numel();
  for (int64_t i = 0; i < count; ++i) {
    const Tensor direction = boxcar::zeros(Ints{count}, ScalarType::Double);
    direction.data_ptr<double>()[i] = 1;
    columns.push_back(changeAlong(function, args, at, boxcar::view(direction, args[at].sizes())));
  }
  Ints sizes = sizesOf(columns[0]);
  sizes.insert(sizes.end(), args[at].sizes().begin(), args[at].sizes().end());
  return boxcar::reshape(boxcar::stack(columns, -1), sizes);
}

// What the layer must give, by what is below it.
Tensor expectedOf(const Layer& layer, const FunctionPtr& inner, const Tensors& args) {
  const auto at = static_cast<size_t>(layer.argument);
  switch (layer.kind) {
    case Kind::kGrad:
    case Kind::kJacrev:
    case Kind::kJacfwd: return differencesOf(inner, args, at);
    case Kind::kHessian: return differencesOf(made("func::jacrev", inner, layer.argument, IValue()), args, at);
    case Kind::kVjp: {
      const Tensor output = valueOf(inner, args);
      const Tensor weights = boxcar::reshape(directionOf(output), Ints{1, -1});
      const Tensor rows = boxcar::reshape(differencesOf(inner, args, at), Ints{output.numel(), -1});
      return boxcar::reshape(boxcar::mm(weights, rows), args[at].sizes());
    }
    case Kind::kJvp: {
      Tensor sum = changeAlong(inner, args, 0, directionOf(args[0]));
      for (size_t i = 1; i < args.size(); ++i) {
        sum = boxcar::add(sum, changeAlong(inner, args, i, directionOf(args[i])));
      }
      return sum;
    }
    case Kind::kVmap: {
      Tensors slices;
      for (const double scale : kScales) {
        Tensors given;
        for (size_t i = 0; i < args.size(); ++i) {
          given.push_back(layer.is_mapped[i] ? boxcar::mul(args[i], scale) : args[i]);
        }
        slices.push_back(valueOf(inner, given));
      }
      return boxcar::stack(slices);
    }
    case Kind::kFunctionalize:
    case Kind::kAutocastOff: return valueOf(inner, args);
  }
  return {};
}

struct Composition {
  explicit Composition(uint64_t seed) : random(seed) {
    const int64_t size = 2 + below(random, 2);
    const auto drawn = [&](const Ints& sizes) {
      Tensor tensor = boxcar::empty(sizes, ScalarType::Double);
      for (int64_t i = 0; i < tensor.numel(); ++i) {
        tensor.data_ptr<double>()[i] = static_cast<double>(below(random, 2001) - 1000) / 800;
      }
      return tensor;
    };
    args = {drawn({size}), drawn({size}), drawn({size, size})};
    const Expression body = below(random, 2) == 0 ? numberOf(random, 3) : vectorOf(random, 3);
    text = fmt::format("{}fn f(Tensor x, Tensor y, Tensor w) -> Tensor {{ return {} }}\n", kWritten, body.text);
    for (size_t i = 0; i < args.size(); ++i) {
      text += fmt::format("{} = tensor([{}], dtype=float64){}\n", kNames[i], fmt::join(elements<double>(args[i]), ", "),
                          i == 2 ? fmt::format(".view({}, {})", size, size) : "");
    }
    function = functionOf(body.value);
  }

  // Chooses what can be applied to a function whose result is [value].
  Layer choose(const Tensor& value) {
    while (true) {
      Layer layer{static_cast<Kind>(below(random, 9)), below(random, 3), {}};
      const int64_t made = value.numel() * args[static_cast<size_t>(layer.argument)].numel();
      switch (layer.kind) {
        case Kind::kGrad:
          if (value.dim() != 0) continue;
          break;
        case Kind::kJacrev:
        case Kind::kJacfwd:
          if (made > 81) continue;
          break;
        case Kind::kHessian:
          if (made > 9) continue;
          break;
        case Kind::kVmap:
          if (value.numel() > 27) continue;
          for (bool& mapped : layer.is_mapped) mapped = below(random, 2) == 0;
          layer.is_mapped[static_cast<size_t>(layer.argument)] = true;
          break;
        default: break;
      }
      return layer;
    }
  }

  Random random;
  Tensors args;
  std::string text;
  FunctionPtr function;
};

std::optional<std::string> differenceOf(const Tensor& found, const Tensor& wanted, double limit) {
  if (sizesOf(found) != sizesOf(wanted)) {
    return fmt::format("sizes [{}] instead of [{}]", fmt::join(found.sizes(), ", "), fmt::join(wanted.sizes(), ", "));
  }
  if (found.scalar_type() != wanted.scalar_type()) return "another dtype";
  const std::vector<double> a = elements<double>(found);
  const std::vector<double> b = elements<double>(wanted);
  double largest = 1;
  for (const double each : b) largest = std::max(largest, std::abs(each));
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= limit * largest)) return fmt::format("{} instead of {} at {}", a[i], b[i], i);
  }
  return std::nullopt;
}

// Applies [depth] layers, and returns what is wrong, with the program; nothing if all is right.
std::string faultOf(uint64_t seed, int depth) {
  Composition composition(seed);
  std::string text = "f";
  FunctionPtr function = composition.function;
  for (int i = 0; i < depth; ++i) {
    std::string what;
    try {
      const Layer layer = composition.choose(valueOf(function, composition.args));
      text = layer.text(text);
      const FunctionPtr outer = transformed(layer, function);
      const bool is_exact =
          layer.kind == Kind::kVmap || layer.kind == Kind::kFunctionalize || layer.kind == Kind::kAutocastOff;
      const Tensor wanted = expectedOf(layer, function, composition.args);
      const auto difference = differenceOf(valueOf(outer, composition.args), wanted, is_exact ? 1e-11 : 1e-6);
      if (difference) what = *difference;
      function = outer;
    } catch (const Error& error) {
      what = error.message();
    }
    if (!what.empty()) return fmt::format("seed {}: {}\n{}print({}(x, y, w))\n", seed, what, composition.text, text);
  }
  return "";
}

constexpr uint64_t kSeeds = 120;

TEST(Compositions, OfUpToThreeTransformsAreWhatDifferencesSay) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) EXPECT_EQ(faultOf(seed, 3), "");
}

TEST(Compositions, AreTheSameInARegionOfAutocastThatLeavesFloat64Alone) {
  const autocast::AutocastGuard region(DeviceType::CPU, ScalarType::BFloat16);
  for (uint64_t seed = 1001; seed <= 1000 + kSeeds / 4; ++seed) EXPECT_EQ(faultOf(seed, 3), "");
}

TEST(Compositions, OfFloat32AreEqualBitByBitWhereARegionOfAutocastIsSwitchedOff) {
  for (uint64_t seed = 2001; seed <= 2000 + kSeeds / 4; ++seed) {
    Composition composition(seed);
    for (Tensor& tensor : composition.args) tensor = boxcar::to(tensor, ScalarType::Float);
    std::string text = "f";
    FunctionPtr function = composition.function;
    for (int i = 0; i < 3; ++i) {
      const Layer layer = composition.choose(valueOf(function, composition.args));
      text = layer.text(text);
      function = transformed(layer, function);
    }
    const Tensor wanted = valueOf(function, composition.args);
    const FunctionPtr off = transformed({Kind::kAutocastOff}, function);
    const autocast::AutocastGuard region(DeviceType::CPU, ScalarType::BFloat16);
    const Tensor found = valueOf(off, composition.args);
    EXPECT_EQ(elements<float>(found), elements<float>(wanted)) << composition.text << text;
  }
}

}  // namespace
}  // namespace boxcar::transforms
