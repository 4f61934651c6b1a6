#include <boxcar/ivalue/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <vector>

namespace boxcar {
namespace {

// The expected texts are from PyTorch 1.13.

using Sizes = std::vector<int64_t>;
using Complex = std::complex<double>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T, class U>
Tensor tensorOf(const std::vector<U>& values, const Sizes& sizes) {
  const Tensor tensor = Tensor::allocate(sizes, scalarTypeOf<T>);
  for (size_t i = 0; i < values.size(); ++i) tensor.data_ptr<T>()[i] = static_cast<T>(values[i]);
  return tensor;
}

template <class T = float>
std::string textOf(std::initializer_list<double> values) {
  return toString(tensorOf<T>(std::vector<double>(values), {static_cast<int64_t>(values.size())}));
}

template <class T>
Tensor arange(const Sizes& sizes) {
  std::vector<double> values(static_cast<size_t>(numelOf(sizes)));
  std::iota(values.begin(), values.end(), 0.0);
  return tensorOf<T>(values, sizes);
}

TEST(TensorText, FloatsHaveFourDigits) {
  EXPECT_EQ(textOf({1.5, -2.25, 1000}), "tensor([   1.5000,   -2.2500, 1000.0000])");
  EXPECT_EQ(textOf({3.14159}), "tensor([3.1416])");
}

TEST(TensorText, WholeFloatsEndInAPoint) {
  EXPECT_EQ(textOf({1, 2}), "tensor([1., 2.])");
  EXPECT_EQ(textOf({0, -0.0}), "tensor([0., -0.])");
  EXPECT_EQ(textOf({1e8}), "tensor([100000000.])");
}

TEST(TensorText, ScientificWhereMagnitudesAreFarApartOrExtreme) {
  EXPECT_EQ(textOf({1.5, 2000}), "tensor([1.5000e+00, 2.0000e+03])");
  EXPECT_EQ(textOf({1e-5, 2e-5}), "tensor([1.0000e-05, 2.0000e-05])");
  EXPECT_EQ(textOf({2e8}), "tensor([2.0000e+08])");
  EXPECT_EQ(textOf({1e9, 1}), "tensor([1.0000e+09, 1.0000e+00])");
}

TEST(TensorText, NumbersThatAreNotFiniteAndZerosDoNotDecide) {
  EXPECT_EQ(textOf({kNan, kInf, -kInf}), "tensor([nan, inf, -inf])");
  EXPECT_EQ(textOf({-kNan}), "tensor([nan])");
  EXPECT_EQ(textOf({1, kNan, -kInf}), "tensor([1., nan, -inf])");
  EXPECT_EQ(textOf({1.5, kNan, -kInf, 0}), "tensor([1.5000,    nan,   -inf, 0.0000])");
  EXPECT_EQ(textOf({1e-9, kInf, 0}), "tensor([1.0000e-09,        inf, 0.0000e+00])");
}

TEST(TensorText, ZeroDimensionalHasNoBrackets) {
  EXPECT_EQ(toString(tensorOf<float>(std::vector{3.0}, {})), "tensor(3.)");
  EXPECT_EQ(toString(tensorOf<float>(std::vector{3.14159}, {})), "tensor(3.1416)");
  EXPECT_EQ(toString(tensorOf<int64_t>(std::vector{7}, {})), "tensor(7)");
  EXPECT_EQ(toString(tensorOf<bool>(std::vector{1}, {})), "tensor(True)");
  EXPECT_EQ(toString(tensorOf<std::complex<float>>(std::vector{Complex(1, 2)}, {})), "tensor(1.+2.j)");
}

TEST(TensorText, IntegersAndTruthValuesArePadded) {
  EXPECT_EQ(textOf<int64_t>({1, -20, 300}), "tensor([  1, -20, 300])");
  EXPECT_EQ(textOf<bool>({1, 0}), "tensor([ True, False])");
}

TEST(TensorText, DtypesThatElementsDoNotShowAreNamed) {
  EXPECT_EQ(textOf<int32_t>({1, 2}), "tensor([1, 2], dtype=torch.int32)");
  EXPECT_EQ(textOf<uint8_t>({1, 2}), "tensor([1, 2], dtype=torch.uint8)");
  EXPECT_EQ(textOf<int8_t>({-1}), "tensor([-1], dtype=torch.int8)");
  EXPECT_EQ(textOf<int16_t>({1}), "tensor([1], dtype=torch.int16)");
  EXPECT_EQ(textOf<double>({1.5}), "tensor([1.5000], dtype=torch.float64)");
  EXPECT_EQ(textOf<Half>({1.1}), "tensor([1.0996], dtype=torch.float16)");
  EXPECT_EQ(textOf<BFloat16>({1.1}), "tensor([1.1016], dtype=torch.bfloat16)");
}

TEST(TensorText, ComplexPartsHaveTheirOwnForms) {
  EXPECT_EQ(toString(tensorOf<std::complex<float>>(std::vector{Complex(1, 2), Complex(-0.5, -10)}, {2})),
            "tensor([ 1.0000+2.j, -0.5000-10.j])");
  EXPECT_EQ(toString(tensorOf<Complex>(std::vector{Complex(1, 2), Complex(-0.0, -3)}, {2})),
            "tensor([1.+2.j, -0.-3.j], dtype=torch.complex128)");
  EXPECT_EQ(toString(tensorOf<std::complex<float>>(std::vector{Complex(kNan, -kInf)}, {1})), "tensor([nan-infj])");
}

TEST(TensorText, EmptyTensorsTellSizeAndDtype) {
  EXPECT_EQ(textOf({}), "tensor([])");
  EXPECT_EQ(toString(arange<float>({0, 3})), "tensor([], size=(0, 3))");
  EXPECT_EQ(textOf<int64_t>({}), "tensor([], dtype=torch.int64)");
  EXPECT_EQ(toString(arange<bool>({2, 0})), "tensor([], size=(2, 0), dtype=torch.bool)");
}

TEST(TensorText, RowsAndBlocksNest) {
  EXPECT_EQ(toString(arange<float>({3, 4})),
            "tensor([[ 0.,  1.,  2.,  3.],\n"
            "        [ 4.,  5.,  6.,  7.],\n"
            "        [ 8.,  9., 10., 11.]])");
  EXPECT_EQ(toString(arange<int64_t>({2, 2, 2})),
            "tensor([[[0, 1],\n"
            "         [2, 3]],\n"
            "\n"
            "        [[4, 5],\n"
            "         [6, 7]]])");
  EXPECT_EQ(toString(arange<int64_t>({1, 2, 1, 2})),
            "tensor([[[[0, 1]],\n"
            "\n"
            "         [[2, 3]]]])");
}

TEST(TensorText, ViewsAreReadByTheirStrides) {
  const Tensor matrix = arange<float>({3, 4});
  EXPECT_EQ(toString(matrix.view(Sizes{4, 3}, Sizes{1, 4}, 0)),
            "tensor([[ 0.,  4.,  8.],\n"
            "        [ 1.,  5.,  9.],\n"
            "        [ 2.,  6., 10.],\n"
            "        [ 3.,  7., 11.]])");
  EXPECT_EQ(toString(matrix.view(Sizes{4}, Sizes{3}, 1)), "tensor([ 1.,  4.,  7., 10.])");
  EXPECT_EQ(toString(matrix.view(Sizes{3}, Sizes{0}, 2)), "tensor([2., 2., 2.])");
}

TEST(TensorText, LongRowsWrapAtEightyColumns) {
  EXPECT_EQ(toString(arange<int64_t>({30})),
            "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
            "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])");
}

TEST(TensorText, ASuffixThatDoesNotFitGoesToTheNextLine) {
  EXPECT_EQ(toString(tensorOf<double>(std::vector<double>(9, 0.123), {1, 9})),
            "tensor([[0.1230, 0.1230, 0.1230, 0.1230, 0.1230, 0.1230, 0.1230, 0.1230, 0.1230]],\n"
            "       dtype=torch.float64)");
}

TEST(TensorText, MoreThanAThousandElementsAreSummarised) {
  EXPECT_EQ(toString(arange<int64_t>({1001})), "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
  EXPECT_EQ(toString(arange<int64_t>({100, 100})),
            "tensor([[   0,    1,    2,  ...,   97,   98,   99],\n"
            "        [ 100,  101,  102,  ...,  197,  198,  199],\n"
            "        [ 200,  201,  202,  ...,  297,  298,  299],\n"
            "        ...,\n"
            "        [9700, 9701, 9702,  ..., 9797, 9798, 9799],\n"
            "        [9800, 9801, 9802,  ..., 9897, 9898, 9899],\n"
            "        [9900, 9901, 9902,  ..., 9997, 9998, 9999]])");
  // The "..." takes the place of one element in the line.
  EXPECT_EQ(toString(arange<float>({1, 1100})),
            "tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.0970e+03, 1.0980e+03,\n"
            "         1.0990e+03]])");
}

TEST(TensorText, RequiresGradIsSaid) {
  EXPECT_EQ(toString(tensorOf<float>(std::vector{1, 1}, {2}).set_requires_grad(true)),
            "tensor([1., 1.], requires_grad=True)");
}

TEST(TensorText, TensorsElsewhereShowDeviceAndSize) {
  const Device meta(DeviceType::Meta);
  EXPECT_EQ(toString(Tensor::allocate(Sizes{2, 3}, ScalarType::Float, meta)),
            "tensor(..., device='meta', size=(2, 3))");
  EXPECT_EQ(toString(Tensor::allocate(Sizes{4}, ScalarType::Long, meta)),
            "tensor(..., device='meta', size=(4,), dtype=torch.int64)");
  EXPECT_EQ(toString(Tensor::allocate(Sizes{}, ScalarType::Float, meta).set_requires_grad(true)),
            "tensor(..., device='meta', size=(), requires_grad=True)");
  int byte = 0;
  Storage storage = StorageImpl::wrap(&byte, 4, Device(DeviceType::CUDA, 1), nullptr, nullptr);
  const Tensor on_cuda(makeIntrusive<TensorImpl>(storage, ScalarType::Float, Sizes{1}, Sizes{1}, 0));
  EXPECT_EQ(toString(on_cuda), "tensor(..., device='cuda:1', size=(1,))");
}

TEST(TensorText, UndefinedTensor) { EXPECT_EQ(toString(Tensor()), "[ Tensor (undefined) ]"); }

}  // namespace
}  // namespace boxcar
