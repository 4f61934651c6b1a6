#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/dispatcher/handlers/record/recorder.h>
#include <boxcar/dispatcher/handlers/trace/tracer.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/ivalue/dlpack.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"
#include "tests/temporary_folder.h"

namespace boxcar {
namespace {

bool hasOneDnn() {
  return Dispatcher::singleton()
      .findSchemaOrThrow("aten::to_mkldnn", "")
      .hasKernelForDispatchKey(DispatchKey::MkldnnCPU);
}

// Tensors of layout torch._mkldnn, in builds that have them.
class Mkldnn : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!hasOneDnn()) GTEST_SKIP() << "this build has no oneDNN";
  }
};

// Numbers from -3 to 3 without a pattern that sums could hide.
Tensor variedNumbers(IntArrayRef sizes, int64_t seed = 1) {
  const Tensor numbers = add(mul(counting(sizes, ScalarType::Double), 0.7131), static_cast<double>(seed));
  return to(mul(sin(mul(numbers, numbers)), 3), ScalarType::Float);
}

// Expects a result of layout torch._mkldnn with the elements of [strided].
void expectMkldnn(const Tensor& found, const Tensor& strided, double tolerance = 1e-5) {
  ASSERT_TRUE(found.is_mkldnn());
  EXPECT_EQ(shapeText(found), shapeText(strided));
  const Tensor dense = to_dense(found);
  EXPECT_EQ(dense.layout(), Layout::Strided);
  EXPECT_TRUE(allclose(dense, strided, tolerance, tolerance)) << toString(dense) << "\n" << toString(strided);
}

using Function = std::function<Tensor(const Tensor&)>;

// Expects the same from a tensor of layout torch._mkldnn as from the strided one; the first layer gives the elements an
// order of oneDNN's.
void expectSame(const Function& function, const Tensor& x, double tolerance = 1e-5) {
  expectMkldnn(function(to_mkldnn(x)), function(x), tolerance);
  if (x.dim() != 4) return;
  const Tensor weight = variedNumbers({x.sizes()[1], x.sizes()[1], 3, 3}, 9);
  const Tensor blocked = conv2d(to_mkldnn(x), weight, std::nullopt, {1}, IntArrayRef{1});
  expectMkldnn(function(blocked), function(to_dense(blocked)), tolerance);
}

TEST_F(Mkldnn, ElementsComeBackAsTheyWere) {
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{7}, {3, 5}, {2, 3, 4}, {2, 3, 4, 5}, {2, 3, 2, 4, 3}}) {
    const Tensor x = variedNumbers(sizes);
    const Tensor packed = to_mkldnn(x);
    EXPECT_EQ(packed.layout(), Layout::Mkldnn);
    EXPECT_EQ(sizesOf(packed), sizes);
    EXPECT_TRUE(equal(to_dense(packed), x));
    EXPECT_TRUE(equal(to_dense(to_mkldnn(packed)), x));
    EXPECT_TRUE(equal(to_dense(clone(packed)), x));
  }
}

TEST_F(Mkldnn, AcceptsStridedTensorsOfAnyStrides) {
  const Tensor x = variedNumbers({3, 4, 5});
  EXPECT_TRUE(equal(to_dense(to_mkldnn(permute(x, {2, 0, 1}))), permute(x, {2, 0, 1})));
  EXPECT_TRUE(equal(to_dense(to_mkldnn(expand(variedNumbers({1, 4}), {3, 4}))), expand(variedNumbers({1, 4}), {3, 4})));
}

TEST_F(Mkldnn, ConvertsToAndFromOtherDtypes) {
  const Tensor x = to(counting({2, 3}), ScalarType::Double);
  const Tensor small = to_mkldnn(x, ScalarType::BFloat16);
  EXPECT_EQ(small.scalar_type(), ScalarType::BFloat16);
  EXPECT_TRUE(equal(to_dense(small, ScalarType::Double), x));
  EXPECT_TRUE(equal(to_dense(to_mkldnn(to(x, ScalarType::Char))), to(x, ScalarType::Char)));
  EXPECT_TRUE(equal(to_dense(to_mkldnn(small, ScalarType::Float)), to(x, ScalarType::Float)));
  EXPECT_TRUE(to_dense(x).is_same(x));
  EXPECT_EQ(to_dense(x, ScalarType::Float).scalar_type(), ScalarType::Float);
}

