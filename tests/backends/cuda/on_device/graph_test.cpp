#include <boxcar/backends/cuda/caching_allocator.h>
#include <boxcar/backends/cuda/function_graphs.h>
#include <boxcar/backends/cuda/graph.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "tests/backends/cuda/on_device/device_helpers.h"

// Streams and graphs, and functions that graphs replace.

namespace boxcar::cuda {
namespace {

TEST(CudaGraph, RunsWhatWasCapturedOnWhatItsInputHoldsNow) {
  Tensor x = onCuda(floats({1, 2}));
  Tensor y;
  Graph graph;
  graph.capture([&] { y = boxcar::add(boxcar::mul(x, x), x); });
  graph.launch();
  EXPECT_EQ(hostFloats(y), (std::vector<float>{2, 6}));
  boxcar::fill_(x, Scalar(3));
  graph.launch();
  EXPECT_EQ(hostFloats(y), (std::vector<float>{12, 12}));
}

TEST(CudaGraph, KeepsItsMemoryToItself) {
  const Tensor x = onCuda(floats({1, 2}));
  Graph graph;
  Tensor y;
  graph.capture([&] { y = boxcar::exp(boxcar::mul(x, x)); });
  std::vector<Tensor> others;
  for (int i = 0; i < 20; ++i) others.push_back(onCuda(floats({5, 5})));
  graph.launch();
  for (const Tensor& other : others) EXPECT_EQ(hostFloats(other), (std::vector<float>{5, 5}));
}

TEST(CudaGraph, RefusesWhatWaitsAndGoesOnBehindIt) {
  const Tensor x = onCuda(floats({1, 2}));
  Graph graph;
  EXPECT_EQ(errorOf([&] { graph.capture([&] { hostFloats(boxcar::add(x, x)); }); }),
            "a CUDA graph cannot capture what waits for the device, as where a tensor is read or a result's size "
            "depends on elements; do that outside of it");
  EXPECT_EQ(currentStream().id, 0);
  EXPECT_FALSE(isCapturing());
  EXPECT_EQ(hostFloats(boxcar::add(x, x)), (std::vector<float>{2, 4}));
  EXPECT_EQ(errorOf([&] { graph.launch(); }), "this graph was not captured yet");
  EXPECT_EQ(errorOf([&] { graph.capture([&] { onCuda(floats({1})); }); }),
            "a CUDA graph cannot capture what copies memory of the CPU, which may be gone when the graph is replayed; "
            "do that outside of it");
}

TEST(CudaGraph, GoesOnAfterAnAllocationThatDoesNotFit) {
  const Tensor x = onCuda(floats({1, 2}));
  Graph graph;
  Tensor y;
  const std::string error = errorOf(
      [&] { graph.capture([&] { y = boxcar::repeat(boxcar::add(x, x), std::vector<int64_t>{int64_t{1} << 40}); }); });
  EXPECT_NE(error.find("cuda:0 is out of memory: "), std::string::npos) << error;
  EXPECT_FALSE(isCapturing());
  EXPECT_EQ(hostFloats(boxcar::add(x, x)), (std::vector<float>{2, 4}));
  graph.capture([&] { y = boxcar::mul(x, x); });
  graph.launch();
  EXPECT_EQ(hostFloats(y), (std::vector<float>{1, 4}));
}

TEST(CudaGraph, DoesNotNest) {
  Graph outer;
  EXPECT_EQ(errorOf([&] { outer.capture([] { Graph().capture([] {}); }); }),
            "a graph is being captured on this thread already; graphs do not nest");
}

// A graphed function like that of a script, with a count of its runs.
class Function final {
 public:
  using Body = std::function<IValue(std::span<const IValue>)>;
  explicit Function(Body body) : body_(std::move(body)) {}

  IValue operator()(std::vector<IValue> arguments, std::vector<IValue> constants = {}) {
    const Body run = [&](std::span<const IValue> values) {
      ++runs;
      return body_(values);
    };
    return callGraphed({"step", arguments, constants, run, kept_});
  }

  int runs = 0;

