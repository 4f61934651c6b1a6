#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/transforms/batched_tensor.h>
#include <boxcar/backends/transforms/batching_table.h>
#include <boxcar/backends/transforms/vmap.h>
#include <boxcar/dispatcher/handlers/check/schema_checker.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

#include "tests/backends/tensor_helpers.h"

namespace boxcar::transforms {
namespace {

using Tensors = std::vector<Tensor>;

// Whether [body] throws an Error whose text begins with [text].
testing::AssertionResult fails(auto&& body, const std::string& text) {
  const std::string found = errorOf(body);
  if (found.starts_with(text)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << found;
}

TEST(Vmap, CallsAFunctionOnceForAllSlices) {
  int calls = 0;
  const auto each = vmap([&](const Tensors& args) {
    ++calls;
    EXPECT_EQ(args[0].dim(), 1);
    return Tensors{boxcar::sum(boxcar::mul(args[0], args[1]))};
  });
  const Tensor found = each({counting({2, 3}), counting({2, 3})})[0];
  EXPECT_EQ(elements<float>(found), (std::vector<float>{5, 50}));
  EXPECT_EQ(calls, 1);
}

TEST(Vmap, TakesAndReturnsDimensionsAsTold) {
  const auto each = vmap(
      [](const Tensors& args) {
        return Tensors{boxcar::add(args[0], args[1]), args[1]};
      },
      {1, std::nullopt}, {-1, std::nullopt});
  const Tensors found = each({counting({2, 3}), floats({10, 20})});
  EXPECT_EQ(found[0].sizes()[1], 3);
  EXPECT_EQ(elements<float>(found[0]), (std::vector<float>{10, 11, 12, 23, 24, 25}));
  EXPECT_EQ(elements<float>(found[1]), (std::vector<float>{10, 20}));
}

TEST(Vmap, ComputesInChunks) {
  int calls = 0;
  const auto each = vmap(
      [&](const Tensors& args) {
        ++calls;
        return Tensors{boxcar::mul(args[0], 2)};
      },
      {}, {}, Randomness::kError, 2);
  EXPECT_EQ(elements<float>(each({counting({5, 1})})[0]), (std::vector<float>{0, 2, 4, 6, 8}));
  EXPECT_EQ(calls, 3);
}

TEST(Vmap, LeavesNoLevelAfterAnError) {
  const auto each = vmap([](const Tensors& args) { return Tensors{boxcar::nonzero(args[0])}; });
  EXPECT_TRUE(fails([&] { each({counting({2, 3})}); }, "aten::nonzero cannot be called inside func::vmap()"));
  EXPECT_TRUE(vmapLevels().empty());
  EXPECT_FALSE(tls_is_dispatch_key_included(DispatchKey::FuncTorchVmapMode));
}

TEST(Vmap, RefusesTensorsThatWereKept) {
  Tensor kept;
  const auto each = vmap([&](const Tensors& args) {
    kept = args[0];
    return args;
  });
  each({counting({2, 3})});
  EXPECT_TRUE(fails([&] { boxcar::add(kept, 1); }, "a tensor of a call of func::vmap() that is over was kept"));
}

TEST(Vmap, BelongsToAThread) {
  const auto each = vmap([&](const Tensors& args) {
    std::thread([&] {
      EXPECT_TRUE(vmapLevels().empty());
      EXPECT_TRUE(fails([&] { boxcar::add(args[0], 1); }, "a tensor of a call of func::vmap() that is over was kept"));
    }).join();
    return args;
  });
  each({counting({2, 3})});
}

TEST(Vmap, RefusesToShowElements) {
  const auto each = vmap([](const Tensors& args) {
    EXPECT_TRUE(
        fails([&] { args[0].data_ptr<float>(); },
              "the elements of a tensor inside func::vmap() cannot be read one by one: it stands for several slices"));
    return args;
  });
  each({counting({2, 3})});
}

TEST(Vmap, PromotesAsTheSlicesDo) {
  const auto each = vmap([](const Tensors& args) {
    // A tensor without dimensions does not raise the dtype within its kind, though it has a batch.
    const Tensor sum = boxcar::add(args[0], args[1]);
    EXPECT_EQ(sum.dtype(), ScalarType::Float);
    return Tensors{sum};
  });
  EXPECT_EQ(each({counting({2, 3}), counting({2}, ScalarType::Double)})[0].dtype(), ScalarType::Float);
}

TEST(Vmap, PromotesNumbersWithAndWithoutABatchAlike) {
  const Tensor number = tensorOf<double>({2}, {});
  const auto each = vmap([&](const Tensors& args) { return Tensors{boxcar::mul(args[0], number)}; });
  EXPECT_EQ(each({counting({2})})[0].dtype(), ScalarType::Double);
}

TEST(Vmap, AlignsTensorsOfElementsWithAndWithoutABatch) {
  const Tensor row = counting({3});
  const auto each = vmap([&](const Tensors& args) {
    return Tensors{boxcar::add(args[0], row), boxcar::add(args[0], args[1]), boxcar::add(row, args[1])};
  });
  const Tensors found = each({counting({2, 2, 3}), counting({2, 3})});
  EXPECT_EQ(elements<float>(found[0]), (std::vector<float>{0, 2, 4, 3, 5, 7, 6, 8, 10, 9, 11, 13}));
  EXPECT_EQ(elements<float>(found[1]), (std::vector<float>{0, 2, 4, 3, 5, 7, 9, 11, 13, 12, 14, 16}));
  EXPECT_EQ(elements<float>(found[2]), (std::vector<float>{0, 2, 4, 3, 5, 7}));
}

TEST(Vmap, CallsRulesWithoutSlices) {
  const auto each = vmap([](const Tensors& args) { return Tensors{boxcar::sum(boxcar::sin(args[0]))}; });
  EXPECT_EQ(each({counting({0, 3})})[0].sizes().size(), 1);
  EXPECT_EQ(each({counting({0, 3})})[0].size(0), 0);
  const auto loops = vmap([](const Tensors& args) { return Tensors{boxcar::histc(args[0])}; });
  EXPECT_TRUE(fails(
      [&] {
        loops({counting({0, 3})});
      },
      "aten::histc cannot be called inside func::vmap() without slices: what it returns for one says "
      "the sizes of its results, and the size along in_dims is 0"));
  const auto folds = vmap([](const Tensors& args) { return Tensors{boxcar::avg_pool2d(args[0], {{2}})}; });
  EXPECT_TRUE(fails(
      [&] {
        folds({counting({0, 1, 2, 2})});
      },
      "aten::avg_pool2d cannot be called inside func::vmap() without slices"));
}

TEST(Vmap, UpdatesRunningStatisticsOfEachSlice) {
  const Tensor input = counting({2, 4, 3});
  const Tensor mean = boxcar::zeros({2, 3});
  const Tensor variance = boxcar::ones({2, 3});
  const auto normed = [](const Tensor& x, const Tensor& running_mean, const Tensor& running_var) {
    return std::get<0>(
        boxcar::native_batch_norm(x, std::nullopt, std::nullopt, running_mean, running_var, true, 0.5, 1e-5));
  };
  Tensors expected;
  Tensors expected_mean;
  for (int64_t i = 0; i < 2; ++i) {
    const Tensor own_mean = boxcar::zeros({3});
    expected.push_back(normed(boxcar::select(input, 0, i), own_mean, boxcar::ones({3})));
    expected_mean.push_back(own_mean);
  }
  const auto each = vmap([&](const Tensors& args) { return Tensors{normed(args[0], args[1], args[2])}; });
  EXPECT_TRUE(boxcar::allclose(each({input, mean, variance})[0], boxcar::stack(expected)));
  EXPECT_TRUE(boxcar::allclose(mean, boxcar::stack(expected_mean)));
  // Also where they do not lie one after the other.
  const Tensor columns = boxcar::zeros({3, 2});
  const auto in_columns =
      vmap([&](const Tensors& args) { return Tensors{normed(args[0], args[1], args[2])}; }, {0, 1, 0});
  static_cast<void>(in_columns({input, columns, boxcar::ones({2, 3})}));
  EXPECT_TRUE(boxcar::allclose(boxcar::t(columns), boxcar::stack(expected_mean)));
  const auto shared = vmap([&](const Tensors& args) { return Tensors{normed(args[0], args[1], args[2])}; },
                           {0, std::nullopt, std::nullopt});
  EXPECT_TRUE(fails(
      [&] {
        shared({input, boxcar::zeros({3}), boxcar::ones({3})});
      },
      "vmap: inplace arithmetic(running_mean, *extra_args) is not possible"));
}

TEST(Vmap, RecordsWhatIsInside) {
  Tensor weight = floats({1, 2, 3});
  weight.set_requires_grad(true);
  const auto each = vmap([&](const Tensors& args) {
    const Tensor product = boxcar::mul(args[0], weight);
    EXPECT_TRUE(product.requires_grad());
    return Tensors{boxcar::sum(product)};
  });
  const Tensor x = counting({2, 3});
  const Tensors grads = autograd::grad({{boxcar::sum(each({x})[0])}}, {{weight}});
  EXPECT_EQ(elements<float>(grads[0]), (std::vector<float>{3, 5, 7}));
}

TEST(Vmap, FollowsWritesToViews) {
  Tensor weight = floats({1, 2});
  weight.set_requires_grad(true);
  const auto each = vmap([&](const Tensors& args) {
    const Tensor copy = boxcar::clone(args[0]);
    Tensor row = boxcar::select(copy, 0, 1);
    boxcar::mul_(row, weight);
    return Tensors{boxcar::sum(copy)};
  });
  const Tensor x = counting({3, 2, 2});
  const Tensors grads = autograd::grad({{boxcar::sum(each({x})[0])}}, {{weight}});
  EXPECT_EQ(elements<float>(grads[0]), (std::vector<float>{2 + 6 + 10, 3 + 7 + 11}));
}

TEST(Vmap, NestsInAnyOrder) {
  const auto inner = [](const Tensor& a) {
    return vmap([&](const Tensors& args) { return Tensors{boxcar::dot(a, args[0])}; });
  };
  const Tensor b = counting({3, 2});
  const auto each = vmap([&](const Tensors& args) { return inner(args[0])({b}); });
  const Tensor a = counting({2, 2});
  EXPECT_EQ(elements<float>(each({a})[0]), elements<float>(boxcar::matmul(a, boxcar::t(b))));
}

TEST(Vmap, CallsOperatorsWithoutARuleForEachSlice) {
  int calls = 0;
  Library library = MAKE_BOXCAR_LIBRARY(vmap_test);
  library.def("counted(Tensor x) -> Tensor");
  library.impl("counted", dispatch(DispatchKey::CPU, [&](const Tensor& x) {
                 ++calls;
                 return boxcar::mul(x, 3);
               }));
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("vmap_test::counted", "");
  EXPECT_EQ(describeBatching(op), "by a loop over the slices");
  const auto each = vmap([&](const Tensors& args) { return Tensors{callOperator(op, {args[0]})[0].toTensor()}; });
  EXPECT_EQ(elements<float>(each({counting({2, 2})})[0]), (std::vector<float>{0, 3, 6, 9}));
  EXPECT_EQ(calls, 2);
}

TEST(Vmap, RefusesViewsWithoutARule) {
  Library library = MAKE_BOXCAR_LIBRARY(vmap_views);
  library.def("same(Tensor(a) x) -> Tensor(a)");
  library.impl("same", dispatch(DispatchKey::CPU, [](const Tensor& x) { return x.view(x.sizes(), x.strides(), 0); }));
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("vmap_views::same", "");
  const auto each = vmap([&](const Tensors& args) { return Tensors{callOperator(op, {args[0]})[0].toTensor()}; });
  EXPECT_TRUE(fails(
      [&] {
        each({counting({2, 2})});
      },
      "vmap_views::same cannot be called inside func::vmap(): it returns a view, and no rule says which of the "
      "batch"));
}

TEST(Vmap, RunsUnderCheckers) {
  SchemaChecker checker;
  const HandlerGuard on(checker);
  const auto each = vmap([](const Tensors& args) {
    Tensor copy = boxcar::clone(args[0]);
    return Tensors{boxcar::sum(boxcar::add_(copy, 1))};
  });
  EXPECT_EQ(elements<float>(each({counting({2, 2})})[0]), (std::vector<float>{3, 7}));
}

TEST(Vmap, TellsHowOperatorsAreCalled) {
  const auto of = [](const char* name, const char* overload = "") {
    return describeBatching(Dispatcher::singleton().findSchemaOrThrow(name, overload));
  };
  EXPECT_EQ(of("aten::add", "Tensor"), "by the rule 'pointwise'");
  EXPECT_EQ(of("aten::sum", "dim_IntList"), "by the rule 'dims'");
  EXPECT_EQ(of("aten::matmul"), "by its decomposition");
  EXPECT_EQ(of("aten::convolution_backward"), "by the rule 'gradient'");
  EXPECT_EQ(of("aten::segment_reduce"), "by a loop over the slices");
  EXPECT_EQ(of("aten::item"), "by its decomposition");
  EXPECT_EQ(of("aten::resize_"), "not: it gives a tensor other memory than its slice; make a new one");
  EXPECT_EQ(of("aten::rand"), "as the randomness of the call of vmap says");
}

// Each line of the table names an operator that is there, and a family.
TEST(Vmap, HasATableOfOperatorsThatExist) {
  std::string unknown;
  for (const std::string& name : operatorsOfTable()) {
    const size_t dot = name.find('.');
    const auto op =
        Dispatcher::singleton().findSchema({name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1)});
    if (!op.has_value()) unknown += name + " ";
  }
  EXPECT_EQ(unknown, "");
}

}  // namespace
}  // namespace boxcar::transforms