TEST_F(Mkldnn, HasItsOwnKeys) {
  const Tensor x = to_mkldnn(floats({1, 2}));
  EXPECT_EQ(x.key_set(), DispatchKeySet({DispatchKey::MkldnnCPU, DispatchKey::ADInplaceOrView}));
  x.set_requires_grad(true);
  EXPECT_TRUE(x.key_set().has(DispatchKey::AutogradOther));
  x.set_requires_grad(false);
  EXPECT_EQ(x.key_set(), DispatchKeySet({DispatchKey::MkldnnCPU, DispatchKey::ADInplaceOrView}));
}

TEST_F(Mkldnn, RefusesWhatOneDnnCannotHold) {
  EXPECT_EQ(
      errorOf([] { to_mkldnn(to(floats({1}), ScalarType::Double)); }),
      "to_mkldnn: a tensor of layout torch._mkldnn holds float32, bfloat16, int8 or uint8, not float64; convert it "
      "first, for example with x.float()");
  EXPECT_EQ(errorOf([] { to_mkldnn(floats({1}), ScalarType::Long); }),
            "to_mkldnn: a tensor of layout torch._mkldnn holds float32, bfloat16, int8 or uint8, not int64; convert it "
            "first, for example with x.float()");
  EXPECT_EQ(errorOf([] { to_mkldnn(floats({1}, {})); }),
            "to_mkldnn: a tensor of layout torch._mkldnn has 1 to 5 dimensions, not 0; reshape it first");
  EXPECT_EQ(errorOf([] {
              to_mkldnn(zeros({1, 1, 1, 1, 1, 1}));
            }),
            "to_mkldnn: a tensor of layout torch._mkldnn has 1 to 5 dimensions, not 6; reshape it first");
  EXPECT_EQ(errorOf([] {
              to_mkldnn(zeros({2, 0}));
            }),
            "to_mkldnn: a tensor of layout torch._mkldnn has elements, but the sizes are [2, 0]; leave empty tensors "
            "strided");
  EXPECT_NE(errorOf([] { to_mkldnn(empty({2}, std::nullopt, std::nullopt, Device("meta"))); }), "no error");
}

TEST_F(Mkldnn, HasNeitherAddressesNorStridesNorViews) {
  const Tensor x = to_mkldnn(variedNumbers({2, 3}));

  EXPECT_EQ(
      errorOf([&] { x.data_ptr<float>(); }),
      "the elements of a tensor of layout torch._mkldnn have no address of their own; read those of x.to_dense()");
  EXPECT_EQ(errorOf([&] { x.stride(0); }),
            "a tensor of layout torch._mkldnn has no strides; x.to_dense() returns a strided tensor");
  const std::string no_views =
      "a tensor of layout torch._mkldnn has no storage of strided elements, so it has no views and cannot take another "
      "shape in place; x.to_dense() returns a strided tensor";
  EXPECT_EQ(errorOf([&] { select(x, 0, 1); }), no_views);
  EXPECT_EQ(errorOf([&] { unsqueeze(x, 0); }), no_views);
  EXPECT_EQ(errorOf([&] { x.view(x.sizes(), x.strides(), 0); }), no_views);
  EXPECT_EQ(errorOf([&] {
              view(x, {3, 2});
            }),
            "view: a tensor of layout torch._mkldnn has no views; use reshape, which copies");
}

TEST_F(Mkldnn, ExplainsOperatorsWithoutAKernel) {
  const Tensor x = to_mkldnn(floats({1, 2}));
  const std::string unary = errorOf([&] { exp(x); });
  EXPECT_TRUE(unary.starts_with(
      "aten::exp has no kernel for tensors of layout torch._mkldnn, as argument 'self' is. Call it with `.to_dense()`, "
      "and give the result back its layout with `.to_mkldnn()` where layers follow that have such kernels, or register "
      "a kernel with BOXCAR_LIBRARY_IMPL(aten, MkldnnCPU, m). It has kernels for: "))
      << unary;
  EXPECT_NE(errorOf([&] { sub(x, x); }).find("as arguments 'self' and 'other' are"), std::string::npos);
  EXPECT_NE(errorOf([&] { stack(std::vector<Tensor>{x, x}); }), "no error");
}