 private:
  Body body_;
  std::shared_ptr<void> kept_;
};

TEST(CudaGraph, CallsAFunctionTwiceAndThenLaunchesItsGraph) {
  Function square([](auto values) { return boxcar::mul(values[0].toTensor(), values[0].toTensor()); });
  const Tensor x = onCuda(floats({1, 2}));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(hostFloats(square({x}).toTensor()), (std::vector<float>{1, 4}));
  }
  EXPECT_EQ(square.runs, 2);
}

TEST(CudaGraph, RunsAFunctionAsAlwaysWhereAModeIsToSeeItsCalls) {
  Function square([](auto values) { return boxcar::mul(values[0].toTensor(), values[0].toTensor()); });
  const Tensor x = onCuda(floats({1, 2}));
  int calls = 0;
  const ModeGuard mode([&](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    ++calls;
    op.redispatchBoxed(keys, stack);
  });
  for (int i = 0; i < 4; ++i) square({x});
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(square.runs, 4);
}

TEST(CudaGraph, CapturesOnceForArgumentsThatLieElsewhereEachTime) {
  Function square([](auto values) { return boxcar::mul(values[0].toTensor(), values[0].toTensor()); });
  std::vector<Tensor> held;
  for (int i = 1; i < 6; ++i) {
    held.push_back(onCuda(floats({static_cast<float>(i), 2})));
    EXPECT_EQ(hostFloats(square({held.back()}).toTensor()), (std::vector<float>{static_cast<float>(i * i), 4}));
  }
  EXPECT_EQ(square.runs, 2);
}

TEST(CudaGraph, CapturesAgainForOtherShapesDtypesAndNumbers) {
  Function scale([](auto values) { return boxcar::mul(values[0].toTensor(), values[1].toScalar()); });
  const Tensor x = onCuda(floats({1, 2}));
  const Tensor longer = onCuda(floats({1, 2, 3}));
  const Tensor wide = boxcar::to(x, ScalarType::Double);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(hostFloats(scale({x, 2.0}).toTensor()), (std::vector<float>{2, 4}));
    EXPECT_EQ(hostFloats(scale({x, 3.0}).toTensor()), (std::vector<float>{3, 6}));
    EXPECT_EQ(hostFloats(scale({longer, 2.0}).toTensor()), (std::vector<float>{2, 4, 6}));
    EXPECT_EQ(scale({wide, 2.0}).toTensor().scalar_type(), ScalarType::Double);
  }
  EXPECT_EQ(scale.runs, 8);
}

TEST(CudaGraph, WritesToTheCallersTensorsWhereverTheyLie) {
  Function increase([](auto values) {
    Tensor self = values[0].toTensor();
    return boxcar::add_(self, Scalar(1));
  });
  std::vector<Tensor> held;
  for (int i = 0; i < 5; ++i) {
    held.push_back(onCuda(floats({1, 2})));
    const uint32_t version = held.back().version();
    const Tensor result = increase({held.back()}).toTensor();
    EXPECT_EQ(hostFloats(held.back()), (std::vector<float>{2, 3}));
    EXPECT_EQ(result.data_ptr(), held.back().data_ptr());
    EXPECT_GT(held.back().version(), version);
  }
  EXPECT_EQ(increase.runs, 2);
}

TEST(CudaGraph, GivesViewsOfTheCallersTensors) {
  Function rows([](auto values) { return boxcar::select(values[0].toTensor(), 0, 1); });
  const Tensor base = boxcar::reshape(onCuda(floats({1, 2, 3, 4, 5, 6})), std::vector<int64_t>{3, 2});
  for (int i = 0; i < 4; ++i) {
    const Tensor part = boxcar::slice(base, 0, i % 2, i % 2 + 2);
    const Tensor row = rows({part}).toTensor();
    EXPECT_EQ(row.storage().get(), base.storage().get());
    EXPECT_EQ(row.storage_offset(), i % 2 == 0 ? 2 : 4);
  }
  EXPECT_EQ(rows.runs, 2);
}

TEST(CudaGraph, LeavesEarlierResultsAlone) {
  Function square([](auto values) { return boxcar::mul(values[0].toTensor(), values[0].toTensor()); });
  std::vector<Tensor> results;
  for (int i = 1; i < 6; ++i) {
    results.push_back(square({onCuda(floats({static_cast<float>(i)}))}).toTensor());
  }
  for (int i = 1; i < 6; ++i) {
    EXPECT_EQ(hostFloats(results[static_cast<size_t>(i - 1)]), (std::vector<float>{static_cast<float>(i * i)}));
  }
}