// A program that excludes the key, or calls the CPU's kernel, must not leave the memory.
TEST_F(Mkldnn, KernelsOfTheCpuRefuseIt) {
  Tensor x = to_mkldnn(variedNumbers({2, 3}));
  const DispatchKeySet cpu(DispatchKey::CPU);
  const std::string refusal =
      "a kernel of strided tensors was called with a tensor of layout torch._mkldnn; call it with x.to_dense()";
  EXPECT_EQ(errorOf([&] {
              redispatch::max_pool2d_with_indices(cpu, to_mkldnn(variedNumbers({1, 2, 4, 4})), {2});
            }),
            refusal);
  EXPECT_EQ(errorOf([&] { redispatch::cat(cpu, std::vector<Tensor>{x, x}, 0); }), refusal);
  EXPECT_EQ(errorOf([&] { redispatch::zero_(cpu, x); }), refusal);
  EXPECT_EQ(errorOf([&] { redispatch::relu(cpu, x); }), refusal);
  EXPECT_EQ(errorOf([&] { redispatch::add(cpu, x, zeros({2, 3})); }), refusal);
  EXPECT_EQ(errorOf([&] { redispatch::relu_(cpu, x); }), refusal);
}

TEST_F(Mkldnn, ExplainsStridedArguments) {
  const Tensor x = floats({1, 2}, {1, 2});
  EXPECT_EQ(errorOf([&] { mkldnn_linear(x, x); }),
            "aten::mkldnn_linear: argument 'self' must be of layout torch._mkldnn, but it is strided; pass "
            "self.to_mkldnn()");
  EXPECT_EQ(errorOf([&] { add(to_mkldnn(x), x); }),
            "add: argument 'other' must be of layout torch._mkldnn like the others, but it is strided; pass "
            "other.to_mkldnn(), or call add with strided tensors only");
  EXPECT_EQ(errorOf([&] {
              mul(to_mkldnn(x), to_mkldnn(floats({1, 2, 3}, {1, 3})));
            }),
            "mul: tensors of layout torch._mkldnn do not broadcast, but the sizes are [1, 2] and [1, 3]; call it with "
            "x.to_dense()");
  EXPECT_EQ(errorOf([&] { add(to_mkldnn(x), to_mkldnn(x, ScalarType::BFloat16)); }),
            "add: tensors of layout torch._mkldnn must have one dtype, but they have float32 and bfloat16; convert one "
            "by x.to_mkldnn(dtype)");
}

TEST_F(Mkldnn, PrintsItsElementsAndItsLayout) {
  EXPECT_EQ(toString(to_mkldnn(floats({1, 2.5}))), "tensor([1.0000, 2.5000], layout=torch._mkldnn)");
  const Tensor x = to_mkldnn(floats({1}), ScalarType::BFloat16);
  x.set_requires_grad(true);
  EXPECT_EQ(toString(x), "tensor([1.], dtype=torch.bfloat16, layout=torch._mkldnn, requires_grad=True)");
}

TEST_F(Mkldnn, ConvolutionsAreThoseOfStridedTensors) {
  struct Case {
    std::vector<int64_t> input, weight;
    int64_t stride, padding, dilation, groups;
  };
  for (const Case& c :
       {Case{{2, 3, 9, 8}, {16, 3, 3, 3}, 1, 1, 1, 1}, Case{{1, 16, 14, 14}, {32, 16, 1, 1}, 2, 0, 1, 1},
        Case{{2, 16, 7, 9}, {32, 4, 3, 2}, 2, 1, 2, 4}, Case{{1, 16, 8, 8}, {16, 1, 3, 3}, 1, 1, 1, 16}}) {
    const Tensor x = variedNumbers(c.input);
    const Tensor w = variedNumbers(c.weight, 2);
    const Tensor b = variedNumbers({c.weight[0]}, 3);
    const auto run = [&](const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
      return conv2d(input, weight, bias, {c.stride}, IntArrayRef{c.padding}, {c.dilation}, c.groups);
    };
    expectMkldnn(run(to_mkldnn(x), w, b), run(x, w, b), 1e-4);
    expectMkldnn(run(to_mkldnn(x), w, std::nullopt), run(x, w, std::nullopt), 1e-4);
    const Tensor packed = mkldnn_reorder_conv2d_weight(to_mkldnn(w), {c.padding}, {c.stride}, {c.dilation}, c.groups,
                                                       IntArrayRef(c.input));
    EXPECT_EQ(sizesOf(packed), c.weight);
    EXPECT_TRUE(equal(to_dense(packed), w));
    expectMkldnn(run(to_mkldnn(x), packed, b), run(x, w, b), 1e-4);
    expectMkldnn(run(to_mkldnn(x), to_mkldnn(w), to_mkldnn(b)), run(x, w, b), 1e-4);
    const Tensor strided = run(x, packed, b);
    EXPECT_EQ(strided.layout(), Layout::Strided);
    EXPECT_TRUE(allclose(strided, run(x, w, b), 1e-4, 1e-4));
  }
}

TEST_F(Mkldnn, PackedKernelsOfGroupsAreAnOrdinaryTensor) {
  const Tensor w = variedNumbers({32, 4, 3, 3});
  const Tensor packed = mkldnn_reorder_conv2d_weight(to_mkldnn(w), {1}, {1}, {1}, 4);
  EXPECT_TRUE(equal(to_dense(relu(packed)), relu(w)));
  EXPECT_TRUE(equal(to_dense(transpose(packed, 0, 1)), transpose(w, 0, 1)));
  EXPECT_TRUE(equal(to_dense(reshape(packed, {16, 72})), reshape(w, {16, 72})));
  EXPECT_TRUE(equal(to_dense(add(to_mkldnn(w), packed)), add(w, w)));
  EXPECT_TRUE(equal(to_dense(cat(std::vector<Tensor>{packed, to_mkldnn(w)}, 1)), cat(std::vector<Tensor>{w, w}, 1)));
}

TEST_F(Mkldnn, ConvolutionsOfSignalsAndVolumesAreThoseOfStridedTensors) {
  const Tensor w = variedNumbers({8, 4, 3}, 2);
  expectSame([&](const Tensor& x) { return conv1d(x, w, std::nullopt, {2}, IntArrayRef{1}); }, variedNumbers({2, 4, 9}),
             1e-4);
  const Tensor volumes = variedNumbers({8, 4, 3, 3, 3}, 2);
  expectSame([&](const Tensor& x) { return conv3d(x, volumes); }, variedNumbers({1, 4, 5, 6, 5}), 1e-4);
}

TEST_F(Mkldnn, LinearLayersAreThoseOfStridedTensors) {
  const Tensor w = variedNumbers({7, 5}, 2);
  const Tensor b = variedNumbers({7}, 3);
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{{5}, {4, 5}, {2, 3, 5}}) {
    const Tensor x = variedNumbers(sizes);
    expectMkldnn(linear(to_mkldnn(x), w, b), linear(x, w, b));
    expectMkldnn(linear(to_mkldnn(x), to_mkldnn(w)), linear(x, w));
    expectMkldnn(mkldnn_linear(to_mkldnn(x), to_mkldnn(w), to_mkldnn(b)), linear(x, w, b));
  }
}

TEST_F(Mkldnn, FunctionsOfElementsAreThoseOfStridedTensors) {
  const Tensor x = variedNumbers({2, 16, 6, 5});
  expectSame([](const Tensor& a) { return relu(a); }, x);
  expectSame([](const Tensor& a) { return sigmoid(a); }, x);
  expectSame([](const Tensor& a) { return tanh(a); }, x);
  expectSame([](const Tensor& a) { return gelu(a); }, x);
  expectSame([](const Tensor& a) { return gelu(a, "tanh"); }, x);
  expectSame([](const Tensor& a) { return add(a, relu(a), 0.5); }, x);
  expectSame([](const Tensor& a) { return mul(a, sigmoid(a)); }, x);
  expectSame([](const Tensor& a) { return mul(add(a, 2), 3); }, x);
  expectSame([](const Tensor& a) { return mul(a, floats({3}, {})); }, x);
}

TEST_F(Mkldnn, OperandsOfTwoLayoutsOfOneDnnAreTaken) {
  const Tensor x = variedNumbers({1, 16, 6, 6});
  const Tensor blocked = conv2d(to_mkldnn(x), variedNumbers({16, 16, 3, 3}, 2), std::nullopt, {1}, IntArrayRef{1});
  const Tensor dense = to_dense(blocked);
  expectMkldnn(add(blocked, to_mkldnn(x), 2), add(dense, x, 2), 1e-4);
  expectMkldnn(add(to_mkldnn(x), blocked), add(x, dense), 1e-4);
  expectMkldnn(mul(to_mkldnn(x), blocked), mul(x, dense), 1e-4);
  expectMkldnn(cat(std::vector<Tensor>{to_mkldnn(x), blocked}, 1), cat(std::vector<Tensor>{x, dense}, 1), 1e-4);
}