TEST(CudaGraph, TakesListsAndGivesTuples) {
  Function both([](auto values) {
    const List<Tensor> list = values[0].toTensorList();
    return Tuple({boxcar::add(list.get(0), list.get(1)), IValue(7), boxcar::mul(list.get(0), list.get(1))});
  });
  for (int i = 0; i < 4; ++i) {
    List<Tensor> list;
    list.push_back(onCuda(floats({2})));
    list.push_back(onCuda(floats({5})));
    const IValue result = both({list});
    EXPECT_EQ(hostFloats(result.elementAt(0).toTensor()), (std::vector<float>{7}));
    EXPECT_EQ(result.elementAt(1).toInt(), 7);
    EXPECT_EQ(hostFloats(result.elementAt(2).toTensor()), (std::vector<float>{10}));
  }
  EXPECT_EQ(both.runs, 2);
}

TEST(CudaGraph, CapturesAgainWhereAConstantIsAnotherTensor) {
  Tensor weight = onCuda(floats({2}));
  Function scale([&](auto values) { return boxcar::mul(values[0].toTensor(), weight); });
  const Tensor x = onCuda(floats({3}));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(hostFloats(scale({x}, {weight}).toTensor()), (std::vector<float>{6}));
  EXPECT_EQ(scale.runs, 2);
  const Tensor kept = weight;
  weight = onCuda(floats({5}));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(hostFloats(scale({x}, {weight}).toTensor()), (std::vector<float>{15}));
  EXPECT_EQ(scale.runs, 3);
  boxcar::fill_(weight, Scalar(7));
  EXPECT_EQ(hostFloats(scale({x}, {weight}).toTensor()), (std::vector<float>{21}));
  EXPECT_EQ(scale.runs, 3);
}

TEST(CudaGraph, TellsNumbersOnTheCpuApart) {
  Function scale([](auto values) { return boxcar::mul(values[0].toTensor(), values[1].toTensor()); });
  const Tensor x = onCuda(floats({1, 2}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(hostFloats(scale({x, boxcar::sum(floats({2}))}).toTensor()), (std::vector<float>{2, 4}));
    EXPECT_EQ(hostFloats(scale({x, boxcar::sum(floats({3}))}).toTensor()), (std::vector<float>{3, 6}));
  }
}

TEST(CudaGraph, NamesTheFunctionAndWhatItCannotTake) {
  Function any([](auto values) { return values[0]; });
  EXPECT_EQ(errorOf([&] {
              any({onCuda(floats({1})), boxcar::ones(std::vector<int64_t>{100})});
            }),
            "cuda_graph(): `step` reads a tensor of 100 elements on the CPU, which a graph cannot do again; move it to "
            "'cuda:0' outside of the function");
  if (cuda::deviceCount() > 1) {
    const Tensor second = boxcar::to(floats({1, 2}), std::nullopt, std::nullopt, Device(DeviceType::CUDA, 1));
    EXPECT_EQ(errorOf([&] {
                any({onCuda(floats({1})), second});
              }),
              "cuda_graph(): `step` reads tensors of cuda:0 and of 'cuda:1'; a graph is of one device");
  }
  EXPECT_EQ(errorOf([&] { any({makeCpuGenerator()}); }),
            "cuda_graph(): `step` has a generator as argument, and its numbers would be the same in every replay");
  Function grows([](auto values) {
    values[0].toList().push_back(IValue(1));
    return IValue();
  });
  EXPECT_EQ(errorOf([&] { grows({GenericList()}); }),
            "cuda_graph(): `step` cannot be captured: it changes the sizes of its inputs, or what the lists, dicts and "
            "tensors on the CPU hold that it is given or that are constants, which a replay of the graph would not "
            "repeat. Do that outside of the function");
}

TEST(CudaGraph, GivesTheMemoryOfGraphsBack) {
  const auto reserved = [] { return allocatorOf(0).statistics().reserved; };
  const Tensor x = onCuda(floats({1, 2}));
  const size_t before = reserved();
  {
    Function square([](auto values) { return boxcar::mul(values[0].toTensor(), values[0].toTensor()); });
    for (int i = 0; i < 3; ++i) square({x});
    EXPECT_GT(reserved(), before);
  }
  EXPECT_EQ(reserved(), before);
}

}  // namespace
}  // namespace boxcar::cuda