TEST_F(Mkldnn, InPlaceFormsWriteAndAreCounted) {
  const Tensor start = variedNumbers({3, 4});
  Tensor x = to_mkldnn(start);
  const Tensor shared = detach(x);
  const uint32_t version = x.version();
  EXPECT_TRUE(relu_(x).is_same(x));
  EXPECT_EQ(x.version(), version + 1);
  EXPECT_EQ(shared.version(), version + 1);
  EXPECT_TRUE(equal(to_dense(shared), relu(start)));
  add_(x, to_mkldnn(start), 2);
  EXPECT_TRUE(allclose(to_dense(shared), add(relu(start), start, 2)));
  mul_(x, to_mkldnn(start));
  mul_(x, 2);
  add_(x, 1);
  EXPECT_TRUE(allclose(to_dense(shared), add(mul(mul(add(relu(start), start, 2), start), 2), 1)));
  tanh_(sigmoid_(x));
  zero_(x);
  EXPECT_TRUE(equal(to_dense(shared), zeros({3, 4})));
  copy_(x, start);
  EXPECT_TRUE(equal(to_dense(shared), start));
  Tensor strided = empty({3, 4});
  copy_(strided, x);
  EXPECT_TRUE(equal(strided, start));
  EXPECT_EQ(errorOf([&] { copy_(x, zeros({4})); }),
            "copy_: tensors of layout torch._mkldnn do not broadcast, but the sizes are [3, 4] and [4]");
}

TEST_F(Mkldnn, PoolsAreThoseOfStridedTensors) {
  const Tensor x = variedNumbers({2, 16, 11, 9});
  for (const bool ceil_mode : {false, true}) {
    expectSame([=](const Tensor& a) { return max_pool2d(a, {3}, {2}, {1}, {1}, ceil_mode); }, x);
    expectSame([=](const Tensor& a) { return max_pool2d(a, {2, 3}, {}, {0, 1}, {2, 1}, ceil_mode); }, x);
    expectSame([=](const Tensor& a) { return avg_pool2d(a, {3}, {2}, {1}, ceil_mode, false); }, x);
    expectSame([=](const Tensor& a) { return avg_pool2d(a, {2}, {2}, {0}, false, true); }, x);
  }
  expectSame([](const Tensor& a) { return avg_pool2d(a, {3}, {2}, {1}); }, x);
  expectSame([](const Tensor& a) { return adaptive_avg_pool2d(a, {1, 1}); }, x);
  expectSame([](const Tensor& a) { return adaptive_avg_pool2d(a, {11, 3}); }, x);
}

TEST_F(Mkldnn, PoolsRefuseWhatOneDnnComputesOtherwise) {
  const Tensor x = to_mkldnn(variedNumbers({1, 2, 8, 8}));
  EXPECT_EQ(
      errorOf([&] { avg_pool2d(x, {3}, {2}, {0}, true, true); }),
      "avg_pool2d: with ceil_mode and count_include_pad, the last window reaches beyond the padding, which oneDNN "
      "would count for tensors of layout torch._mkldnn; call it with x.to_dense()");
  EXPECT_EQ(errorOf([&] { avg_pool2d(x, {2}, {2}, {0}, false, true, 3); }),
            "avg_pool2d: a tensor of layout torch._mkldnn takes no divisor_override; call it with x.to_dense()");
  EXPECT_EQ(
      errorOf([&] {
        adaptive_avg_pool2d(x, {3, 2});
      }),
      "adaptive_avg_pool2d: the sizes of images of layout torch._mkldnn must be multiples of output_size, but 8 is "
      "not one of 3; call it with x.to_dense()");
  EXPECT_EQ(errorOf([&] {
              max_pool2d(reshape(x, {2, 8, 8}), {2});
            }),
            "max_pool2d: a tensor of layout torch._mkldnn must have 4 dimensions, the batch among them, but it has 3; "
            "reshape it");
  EXPECT_EQ(errorOf([&] {
              conv_transpose2d(x, variedNumbers({2, 2, 3, 3}));
            }),
            "convolution: a transposed one takes strided tensors, not tensors of layout torch._mkldnn; call it with "
            "x.to_dense()");
}

TEST_F(Mkldnn, NormalisationIsThatOfStridedTensors) {
  const Tensor x = variedNumbers({2, 16, 5, 6});
  for (const int64_t dim : {0, 1, 2, -1}) expectSame([=](const Tensor& a) { return softmax(a, dim); }, x);
  expectSame([](const Tensor& a) { return softmax(a, 1); }, variedNumbers({4, 7}));
  const Tensor mean = variedNumbers({16}, 3);
  const Tensor variance = abs(variedNumbers({16}, 4));
  const Tensor weight = variedNumbers({16}, 5);
  const Tensor bias = variedNumbers({16}, 6);
  expectSame([&](const Tensor& a) { return batch_norm(a, weight, bias, mean, variance, false, 0.1, 1e-3, false); }, x,
             1e-4);
  expectSame(
      [&](const Tensor& a) {
        return batch_norm(a, std::nullopt, std::nullopt, mean, variance, false, 0.1, 1e-3, false);
      },
      x, 1e-4);
  EXPECT_EQ(errorOf([&] { batch_norm(to_mkldnn(x), weight, bias, mean, variance, true, 0.1, 1e-3, false); }),
            "batch_norm: a tensor of layout torch._mkldnn is normalised with training=False only; train with "
            "x.to_dense()");
}

TEST_F(Mkldnn, ShapesAreThoseOfStridedTensors) {
  const Tensor x = variedNumbers({2, 16, 3, 5});
  expectSame([](const Tensor& a) { return reshape(a, {4, -1}); }, x);
  expectSame([](const Tensor& a) { return flatten(a, 1); }, x);
  expectSame([](const Tensor& a) { return transpose(a, 1, 3); }, x);
  expectSame([](const Tensor& a) { return cat(std::vector<Tensor>{a, relu(a)}, -1); }, x);
  EXPECT_EQ(errorOf([&] {
              reshape(to_mkldnn(x), {1, 1, 1, 1, 1, -1});
            }),
            "reshape: a tensor of layout torch._mkldnn has 1 to 5 dimensions, not 6; reshape it first");
}

TEST_F(Mkldnn, FactoriesMakeIt) {
  EXPECT_TRUE(empty({2, 3}, std::nullopt, Layout::Mkldnn).is_mkldnn());
  const Tensor x = to_mkldnn(variedNumbers({2, 3}));
  EXPECT_TRUE(empty_like(x).is_mkldnn());
  EXPECT_EQ(empty_like(x, std::nullopt, Layout::Strided).layout(), Layout::Strided);
  expectMkldnn(zeros_like(x), zeros({2, 3}));
  EXPECT_EQ(errorOf([] { empty({2}, ScalarType::Long, Layout::Mkldnn); }),
            "empty: a tensor of layout torch._mkldnn holds float32, bfloat16, int8 or uint8, not int64; convert it "
            "first, for example with x.float()");
}

TEST_F(Mkldnn, ConvertsByTo) {
  const Tensor x = variedNumbers({2, 3});
  const Tensor packed = to_mkldnn(x);
  EXPECT_TRUE(to(packed, ScalarType::Float).is_same(packed));
  expectMkldnn(to(packed, ScalarType::BFloat16), to(x, ScalarType::BFloat16));
  const Tensor strided = to(packed, std::nullopt, Layout::Strided);
  EXPECT_EQ(strided.layout(), Layout::Strided);
  EXPECT_TRUE(equal(strided, x));
  EXPECT_EQ(errorOf([&] { to(packed, ScalarType::Double); }),
            "a tensor of layout torch._mkldnn holds float32, bfloat16, int8 or uint8, not float64; x.to_dense(float64) "
            "returns "
            "a strided tensor");
}

TEST_F(Mkldnn, IsNotLentOrSaved) {
  const Tensor x = to_mkldnn(floats({1}));
  EXPECT_EQ(errorOf([&] { static_cast<void>(toDLPack(x)); }),
            "cannot lend the tensor by DLPack: its layout, torch._mkldnn, has no strides; lend x.to_dense()");
  const std::string path = ::testing::TempDir() + "boxcar_mkldnn_test";
  const std::string refusal = "cannot write '" + path +
                              "': a tensor of layout torch._mkldnn has its elements in an order of a library's; save "
                              "x.to_dense()";
  Dict<std::string, Tensor> tensors;
  tensors.insert("x", x);
  EXPECT_EQ(errorOf([&] { io::save(tensors, path); }), refusal);
  EXPECT_EQ(errorOf([&] { io::save_npy(x, path); }), refusal);
  EXPECT_EQ(errorOf([&] { io::save_npz(tensors, path); }), refusal);
}

TEST_F(Mkldnn, CopiesOfValuesHaveElementsOfTheirOwn) {
  const Tensor start = variedNumbers({2, 3});
  Tensor x = to_mkldnn(start);
  const Tensor copy = ValueCopier(ValueCopier::Target::kSameDevice).copy(x);
  zero_(x);
  expectMkldnn(copy, start);
  EXPECT_EQ(shapeText(ValueCopier(ValueCopier::Target::kMeta).copy(x)), "float32[2, 3]");
}

TEST_F(Mkldnn, RecordingsAndTracesSayWhatTheyCannotHold) {
  const TemporaryFolder folder;
  const Tensor x = to_mkldnn(floats({1, 2}));
  {
    Recorder recorder(folder / "calls.rec");
    const HandlerGuard on(recorder);
    EXPECT_EQ(errorOf([&] { relu(x); }),
              "a recording cannot keep a tensor of layout torch._mkldnn; record the calls before to_mkldnn() and after "
              "to_dense()");
  }
  Tracer tracer(folder / "trace.ops");
  const HandlerGuard on(tracer);
  EXPECT_EQ(
      errorOf([&] { relu(x); }),
      "a trace cannot show a tensor of layout torch._mkldnn that was made before it began; call to_mkldnn() while "
      "the trace runs");
}

// Every kernel at the key but those for inference, with a gradient that goes through layouts of oneDNN's.
TEST_F(Mkldnn, GradientsAreThoseOfStridedTensors) {
  const Tensor x = variedNumbers({2, 16, 6, 6});
  const Tensor w = variedNumbers({16, 16, 3, 3}, 2);
  const Tensor b = variedNumbers({16}, 3);
  const Tensor v = variedNumbers({4, 16}, 4);
  const auto gradients = [&](bool by_mkldnn) {
    std::vector<Tensor> leaves;
    for (const Tensor& start : {x, w, b, v}) leaves.push_back(clone(start).set_requires_grad(true));
    Tensor y = by_mkldnn ? to_mkldnn(leaves[0]) : leaves[0];
    y = relu(conv2d(y, leaves[1], leaves[2], {1}, IntArrayRef{1}));
    y = add(y, sigmoid(y));
    y = mul(max_pool2d(y, {2}), 0.5);
    y = tanh(avg_pool2d(y, {3}));
    y = softmax(linear(flatten(y, 1), leaves[3]), 1);
    y = by_mkldnn ? to_dense(y) : y;
    const std::vector<Tensor> roots{sum(mul(y, variedNumbers({2, 4}, 5)))};
    return autograd::grad(roots, leaves);
  };
  const std::vector<Tensor> strided = gradients(false);
  const std::vector<Tensor> packed = gradients(true);
  for (size_t i = 0; i < strided.size(); ++i) {
    EXPECT_EQ(packed[i].layout(), Layout::Strided);
    EXPECT_TRUE(allclose(packed[i], strided[i], 1e-3, 1e-4)) << i;
  }
}

TEST_F(Mkldnn, ThreadsDoNotChangeResults) {
  const Tensor x = variedNumbers({4, 32, 28, 28});
  const Tensor w = variedNumbers({32, 32, 3, 3}, 2);
  const auto run = [&](int threads) {
    cpu::setThreadCount(threads);
    const Tensor y = max_pool2d(relu(conv2d(to_mkldnn(x), w, std::nullopt, {1}, IntArrayRef{1})), {2});
    return to_dense(add(y, y));
  };
  const int before = cpu::threadCount();
  const Tensor one = run(1);
  const Tensor two = run(2);
  cpu::setThreadCount(before);
  EXPECT_TRUE(allclose(one, two, 1e-4, 1e-4));
}

TEST(MkldnnWithoutOneDnn, IsAnErrorThatSaysSo) {
  if (hasOneDnn()) GTEST_SKIP() << "this build has oneDNN";
  EXPECT_EQ(
      errorOf([] { to_mkldnn(floats({1})); }),
      "aten::to_mkldnn: this boxcar was built without oneDNN, whose layouts tensors of layout torch._mkldnn have; "
      "install oneDNN and build with -DBOXCAR_ONEDNN=ON, or leave tensors strided");
}

}  // namespace
}  // namespace boxcar
